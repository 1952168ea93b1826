/** Looks after one live session: its health, its port and its lease. What is to be done about it is decided by who is told. */

import type { Clock } from '../base/clock.ts';
import type { MonoMs } from '../base/pure/ids.ts';
import type { ContainerWatch } from '../docker/container-watch.ts';
import type { Failure, Healer, HealPolicy, HealStatus } from '../docker/healing/ports.ts';
import type { EngineClient } from '../docker/ports.ts';
import { portOf } from './make.ts';
import type { SessionRecord } from './spec.ts';

export interface SessionMonitorParts {
  readonly engine: EngineClient;
  readonly watch: ContainerWatch;
  readonly healer: Healer;
  readonly clock: Clock;
}

export interface SessionListener {
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

export interface SessionMonitor extends Disposable {
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

export function monitorSession(
  record: SessionRecord,
  containerId: string,
  parts: SessionMonitorParts,
  listener: SessionListener,
): SessionMonitor {
  const ended = new AbortController();
  const { signal } = ended;
  const healing = parts.healer.begin(containerId, policyOf(record), {
    changed: (status) => listener.changed(status),
    failed: (status, _why, failure) => listener.failed(status, failure),
    restarted: (status) => listener.restarted(status),
    gaveUp: (status) => listener.gaveUp(status),
    gone: () => listener.gone(),
  });
  const watching = watchContainer(containerId, record.terms.isPublished, parts, listener, signal);
  let alarm = new AbortController();
  const arm = (deadline: MonoMs) => {
    alarm.abort();
    alarm = new AbortController();
    parts.clock.sleepUntil(deadline, AbortSignal.any([signal, alarm.signal])).then(
      () => listener.expired(),
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
  parts: SessionMonitorParts,
  listener: SessionListener,
  signal: AbortSignal,
): Disposable {
  let isLooking = false;
  const look = async () => {
    isLooking = true;
    try {
      const found = await portOf(containerId, true, parts, { isCalledOff: () => signal.aborted }, signal);
      if (found.kind === 'made' && found.port !== null) listener.moved(found.port);
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
      if (published) listener.moved(published.hostPort);
      else if (!isLooking) void look();
    },
    blind: (why) => {
      if (why === null) listener.engineIsBack();
    },
  });
}
