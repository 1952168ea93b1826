/**
 * Watching, for as long as somebody wants it. The stream of events says where to look; a list now and then, and whenever the
 * stream is opened or breaks, says what the stream did not; only what may have changed is inspected. A list that fails means that
 * the Engine cannot be asked, and then nothing is told of any container.
 */
import type { Clock } from '../../base/clock.ts';
import { after } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { ContainerObservation } from '../container-watch.ts';
import type { ContainerSummary, EngineClient, EngineEvent } from '../ports.ts';
import { doubtAfterMs } from '../rules/judge.ts';
import { LABELS } from '../rules/labels.ts';
import { type Entry, exitCodeIn, indexed, isAbout, rowOf } from './entry.ts';
import type { Outage } from './outage.ts';
import { backoffMs, createAlarm, createStream } from './stream.ts';

export interface WatchConnectionParts extends Pick<Runtime, 'clock' | 'log' | 'random'> {
  readonly engine: Pick<EngineClient, 'events' | 'inspect' | 'list'>;
  readonly reconcileMs: number;
  readonly entries: ReadonlySet<Entry>;
  readonly outage: Outage;
}

export interface WatchConnection {
  /** To be looked at as soon as that makes sense. */
  want(entry: Entry): void;
  forget(entry: Entry): void;
  close(): Promise<void>;
}

/** How long the stream is waited for before the first list, which is worth more once it is open. */
const FIRST_LIST_AFTER_MS = 5_000;

export function openWatchConnection(parts: WatchConnectionParts): WatchConnection {
  const { engine, clock, log, random, reconcileMs, entries, outage } = parts;
  const over = new AbortController();
  const alarm = createAlarm(clock);
  /** Lists and looks that failed, in a row. */
  let failures = 0;
  let hasFailedLook = false;
  let hasListed = false;
  const inspections = createInspections({
    engine,
    clock,
    signal: over.signal,
    // The list decides whether that is the Engine or this container alone.
    onFailed: (entry, why) => {
      hasFailedLook = true;
      tellBlind(entry, why);
      alarm.ring();
    },
    onSeen: (entry, observation, died) => {
      if (!entries.has(entry)) return;
      noteAnswer();
      tellBlind(entry, null);
      told(() => entry.listener.seen(observation, died));
    },
  });
  const stream = createStream({
    engine,
    clock,
    random,
    onUp: () => {
      outage.streamUp();
      for (const entry of entries) inspections.want(entry);
      alarm.ring();
    },
    onDown: (why) => {
      outage.streamDown(why);
      alarm.ring();
    },
    onEvent: hear,
  });

  function hear(event: EngineEvent): void {
    if (event.of === 'image') {
      alarm.ring(); // the list tells whose image it was
      return;
    }
    const died = exitCodeIn(event);
    for (const entry of entries) {
      if (!isAbout(event, entry)) continue;
      entry.isHeard = true;
      if (died !== null) entry.died = died;
      inspections.want(entry);
    }
  }

  function noteAnswer(): void {
    if (!outage.answered()) return;
    for (const entry of entries) inspections.want(entry);
    if (!stream.isUp) stream.reopen();
  }

  async function reconcile(isPeriodic: boolean): Promise<void> {
    const listing = await engine.list(filterFor(entries), over.signal);
    if (listing.kind === 'unreachable') {
      outage.failed(listing.why);
      for (const entry of entries) tellBlind(entry, listing.why);
      return;
    }
    hasListed = true;
    noteAnswer();
    const isMissed = compare(indexed(listing.items));
    // What nobody announced: a connection may be dead without either end knowing.
    if (isMissed && isPeriodic && stream.isUp) stream.reopen();
  }

  /** Says whether there was a change that no event had told of. */
  function compare(rows: ReadonlyMap<string, ContainerSummary>): boolean {
    let isMissed = false;
    const now = clock.now();
    for (const entry of entries) {
      const found = rows.get(entry.container) ?? (entry.id === null ? undefined : rows.get(entry.id));
      const row = found ? rowOf(found) : '';
      const isChanged = entry.row !== null && entry.row !== row;
      if (isChanged && !entry.isHeard) isMissed = true;
      entry.row = row;
      entry.isHeard = false;
      const isDue = !entry.isSeen || entry.blind !== null || now >= entry.lookAgainAt;
      if (isChanged || (isDue && !inspections.isPending(entry))) inspections.want(entry);
    }
    return isMissed;
  }

  function tellBlind(entry: Entry, why: string | null): void {
    if ((entry.blind === null) === (why === null)) return;
    entry.blind = why;
    told(() => entry.listener.blind?.(why));
  }

  function told(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      log.error('somebody who watches a container failed', { error: String(error) });
    }
  }

  async function keepReconciling(): Promise<void> {
    await alarm.wait(FIRST_LIST_AFTER_MS, over.signal);
    for (let isPeriodic = false; ; ) {
      await reconcile(isPeriodic);
      isPeriodic = await rest();
    }
  }

  /** Says whether nobody cut it short. */
  async function rest(): Promise<boolean> {
    const began = clock.now();
    if (outage.why === null) await alarm.wait(reconcileMs, over.signal);
    if (outage.why === null && !hasFailedLook) {
      failures = 0;
      return clock.now() - began >= reconcileMs;
    }
    failures++;
    hasFailedLook = false;
    await clock.sleepUntil(after(clock.now(), backoffMs(failures, random)), over.signal);
    return false;
  }

  const running = Promise.all([stream.run(over.signal), keepReconciling().catch(() => {})]);
  return {
    want: (entry) => {
      const { why } = outage;
      if (why !== null) queueMicrotask(() => entries.has(entry) && tellBlind(entry, why));
      else if (stream.isUp || hasListed) inspections.want(entry);
    },
    forget: inspections.forget,
    close: async () => {
      over.abort();
      await running;
    },
  };
}

