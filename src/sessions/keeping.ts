/** Looks after one live session: its health, its port and its lease. What is to be done about it is decided by who is told. */

import type { Clock } from '../base/clock.ts';
import type { MonoMs } from '../base/pure/ids.ts';
import type { ContainerWatch } from '../docker/container-watch.ts';
import type { Failure, Healer, HealPolicy, HealStatus } from '../docker/healing/ports.ts';
import type { EngineClient } from '../docker/ports.ts';
import { portOf } from './make.ts';
import type { SessionRecord } from './spec.ts';

export interface KeepingParts {
  readonly engine: EngineClient;
  readonly watch: ContainerWatch;
  readonly healer: Healer;
  readonly clock: Clock;
}

export interface Keeper {
  changed(status: HealStatus): void;
  failed(status: HealStatus, failure: Failure): void;
  restarted(status: HealStatus): void;
  gaveUp(status: HealStatus): void;
  gone(): void;
  /** It is published there now. */
  moved(port: number): void;
  expired(): void;
  /** The Engine could not be asked for a while, and can again. */
  engineIsBack(): void;
}

export interface Keeping extends Disposable {
  /** The lease is another one now. */
  until(deadline: MonoMs): void;
}

/** A container that ends sooner has not served anybody, whatever its exit code. */
const MIN_UPTIME_MS = 10_000;
/** Before it is killed when it is restarted. */
const GRACE_MS = 10_000;

const policyOf = ({ terms }: SessionRecord): HealPolicy => ({
  // What gives up is removed, so there is nothing to try again later.
  restart: {
    policy: 'always',
    backoff: terms.restart.backoff,
    limit: { ...terms.restart.limit, retryMs: null },
    neverOn: [],
  },
  minUptimeMs: MIN_UPTIME_MS,
  graceMs: GRACE_MS,
});

export function keep(record: SessionRecord, containerId: string, parts: KeepingParts, keeper: Keeper): Keeping {
  const ended = new AbortController();
  const { signal } = ended;
  const healing = parts.healer.begin(containerId, policyOf(record), {
    changed: (status) => keeper.changed(status),
    failed: (status, _why, failure) => keeper.failed(status, failure),
    restarted: (status) => keeper.restarted(status),
    gaveUp: (status) => keeper.gaveUp(status),
    gone: () => keeper.gone(),
  });
  const watching = watchContainer(containerId, record.terms.isPublished, parts, keeper, signal);
  let alarm = new AbortController();
  const arm = (deadline: MonoMs) => {
    alarm.abort();
    alarm = new AbortController();
    parts.clock.sleepUntil(deadline, AbortSignal.any([signal, alarm.signal])).then(
      () => keeper.expired(),
      () => {}, // the lease was extended, or the session has ended otherwise
    );
  };
  arm(record.lease.until);
  return {
    until: arm,
    [Symbol.dispose]: () => {
      ended.abort();
      healing[Symbol.dispose]();
      watching[Symbol.dispose]();
    },
  };
}

/**
 * Each start gives it another port, which the Engine may tell a moment later. A restart policy that somebody gave it is taken from it
 * again: two who restart it would get in each other's way.
 */
function watchContainer(
  containerId: string,
  isPublished: boolean,
  parts: KeepingParts,
  keeper: Keeper,
  signal: AbortSignal,
): Disposable {
  let isLooking = false;
  const look = async () => {
    isLooking = true;
    try {
      const found = await portOf(containerId, true, parts, { isCalledOff: () => signal.aborted }, signal);
      if (found.kind === 'made' && found.port !== null) keeper.moved(found.port);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      isLooking = false;
    }
  };
  return parts.watch.watch(containerId, {
    seen: (observation) => {
      if (observation.kind !== 'found') return;
      if (observation.setup.restartPolicy.name !== 'no')
        parts.engine.setRestartPolicy(containerId, { name: 'no', maxRetries: 0 }, signal).catch(() => {}); // it has ended
      if (!isPublished || !observation.state.running) return;
      const published = observation.setup.ports[0];
      if (published) keeper.moved(published.hostPort);
      else if (!isLooking) void look();
    },
    blind: (why) => {
      if (why === null) keeper.engineIsBack();
    },
  });
}
