/**
 * One pass over the agents of others: what is known after it, and what is to be done. An entry that its owner removes is settled,
 * whatever became of its process; so a dead one is left to its owner for a while before anything is done about it.
 */
import { after, type BootId, type MonoMs, type RunId, type WallMs } from '../../ids.ts';
import type { Entry } from './entry.ts';
import { judge, type Known, type Sight, type Verdict } from './judge.ts';

export interface KnownEntry extends Known {
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
}

/** What is remembered from one pass to the next; by key of the entry. */
export interface Memory {
  readonly entries: ReadonlyMap<string, KnownEntry>;
  /** When the file was last read; null: never. */
  readonly readAt: WallMs | null;
}

export const NOTHING_KNOWN: Memory = { entries: new Map(), readAt: null };

export interface Looked {
  readonly entry: Entry;
  readonly sight: Sight;
}

export interface PassContext {
  readonly now: MonoMs;
  readonly wall: WallMs;
  readonly boot: BootId;
  /** How long a dead entry is left to its owner. */
  readonly graceMs: number;
  /** What became of a run of ours. */
  fate(run: RunId): RunFate;
}

/** ending: it is being ended, and why will be known then. asked: it has ended, because somebody wanted that. */
export type RunFate = 'ending' | 'asked' | 'other';

/**
 * pending: dead, and its owner may still take note of it. crashed: it died while we watched. stopped: the run it belonged to was
 * asked to end, and we ended it with that. told: either is recorded already. stale: it was dead before anybody watched, and was forgotten.
 */
export type Standing = 'alive' | 'unknown' | 'pending' | 'crashed' | 'stopped' | 'told' | 'stale';

export interface Judged {
  readonly entry: Entry;
  readonly standing: Standing;
  /** A sentence; empty for those that live. */
  readonly why: string;
  readonly zombie: boolean;
  readonly orphan: boolean;
}

export interface PassResult {
  readonly memory: Memory;
  /** In the order of the file. */
  readonly judged: readonly Judged[];
  /** Those that were seen alive for the second time. */
  readonly lived: readonly Entry[];
}

export function pass(memory: Memory, looks: readonly Looked[], context: PassContext): PassResult {
  const entries = new Map<string, KnownEntry>();
  const lived: Entry[] = [];
  const judged = looks.map(({ entry, sight }) => {
    const before = memory.entries.get(entry.key);
    const known = before?.id === entry.id ? before : firstSight(entry, memory.readAt);
    const verdict = judge(entry, sight, known, context.boot);
    const now = learn(known, verdict, context);
    entries.set(entry.key, now);
    if (now.lived && !known.lived) lived.push(entry);
    return {
      entry,
      standing: standingOf(now, verdict, context),
      why: verdict.kind === 'alive' ? '' : verdict.why,
      zombie: verdict.kind === 'dead' && verdict.zombie,
      orphan: verdict.kind === 'alive' && now.orphan,
    };
  });
  return { judged, lived, memory: { entries, readAt: context.wall } };
}

/** One that began after the last look came while we watched, even if it is gone already. */
const firstSight = ({ id, startedAt }: Entry, readAt: WallMs | null): KnownEntry => ({
  ...{ id, seen: null, orphan: false, lived: false, told: false, deadSince: null },
  watched: readAt !== null && startedAt !== null && startedAt.earliest >= readAt,
});

function learn(known: KnownEntry, verdict: Verdict, { boot, now }: PassContext): KnownEntry {
  if (verdict.kind === 'dead') return { ...known, deadSince: known.deadSince ?? now };
  if (verdict.kind === 'unknown') return { ...known, deadSince: null };
  const { startTime, ppid, run } = verdict;
  const orphan = known.orphan || verdict.orphan;
  const lived = known.seen !== null;
  return { ...known, watched: true, orphan, lived, seen: { boot, startTime, ppid, run }, deadSince: null };
}

function standingOf({ watched, told, deadSince, seen }: KnownEntry, verdict: Verdict, context: PassContext): Standing {
  const { now, graceMs, fate } = context;
  if (verdict.kind !== 'dead') return verdict.kind;
  if (told) return 'told';
  if (now < after(deadSince ?? now, graceMs)) return 'pending';
  const became = seen?.run ? fate(seen.run) : 'other';
  if (became === 'ending') return 'pending';
  if (became === 'asked') return 'stopped';
  return watched && !verdict.reboot ? 'crashed' : 'stale';
}

/** The end of this entry is recorded. */
export function withTold(memory: Memory, key: string): Memory {
  const known = memory.entries.get(key);
  return known ? { ...memory, entries: new Map(memory.entries).set(key, { ...known, told: true }) } : memory;
}
