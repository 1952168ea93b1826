/**
 * One pass over the agents of others: what is known after it, and what is to be done. An entry that its owner removes is settled,
 * whatever became of its process; so a dead one is left to its owner for a while before anything is done about it.
 */

import { type ExitCause, isClean } from '../../base/pure/exit.ts';
import { after, type BootId, type MonoMs, type RunId, type WallMs } from '../../base/pure/ids.ts';
import type { Entry } from './others-entry.ts';

interface KnownEntry extends SeenEntry {
  /** It lived while we watched: its end is a crash. Otherwise it was dead before anybody looked. */
  readonly watched: boolean;
  /** Its parent ended before it. */
  readonly orphan: boolean;
  /** It was seen alive more than once. */
  readonly lived: boolean;
  /** Its end is recorded: only its entry is left to be removed. */
  readonly told: boolean;
  /** Null: it was not dead when it was last looked at. */
  readonly deadSince: MonoMs | null;
  /** How it ended, if it was seen before its parent took note of that. Absent: written before anybody asked for it. */
  readonly exit?: ExitCause | null;
}

/** What is remembered from one pass to the next; by key of the entry. */
export interface Memory {
  readonly entries: ReadonlyMap<string, KnownEntry>;
  /** When the file was last read; null: never. */
  readonly readAt: WallMs | null;
  /** Whose entries were removed, and whose parents have still not taken note of their end. */
  readonly zombies: readonly LeftZombie[];
}

export interface LeftZombie {
  readonly entry: Entry;
  /** Says which process under its number it is. */
  readonly startTime: string;
}

export const NOTHING_KNOWN: Memory = { entries: new Map(), readAt: null, zombies: [] };

export interface ObservedEntry {
  readonly entry: Entry;
  readonly observation: ProcessObservation;
}

interface PassContext {
  readonly now: MonoMs;
  readonly wall: WallMs;
  readonly boot: BootId;
  /** How long the entry of one that crashed is left to its owner. */
  readonly graceMs: number;
  /** The same for one whose entry only needs to be removed: nothing is lost by leaving that to its owner for longer. */
  readonly tidyMs: number;
  /** What became of a run of ours. */
  fate(run: RunId): RunFate;
}

/** ending: it is being ended, and why will be known then. asked: it has ended, because somebody wanted that. */
export type RunFate = 'ending' | 'asked' | 'other';

/**
 * unknown: nobody can say whether it lives, or how it ended. pending: dead, and its owner may still take note of it. crashed: it died
 * while we watched. finished: it ended with exit code 0. stopped: the run it belonged to was asked to end, and we ended it with that.
 * told: one of these is recorded already. stale: it was dead before anybody watched, and was forgotten.
 */
type EntryState = 'alive' | 'unknown' | 'pending' | 'crashed' | 'finished' | 'stopped' | 'told' | 'stale';

export interface Judged {
  readonly entry: Entry;
  readonly state: EntryState;
  /** A sentence; empty for those that live. */
  readonly why: string;
  /** Its process has ended and its parent has not taken note: its start time says which one it is. Null: it is none. */
  readonly zombie: { readonly startTime: string } | null;
  readonly orphan: boolean;
  /** How it ended; null: it lives, or nobody saw that. */
  readonly exit: ExitCause | null;
  /** It was not dead at the look before. */
  readonly isNews: boolean;
  /** The run of ours that it belonged to, as far as that is known. */
  readonly run: RunId | null;
}

interface PassResult {
  readonly memory: Memory;
  /** In the order of the file. */
  readonly judged: readonly Judged[];
  /** Those that were seen alive for the second time. */
  readonly lived: readonly Entry[];
}

export function pass(memory: Memory, observed: readonly ObservedEntry[], context: PassContext): PassResult {
  const entries = new Map<string, KnownEntry>();
  const lived: Entry[] = [];
  const judged = observed.map(({ entry, observation }) => {
    const before = memory.entries.get(entry.key);
    const known = before?.id === entry.id ? before : firstSeen(entry, memory.readAt);
    const verdict = judge(entry, observation, known, context.boot);
    const now = learn(known, verdict, context);
    entries.set(entry.key, now);
    if (now.lived && !known.lived) lived.push(entry);
    return {
      entry,
      state: entryState(now, verdict, context),
      why: verdict.kind === 'alive' ? '' : verdict.why,
      zombie: verdict.kind === 'dead' && verdict.startTime !== null ? { startTime: verdict.startTime } : null,
      orphan: verdict.kind === 'alive' && now.orphan,
      exit: now.exit ?? null,
      isNews: verdict.kind === 'dead' && known.deadSince === null,
      run: now.seen?.run ?? null,
    };
  });
  return { judged, lived, memory: { ...memory, entries, readAt: context.wall } };
}

