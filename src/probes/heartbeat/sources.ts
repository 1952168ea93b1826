/** Gives each kind of heartbeat its listener. Pings need none: they come by themselves. */

import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { formatBytes } from '../../base/pure/format.ts';
import type {
  HeartbeatSignal,
  HeartbeatSources,
  OpenHeartbeatSource,
} from '../../supervision/ports/heartbeat-source.ts';
import type { Prober, ProbeTarget } from '../../supervision/ports/prober.ts';
import { ONLY_ECHOES } from '../../supervision/rules/freeze/pulse.ts';

export const createHeartbeatSources = (parts: LogSourceParts): HeartbeatSources => ({
  open: (source, target, mark) =>
    source.kind === 'file'
      ? fileSource(source.path, source.field, mark)
      : logSource({ target, pattern: source.pattern, mark }, parts),
});

// A beat is something new in the log of the component, or a line of it that fits a pattern.

interface LogSourceOptions {
  readonly target: ProbeTarget;
  readonly pattern: string | null;
  /** The position up to which an earlier daemon had listened. */
  readonly mark: string | null;
}

interface LogSourceParts {
  readonly prober: Pick<Prober, 'watch'>;
  logPath(target: ProbeTarget): string;
  /** The position behind the last byte of the log. */
  logEnd(target: ProbeTarget): number;
}

export function logSource({ target, pattern, mark }: LogSourceOptions, parts: LogSourceParts): OpenHeartbeatSource {
  const known = mark === null ? Number.NaN : Number(mark);
  const from = Number.isSafeInteger(known) ? known : target.logFrom;
  let position = from;
  let hits = 0;
  let isAsked = false;
  let hasOwn = false;
  let hasEcho = false;
  let gone: string | null = null;
  const watch =
    pattern === null
      ? null
      : parts.prober.watch(
          [pattern],
          { ...target, logFrom: from },
          () => {
            hits += 1;
          },
          (reason) => {
            gone = reason;
          },
        );

  /** Takes down what is new, and whether it came while one of our probes asked. */
  const note = (): void => {
    const end = parts.logEnd(target);
    if (end !== position && isAsked) hasEcho = true;
    else if (end !== position) hasOwn = true;
    position = end;
  };

  const look = async (): Promise<HeartbeatSignal> => {
    // Whoever removes a log blinds this source: nobody sees what is written then.
    const isThere = await stat(parts.logPath(target)).then(
      () => true,
      () => false,
    );
    if (!isThere) return { kind: 'deaf', note: 'its log is not there' };
    if (gone !== null) return { kind: 'deaf', note: `log_pattern is no longer searched: ${gone}` };
    note();
    const isBeat = pattern === null ? hasOwn : hits > 0;
    const isEcho = pattern === null && hasEcho;
    hits = 0;
    hasOwn = false;
    hasEcho = false;
    const heard = String(position);
    if (isBeat) return { kind: 'beat', mark: heard, ageMs: null };
    return isEcho ? { kind: 'echo', mark: heard, note: ONLY_ECHOES } : { kind: 'silence', mark: heard, note: null };
  };
  return {
    listen: () => look().catch((error: unknown) => ({ kind: 'deaf', note: `its log: ${(error as Error).message}` })),
    asked: (begins) => {
      note(); // up to here it came under the other sign
      isAsked = begins;
    },
    [Symbol.dispose]: () => watch?.[Symbol.dispose](),
  };
}

// A beat is a file that was written again, or a new time in a field of the JSON document in it.

/** A state file is small; more is not read. */
const MAX_BYTES = 1024 * 1024;
/** Numbers below this are seconds since 1970: as milliseconds they would all lie in its first years. */
const MAX_SECONDS = 1e11;
const MS_PER_SECOND = 1_000;
/** Not there (yet): the component has not written it, which is silence. */
const MISSING: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR']);

/** What the file says: a mark that differs with every beat, and when that was. */
type Said = { readonly mark: string; readonly at: number } | { readonly note: string };

export function fileSource(path: string, field: string | null, known: string | null): OpenHeartbeatSource {
  let mark = known;
  const look = async (): Promise<HeartbeatSignal> => {
    const said = field === null ? await written(path) : await told(path, field);
    if ('note' in said) return { kind: 'silence', mark, note: said.note };
    if (said.mark === mark) return { kind: 'silence', mark, note: null };
    mark = said.mark;
    return { kind: 'beat', mark, ageMs: Date.now() - said.at };
  };
  return {
    listen: () => look().catch((error: unknown) => failed(path, mark, error)),
    [Symbol.dispose]: () => {},
  };
}

async function written(path: string): Promise<Said> {
  const { mtimeMs, ino } = await stat(path);
  return { mark: `${mtimeMs} ${ino}`, at: mtimeMs };
}

async function told(path: string, field: string): Promise<Said> {
  const name = basename(path);
  const text = await readText(path);
  if (text.length >= MAX_BYTES) return { note: `${name} is longer than ${formatBytes(MAX_BYTES)}` };
  let document: unknown;
  try {
    document = JSON.parse(text.toString());
  } catch {
    return { note: `${name} is no JSON document` }; // or half written: then the next look sees the whole
  }
  const value = valueAt(document, field);
  if (value === undefined) return { note: `${name} has no field ${field}` };
  const at = timeOf(value);
  return at === null ? { note: `the field ${field} of ${name} is no time` } : { mark: String(value), at };
}

async function readText(path: string): Promise<Buffer> {
  // A pipe, also one that is put there between two looks, would keep one of Node's few threads for ever.
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const seen = await file.stat();
  if (!seen.isFile()) throw new Error(`${path} is not a regular file`);
  const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(seen.size + 1, MAX_BYTES)));
  return buffer.subarray(0, bytesRead);
}

/** `a.b`: the field of that name, or else the field `b` of the object `a`. */
function valueAt(document: unknown, field: string): unknown {
  if (typeof document !== 'object' || document === null) return undefined;
  if (Object.hasOwn(document, field)) return (document as Record<string, unknown>)[field];
  const dot = field.indexOf('.');
  if (dot < 0 || !Object.hasOwn(document, field.slice(0, dot))) return undefined;
  return valueAt((document as Record<string, unknown>)[field.slice(0, dot)], field.slice(dot + 1));
}

function timeOf(value: unknown): number | null {
  if (typeof value === 'number' && value > 0) return value < MAX_SECONDS ? value * MS_PER_SECOND : value;
  const at = typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isFinite(at) ? at : null;
}

function failed(path: string, mark: string | null, error: unknown): HeartbeatSignal {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (MISSING.has(code)) return { kind: 'silence', mark, note: `there is no ${basename(path)}` };
  return { kind: 'deaf', note: `its heartbeat file cannot be read: ${message}` };
}
