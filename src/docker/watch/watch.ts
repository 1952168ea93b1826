/**
 * The one watch of a process over all containers that somebody in it looks after; it costs nothing while nobody does. The stream of events says where to look; a list now and then, and whenever the
 * stream is opened or breaks, says what the stream did not; only what may have changed is inspected. A list that fails means that
 * the Engine cannot be asked, and then nothing is told of any container.
 */

import type { Clock } from '../../base/clock.ts';
import { after, type MonoMs } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import { isIdOf } from '../container.ts';
import type { ContainerListener, ContainerObservation, ContainerWatch } from '../container-watch.ts';
import type { ContainerSummary, EngineClient, EngineEvent } from '../ports.ts';
import { doubtAfterMs } from '../rules/judge.ts';
import { LABELS } from '../rules/labels.ts';
import { createOutage, type Outage } from './outage.ts';
import { backoffMs, createAlarm, createStream } from './stream.ts';

/** How old what the events did not tell can become. */
const RECONCILE_MS = 30_000;

interface WatchOptions extends Pick<Runtime, 'clock' | 'log' | 'random'> {
  readonly engine: Pick<EngineClient, 'events' | 'inspect' | 'list'>;
  readonly reconcileMs?: number;
}

export function createContainerWatch(options: WatchOptions): ContainerWatch {
  const { clock, reconcileMs = RECONCILE_MS } = options;
  const entries = new Set<Entry>();
  const outage = createOutage(options);
  let connection: WatchConnection | null = null;
  let isClosed = false;
  let ending: Promise<void> = Promise.resolve();

  function end(): void {
    if (connection) ending = Promise.all([ending, connection.close()]).then(() => {});
    connection = null;
    outage.reset();
  }

  return {
    watch: (container, listener) => {
      const entry = newEntry(container, listener, clock.now());
      if (!isClosed) {
        entries.add(entry);
        connection ??= openWatchConnection({ ...options, reconcileMs, entries, outage });
        connection.want(entry);
      }
      return {
        [Symbol.dispose]: () => {
          entries.delete(entry);
          connection?.forget(entry);
          if (entries.size === 0) end();
        },
      };
    },
    get blindness() {
      return outage.why;
    },
    wasAway: outage.wasAway,
    hurry: (container) => {
      for (const entry of entries) if (entry.container === container) connection?.want(entry);
    },
    close: async () => {
      isClosed = true;
      entries.clear();
      end();
      await ending;
    },
  };
}

// What is known about one container that somebody watches.

interface Entry {
  /** As it was asked for: a name, or an id that may be a short one. */
  readonly container: string;
  readonly listener: ContainerListener;
  /** Of the container that was seen last; null: none was. */
  id: string | null;
  /** The owner's label of that; null: it has none, or none was seen. */
  owner: string | null;
  /** Whether a look has succeeded at all. */
  isSeen: boolean;
  /** The last look failed, or its Engine cannot be asked: what its listener was told. */
  blind: string | null;
  /** How the last list showed it: '' not at all; null: there was no list yet. */
  row: string | null;
  /** An event told of it since the last list. */
  isHeard: boolean;
  /** The exit code of a `die` event since the last look. */
  died: number | null;
  /** When it is looked at without any reason. */
  lookAgainAt: MonoMs;
}

function newEntry(container: string, listener: ContainerListener, now: MonoMs): Entry {
  return {
    container,
    listener,
    id: null,
    owner: null,
    isSeen: false,
    blind: null,
    row: null,
    isHeard: false,
    died: null,
    lookAgainAt: now,
  };
}

/** Also when another container takes or gives up its name. */
function isAbout(event: EngineEvent, { container, id }: Entry): boolean {
  const { name, oldName } = event.attributes;
  return event.id === id || isIdOf(container, event.id) || name === container || oldName === `/${container}`;
}

function exitCodeIn({ action, attributes }: EngineEvent): number | null {
  const code =
    action === 'die' ? Number(attributes['exitCode'] ?? attributes['containerExitCode'] ?? Number.NaN) : Number.NaN;
  return Number.isInteger(code) ? code : null;
}

/** All of a list that an inspection could tell more about, and whether its image's name stands for another one now. */
const rowOf = ({ id, status, health, image }: ContainerSummary): string => `${id} ${status} ${health} ${image}`;

/** By id and by name. */
function indexed(items: readonly ContainerSummary[]): ReadonlyMap<string, ContainerSummary> {
  return new Map(items.flatMap((item) => [item.id, ...item.names].map((key) => [key, item] as const)));
}

interface WatchConnectionParts extends Pick<Runtime, 'clock' | 'log' | 'random'> {
  readonly engine: Pick<EngineClient, 'events' | 'inspect' | 'list'>;
  readonly reconcileMs: number;
  readonly entries: ReadonlySet<Entry>;
  readonly outage: Outage;
}

interface WatchConnection {
  /** To be looked at as soon as that makes sense. */
  want(entry: Entry): void;
  forget(entry: Entry): void;
  close(): Promise<void>;
}

/** How long the stream is waited for before the first list, which is worth more once it is open. */
const FIRST_LIST_AFTER_MS = 5_000;

function openWatchConnection(parts: WatchConnectionParts): WatchConnection {
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
      // The list tells whose image it was, but of those that an earlier list had shown.
      for (const entry of entries) if (entry.row === null) inspections.want(entry);
      alarm.ring();
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

interface InspectionsParts {
  readonly engine: Pick<EngineClient, 'inspect'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** A look has failed; it is not repeated by itself. */
  onFailed(entry: Entry, why: string): void;
  onSeen(entry: Entry, observation: ContainerObservation, died: number | null): void;
}

interface Inspections {
  /** What changes while it is looked at is looked at once more afterwards. */
  want(entry: Entry): void;
  forget(entry: Entry): void;
  /** It is being looked at, or will be next. */
  isPending(entry: Entry): boolean;
}

function createInspections({ engine, clock, signal, onFailed, onSeen }: InspectionsParts): Inspections {
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