/** One that began after the last look came while we watched, even if it is gone already. */
const firstSeen = ({ id, startedAt }: Entry, readAt: WallMs | null): KnownEntry => ({
  ...{ id, seen: null, orphan: false, lived: false, told: false, deadSince: null, exit: null },
  watched: readAt !== null && startedAt !== null && startedAt.earliest >= readAt,
});

function learn(known: KnownEntry, verdict: Verdict, { boot, now }: PassContext): KnownEntry {
  if (verdict.kind === 'dead') return { ...known, deadSince: known.deadSince ?? now, exit: known.exit ?? verdict.exit };
  if (verdict.kind === 'unknown') return { ...known, deadSince: null };
  const { startTime, ppid, run } = verdict;
  const orphan = known.orphan || verdict.orphan;
  const lived = known.seen !== null;
  return { ...known, watched: true, orphan, lived, seen: { boot, startTime, ppid, run }, deadSince: null };
}

function entryState(known: KnownEntry, verdict: Verdict, context: PassContext): EntryState {
  const { watched, told, deadSince, seen, exit = null } = known;
  const { now, graceMs, tidyMs, fate } = context;
  if (verdict.kind !== 'dead') return verdict.kind;
  if (told) return 'told';
  // Its task may be done: whoever would begin it again had to know that it is not.
  if (verdict.zombie && exit === null) return 'unknown';
  const ended = exit !== null && isClean(exit) ? 'finished' : watched && !verdict.reboot ? 'crashed' : 'stale';
  if (now < after(deadSince ?? now, ended === 'crashed' ? graceMs : tidyMs)) return 'pending';
  const became = seen?.run ? fate(seen.run) : 'other';
  if (became === 'ending') return 'pending';
  return became === 'asked' && ended !== 'finished' ? 'stopped' : ended;
}

/** The end of this entry is recorded. */
export function withTold(memory: Memory, key: string): Memory {
  const known = memory.entries.get(key);
  return known ? { ...memory, entries: new Map(memory.entries).set(key, { ...known, told: true }) } : memory;
}

/** The entries of these are gone from the file; their processes are not, as long as their parents do not take note. */
export const withZombies = (memory: Memory, removed: readonly Judged[]): Memory => ({
  ...memory,
  zombies: [
    ...memory.zombies,
    ...removed.flatMap(({ entry, zombie }) => (zombie === null ? [] : [{ entry, startTime: zombie.startTime }])),
  ],
});

/** Which of them are left. `judged`: whoever wrote an entry again is counted there. */
export function stillZombies(
  { zombies }: Memory,
  judged: readonly Judged[],
  observation: (pid: number) => ProcessObservation,
): readonly LeftZombie[] {
  const listed = new Set(judged.map(({ entry }) => entry.pid));
  return zombies.filter(({ entry: { pid }, startTime }) => {
    const seen = listed.has(pid) ? null : observation(pid);
    return seen?.kind === 'there' && seen.zombie && seen.startTime === startTime;
  });
}

/** Nothing is wrong with it but that its entry is still there. */
export const isForgotten = ({ state, exit }: Judged): boolean => state === 'stale' || (exit !== null && isClean(exit));

// Whether the process of an entry lives. A pid alone says nothing: it is reused, and sometimes nobody may look.

/** What is under a pid now. */
export type ProcessObservation =
  | {
      readonly kind: 'there';
      /** It has ended, and its parent has not taken note of that. */
      readonly zombie: boolean;
      /** How a zombie ended; null: it lives, or the kernel does not tell us. */
      readonly exit: ExitCause | null;
      /** Since boot, only ever compared. */
      readonly startTime: string;
      readonly startedAt: WallMs;
      readonly ppid: number;
      /** The run of ours that it belongs to, as its environment says; null: none, or we may not look. */
      readonly run: RunId | null;
    }
  | { readonly kind: 'gone' }
  /** We may not look, or cannot. */
  | { readonly kind: 'unknown'; readonly why: string };

