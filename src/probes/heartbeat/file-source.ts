/** A beat is a file that was written again, or a new time in a field of the JSON document in it. */
import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { formatBytes } from '../../base/pure/format.ts';
import type { HeartbeatSignal, OpenHeartbeatSource } from '../../supervision/ports/heartbeat-source.ts';

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
