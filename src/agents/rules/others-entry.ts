/** What somebody else wrote down about the agents they started: one entry per process, with names that the configuration can map. */
import { shortHash } from '../../base/pure/hash.ts';
import type { WallMs } from '../../base/pure/ids.ts';
import type { StateFileFields } from '../spec.ts';
import { membersAt } from './others-json-members.ts';

export interface Entry {
  /** As it stands in the file. */
  readonly key: string;
  readonly pid: number;
  /** Null: it does not say. */
  readonly type: string | null;
  readonly task: string | null;
  readonly startedAt: Moment | null;
  /** Another one under the same key has another. */
  readonly id: string;
}

export type StateFileReading =
  /** `odd`: keys of entries that name no process. */
  | { readonly kind: 'entries'; readonly entries: readonly Entry[]; readonly odd: readonly string[] }
  /** Half written, or written by other rules. `why` goes on after the name of the file: "is no JSON document". */
  | { readonly kind: 'unreadable'; readonly why: string };

/** The kernel gives no pid above this. */
const MAX_PID = 2 ** 22;
/** Nobody runs so many agents; a file that says so is not worth a look at every process. */
const MAX_ENTRIES = 5_000;
/** Longer ones are not shown, stored or compared as a whole. */
const MAX_WORD_CHARS = 1_024;

export function readEntries(text: string, fields: StateFileFields): StateFileReading {
  try {
    JSON.parse(text);
  } catch {
    return { kind: 'unreadable', why: text.trim() === '' ? 'is empty' : 'is no JSON document' };
  }
  const members = membersAt(text, fields.agents);
  if (members === null) return { kind: 'unreadable', why: `has no object "${fields.agents}"` };
  if (members.length > MAX_ENTRIES) return { kind: 'unreadable', why: `has more than ${MAX_ENTRIES} entries` };
  const entries: Entry[] = [];
  const odd: string[] = [];
  for (const { key, valueStart, valueEnd } of members) {
    const raw = text.slice(valueStart, valueEnd);
    const entry = entryOf(key, raw, fields);
    if (entry) entries.push(entry);
    else odd.push(key.slice(0, MAX_WORD_CHARS));
  }
  return { kind: 'entries', entries, odd };
}

function entryOf(key: string, raw: string, fields: StateFileFields): Entry | null {
  const value: unknown = JSON.parse(raw);
  if (typeof value !== 'object' || value === null) return null;
  const said = (name: string): unknown =>
    Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
  // Some keep them by task or by name, with the pid inside.
  const pid = pidOf(key) ?? pidOf(said('pid'));
  if (pid === null) return null;
  return {
    key,
    pid,
    type: wordOf(said(fields.agentType)),
    task: wordOf(said(fields.taskId)),
    startedAt: momentOf(said(fields.startedAt)),
    id: shortHash(
      [key, ...[fields.agentType, fields.taskId, fields.startedAt].map((name) => String(said(name)))].join('\n'),
    ),
  };
}

/** A whole number that can be a process of somebody: 0 and negative ones mean groups, and 1 is nobody's agent. */
function pidOf(value: unknown): number | null {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || !/^[1-9]\d{0,6}$/.test(text)) return null;
  const pid = Number(text);
  return pid > 1 && pid <= MAX_PID ? pid : null;
}

function wordOf(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const word = String(value);
  return word === '' || word.length > MAX_WORD_CHARS ? null : word;
}

// When something was, as somebody else wrote it down.

/** Without a time zone nobody can tell whether UTC or the local time was meant: it was one of both. */
export interface Moment {
  readonly earliest: WallMs;
  readonly latest: WallMs;
}

/** Numbers below this are seconds since 1970: as milliseconds they would all lie in its first years. */
const MAX_SECONDS = 1e11;
const MS_PER_SECOND = 1_000;
const ISO = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,](\d{1,9}))?\s?(Z|[+-]\d\d(?::?\d\d)?)?$/i;

export function momentOf(value: unknown): Moment | null {
  if (typeof value === 'number') return at(value < MAX_SECONDS ? value * MS_PER_SECOND : value);
  if (typeof value !== 'string') return null;
  if (/^\d{9,13}(?:\.\d{1,9})?$/.test(value)) return momentOf(Number(value));
  const [, day, time, fraction = '0', zone] = ISO.exec(value.trim()) ?? [];
  if (day === undefined) return null;
  const text = `${day}T${time!.length === 5 ? `${time}:00` : time}.${fraction.padEnd(3, '0').slice(0, 3)}`;
  if (zone !== undefined) return at(Date.parse(`${text}${zoneOf(zone)}`));
  const [utc, local] = [Date.parse(`${text}Z`), Date.parse(text)];
  return Number.isFinite(utc) && Number.isFinite(local)
    ? { earliest: Math.min(utc, local) as WallMs, latest: Math.max(utc, local) as WallMs }
    : null;
}

/** +02 and +0200 are +02:00. */
const zoneOf = (zone: string): string =>
  zone.length === 1 ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '').padEnd(2, '0')}`;

const at = (ms: number): Moment | null =>
  Number.isFinite(ms) && ms > 0 ? { earliest: ms as WallMs, latest: ms as WallMs } : null;