/** As a rule all have the same owner; then the Engine need not list what is not ours. */
function filterFor(entries: ReadonlySet<Entry>): readonly string[] {
  const owners = new Set([...entries].map(({ owner }) => owner));
  const [owner] = owners;
  return owners.size === 1 && owner ? [`${LABELS.owner}=${owner}`] : [];
}

// Inspects containers that may have changed: each at most once at a time, a few at once, and never the same news twice.

const LOOKS_AT_ONCE = 8;
/** Events can be lost, and a list does not tell of a restart that both of its ends slept through. */
const LOOK_EVERY_MS = 300_000;

export interface InspectionsParts {
  readonly engine: Pick<EngineClient, 'inspect'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** A look has failed; it is not repeated by itself. */
  onFailed(entry: Entry, why: string): void;
  onSeen(entry: Entry, observation: ContainerObservation, died: number | null): void;
}

export interface Inspections {
  /** What changes while it is looked at is looked at once more afterwards. */
  want(entry: Entry): void;
  forget(entry: Entry): void;
  /** It is being looked at, or will be next. */
  isPending(entry: Entry): boolean;
}

export function createInspections({ engine, clock, signal, onFailed, onSeen }: InspectionsParts): Inspections {
  const wanted = new Set<Entry>();
  const busy = new Set<Entry>();

  function pump(): void {
    for (const entry of wanted) {
      if (busy.size >= LOOKS_AT_ONCE) return;
      if (busy.has(entry)) continue;
      wanted.delete(entry);
      busy.add(entry);
      look(entry)
        .catch(() => {}) // called off: nobody watches any more
        .finally(() => {
          busy.delete(entry);
          pump();
        });
    }
  }

  async function look(entry: Entry): Promise<void> {
    const { died } = entry;
    entry.died = null;
    const observation = await engine.inspect(entry.container, signal);
    if (observation.kind === 'unreachable') {
      entry.died ??= died;
      onFailed(entry, observation.why);
      return;
    }
    note(entry, observation);
    onSeen(entry, observation, died);
  }

  function note(entry: Entry, observation: ContainerObservation): void {
    const now = clock.now();
    entry.isSeen = true;
    entry.lookAgainAt = after(now, LOOK_EVERY_MS);
    entry.id = observation.kind === 'found' ? observation.state.id : null;
    entry.owner = observation.kind === 'found' ? (observation.setup.labels[LABELS.owner] ?? null) : null;
    if (observation.kind !== 'found') return;
    const doubtMs = doubtAfterMs(observation.state, observation.setup.healthCheck, clock.wallNow());
    if (doubtMs !== null && doubtMs < LOOK_EVERY_MS) entry.lookAgainAt = after(now, doubtMs);
  }

  return {
    want: (entry) => {
      wanted.add(entry);
      pump();
    },
    forget: (entry) => {
      wanted.delete(entry);
    },
    isPending: (entry) => wanted.has(entry) || busy.has(entry),
  };
}
