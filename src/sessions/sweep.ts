/**
 * Compares what the Engine has with what we know: after a crash of ours, after an outage of the Engine, and every now and then.
 * Only containers and networks that carry our own label are ever touched.
 */

import type { Log } from '../base/log.ts';
import { after } from '../base/pure/ids.ts';
import type { Runtime } from '../base/runtime.ts';
import type { ContainerSummary, EngineClient } from '../docker/ports.ts';
import { LABELS } from '../docker/rules/labels.ts';
import { type Instant, isOver } from './rules/lease.ts';
import { judge, type KnownSession, type SessionTags, tagsOf } from './rules/sweep.ts';
import type { LiveSession } from './table.ts';

export interface SweepParts {
  readonly engine: EngineClient;
  readonly owner: string;
  readonly log: Log;
  instant(): Instant;
  liveSessions(): readonly LiveSession[];
  known(id: string): KnownSession | null;
  /** It was being made or ended by an earlier process, or could not be ended when it was tried. */
  finish(live: LiveSession): Promise<void>;
  /** Its lease is over, which its alarm did not know: the wall clock of a new boot was put right after it had been set. */
  expired(live: LiveSession): Promise<void>;
  /** Its container is not there any more. */
  vanished(live: LiveSession): Promise<void>;
  adopt(containerId: string, tags: SessionTags): Promise<void>;
  /** There is no container of a session. */
  empty(): Promise<void>;
}

/** False: the Engine could not be asked. */
export async function sweep(parts: SweepParts, signal: AbortSignal): Promise<boolean> {
  const { engine, owner } = parts;
  const before = parts.liveSessions().filter((live) => !live.isBusy);
  const listing = await engine.list([`${LABELS.owner}=${owner}`, LABELS.session], signal);
  if (listing.kind === 'unreachable') return false;
  const listed = new Set(listing.items.map(({ id }) => id));
  await Promise.all(before.map((live) => look(live, listed, parts, signal)));
  for (const item of listing.items) await sentence(item, parts, signal);
  if (listing.items.length === 0) await parts.empty();
  return true;
}

async function look(
  live: LiveSession,
  listed: ReadonlySet<string>,
  parts: SweepParts,
  signal: AbortSignal,
): Promise<void> {
  if (live.isBusy) return;
  const { state, containerId, lease } = live.record;
  if (state === 'spawning' || state === 'ending') return parts.finish(live);
  if (state === 'live' && isOver(lease, parts.instant())) return parts.expired(live);
  if (state !== 'live' || containerId === null || listed.has(containerId)) return;
  const { kind } = await parts.engine.inspect(containerId, signal); // a list may be older than what it is compared with
  if (kind === 'missing') await parts.vanished(live);
}

async function sentence(item: ContainerSummary, parts: SweepParts, signal: AbortSignal): Promise<void> {
  const tags = tagsOf(item.labels);
  const known = tags && parts.known(tags.id);
  const verdict = judge({ container: item.id, status: item.status, tags }, known, parts.instant());
  if (verdict.kind === 'adopt') return parts.adopt(item.id, verdict.tags);
  if (verdict.kind !== 'remove') return;
  const removal = await parts.engine.remove(item.id, signal);
  if (removal.kind === 'missing') return;
  const about = { container: item.id, session: tags?.id, why: verdict.why };
  if (removal.kind === 'done') parts.log.info('the container of a session was cleared away', about);
  else parts.log.warn('the container of a session cannot be cleared away yet', { ...about, problem: removal.why });
}

// Goes round again and again: every half minute, at once when asked, and sooner while it does not work.

const EVERY_MS = 30_000;
const FIRST_RETRY_MS = 1_000;

export class SweepLoop {
  readonly #runtime: Pick<Runtime, 'clock' | 'log'>;
  readonly #round: (signal: AbortSignal) => Promise<boolean>;
  readonly #closed = new AbortController();
  readonly #going: Promise<void>;
  #hurried = false;
  #pause = new AbortController();
  /** Resolves after the first round, also when it did not work. */
  readonly first: Promise<void>;

  /** `round`: false when it could not be done now. */
  constructor(runtime: Pick<Runtime, 'clock' | 'log'>, round: (signal: AbortSignal) => Promise<boolean>) {
    this.#runtime = runtime;
    this.#round = round;
    let settle: () => void = () => {};
    this.first = new Promise((resolve) => {
      settle = resolve;
    });
    this.#going = this.#go(settle);
  }

  hurry(): void {
    this.#hurried = true;
    this.#pause.abort();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#going;
  }

  async #go(settle: () => void): Promise<void> {
    const { signal } = this.#closed;
    let retryMs = FIRST_RETRY_MS;
    await Promise.resolve(); // nothing happens while its maker is still being made
    while (!signal.aborted) {
      this.#hurried = false;
      const isDone = await this.#try(signal);
      settle();
      const pauseMs = isDone ? EVERY_MS : retryMs;
      retryMs = isDone ? FIRST_RETRY_MS : Math.min(2 * retryMs, EVERY_MS);
      await this.#rest(pauseMs);
    }
    settle();
  }

  async #try(signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#round(signal);
    } catch (error) {
      if (!signal.aborted)
        this.#runtime.log.error('a sweep of sessions failed; trying again', { error: String(error) });
      return false;
    }
  }

  async #rest(ms: number): Promise<void> {
    if (this.#hurried) return;
    this.#pause = new AbortController();
    const either = AbortSignal.any([this.#closed.signal, this.#pause.signal]);
    const { clock } = this.#runtime;
    await clock.sleepUntil(after(clock.now(), ms), either).catch(() => {});
  }
}