type There = Extract<ProcessObservation, { kind: 'there' }>;

/** What was seen of an entry before. */
interface SeenEntry {
  /** Of the entry; another one under the same key is another agent. */
  readonly id: string;
  /** Of its process, when it was seen alive. */
  readonly seen: {
    readonly boot: BootId;
    readonly startTime: string;
    readonly ppid: number;
    /** Absent: written before anybody asked for it. */
    readonly run?: RunId | null;
  } | null;
}

type Verdict =
  /** `orphan`: its parent is gone. */
  | ({ readonly kind: 'alive'; readonly orphan: boolean } & Pick<There, 'startTime' | 'ppid' | 'run'>)
  | {
      readonly kind: 'dead';
      readonly why: string;
      readonly zombie: boolean;
      readonly reboot: boolean;
      /** Of a zombie, as far as the kernel tells. */
      readonly exit: ExitCause | null;
      /** Of a zombie: which process it is. */
      readonly startTime: string | null;
    }
  | { readonly kind: 'unknown'; readonly why: string };

/**
 * A process that began this much later than its entry says is somebody else. Clocks are set now and then, and nobody gets the pid of
 * a process that has just ended, so this errs on the side of the living.
 */
export const START_SLACK_MS = 60_000;

export function judge(
  { pid, startedAt }: Entry,
  observation: ProcessObservation,
  known: SeenEntry | null,
  boot: BootId,
): Verdict {
  if (observation.kind === 'unknown') return observation;
  const seen = known?.seen ?? null;
  if (seen !== null && seen.boot !== boot)
    return dead(`the machine was restarted since process ${pid} was seen`, { reboot: true });
  if (observation.kind === 'gone') return dead(`process ${pid} is gone`);
  const isAnother =
    seen === null
      ? startedAt !== null && observation.startedAt > startedAt.latest + START_SLACK_MS
      : seen.startTime !== observation.startTime;
  if (isAnother) return dead(`process ${pid} is gone, and its number belongs to another process now`);
  const { startTime, ppid, run, exit } = observation;
  if (observation.zombie) {
    const unseen = exit === null ? ', and its exit code is not ours to read' : '';
    const why = `process ${pid} has ended, but its parent ${ppid} has not reaped it (a zombie)${unseen}`;
    return dead(why, { zombie: true, exit, startTime });
  }
  return { kind: 'alive', startTime, ppid, run, orphan: seen !== null && seen.ppid !== ppid };
}

type Dead = Extract<Verdict, { kind: 'dead' }>;
const GONE = { zombie: false, reboot: false, exit: null, startTime: null } as const;
const dead = (why: string, more: Partial<Dead> = {}): Dead => ({ kind: 'dead', why, ...GONE, ...more });

// What outlives the daemon about the agents of others, as text: whom it saw alive, and what it was about to clean.

export interface Stored {
  readonly memory: Memory;
  /** Entries that are being removed, for the ticket, should we not live to file it: key and description. */
  readonly cleaning: readonly { readonly key: string; readonly text: string }[];
}

export function storedText(path: string, { memory, cleaning }: Stored): string {
  const entries = [...memory.entries].map(([key, { deadSince: _, ...known }]) => ({ key, ...known }));
  return JSON.stringify({ path, entries, cleaning, zombies: memory.zombies });
}

/**
 * Null: there is none, it is about another file, or nobody can read it. How long an entry is dead begins anew, and what came and
 * went while nobody watched was not watched.
 */
export function readStored(path: string, text: string | null): Stored | null {
  if (text === null) return null;
  try {
    const stored = JSON.parse(text) as StoredText;
    if (stored.path !== path) return null;
    const entries = stored.entries.map(({ key, ...known }): [string, KnownEntry] => [
      key,
      { ...known, deadSince: null },
    ]);
    const { cleaning, zombies = [] } = stored;
    return { memory: { entries: new Map(entries), readAt: null, zombies }, cleaning };
  } catch {
    return null;
  }
}

interface StoredText {
  readonly path: string;
  readonly entries: readonly ({ readonly key: string } & Omit<KnownEntry, 'deadSince'>)[];
  readonly cleaning: Stored['cleaning'];
  /** Absent: written before they were remembered. */
  readonly zombies?: readonly LeftZombie[];
}
