/** What somebody else wrote down about the agents they started: one entry per process, with names that the configuration can map. */

import { shortHash } from '../../base/pure/hash.ts';
import type { WallMs } from '../../base/pure/ids.ts';
import type { StateFileFields } from '../spec.ts';

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

type StateFileReading =
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
interface Moment {
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

// Where the members of an object stand in the text of a JSON document, so that some of them can be cut out and every other byte
// stays as it is. Parsing and writing again would not do: keys that look like numbers change their order, and long numbers their value.
// The text is known to be valid.

interface Member {
  readonly key: string;
  readonly keyStart: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** The members of the object at `field` (a name, or names with dots between them); null: there is no object there. */
export function membersAt(text: string, field: string): readonly Member[] | null {
  const start = valueAt(text, skipBlank(text, 0), field);
  return start === null ? null : membersOf(text, start);
}

/** The text without the members of these keys in the object at `field`. */
export function withoutMembers(text: string, field: string, keys: ReadonlySet<string>): string {
  const members = membersAt(text, field) ?? [];
  const kept = members.filter(({ key }) => !keys.has(key));
  const [first, last] = [members[0], members.at(-1)];
  if (kept.length === members.length || !first || !last) return text;
  const lastKept = kept.at(-1);
  if (!lastKept) return `${text.slice(0, openBefore(text, first))}${text.slice(closeAfter(text, last))}`;
  let rest = '';
  let from = 0;
  for (const [index, { key, keyStart }] of members.entries()) {
    const next = members[index + 1];
    if (!keys.has(key) || keyStart > lastKept.keyStart || !next) continue;
    rest += text.slice(from, keyStart);
    from = next.keyStart;
  }
  return `${rest}${text.slice(from, lastKept.valueEnd)}${text.slice(last.valueEnd)}`;
}

/** Behind the brace before it, and the brace behind it: an object without members has nothing between them. */
const openBefore = (text: string, { keyStart }: Member): number => text.lastIndexOf('{', keyStart) + 1;
const closeAfter = (text: string, { valueEnd }: Member): number => skipBlank(text, valueEnd);

function valueAt(text: string, start: number, field: string): number | null {
  const members = membersOf(text, start);
  if (!members) return null;
  const find = (key: string) => members.findLast((member) => member.key === key);
  const whole = find(field);
  if (whole) return whole.valueStart;
  const dot = field.indexOf('.');
  const outer = dot < 0 ? undefined : find(field.slice(0, dot));
  return outer ? valueAt(text, outer.valueStart, field.slice(dot + 1)) : null;
}

function membersOf(text: string, start: number): readonly Member[] | null {
  if (text[start] !== '{') return null;
  const members: Member[] = [];
  let at = skipBlank(text, start + 1);
  while (text[at] === '"') {
    const keyEnd = endOfString(text, at);
    const valueStart = skipBlank(text, skipBlank(text, keyEnd) + 1); // behind the colon
    const valueEnd = endOfValue(text, valueStart);
    members.push({ key: JSON.parse(text.slice(at, keyEnd)) as string, keyStart: at, valueStart, valueEnd });
    at = skipBlank(text, valueEnd);
    if (text[at] === ',') at = skipBlank(text, at + 1);
  }
  return members;
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\n\r'.includes(text[at]!)) at++;
  return at;
}

/** Behind the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; ) {
    const char = text[at]!;
    if (char === '"') at = endOfString(text, at);
    else {
      if (depth === 0 && at > start && ',}] \t\n\r'.includes(char)) return at; // a number or a word
      if (char === '{' || char === '[') depth++;
      if (char === '}' || char === ']') depth--;
      at++;
    }
    if (depth === 0 && '"}]'.includes(char)) return at;
  }
  return text.length;
}
