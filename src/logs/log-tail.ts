/**
 * The last lines the last run of a component wrote, bounded and with secrets taken out. Read in one go, because a crash is recorded in
 * one go; so what lies in a large compressed part is left out.
 */
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { WallMs } from '../base/pure/ids.ts';
import { logFile, timesFile } from './format.ts';
import { MainFile, statOf } from './read/files.ts';
import { LineTimes } from './read/reader.ts';
import { listParts, type Part, partAt } from './read/space.ts';
import { findLastTimeEntry, TimeIndex } from './read/time-index.ts';
import { type CrashTail, cutTail, MAX_TAIL_BYTES, NO_TAIL, tailOf } from './rules/tail.ts';

/** Unpacking this much holds up nobody noticeably. */
const MAX_UNPACKED_BYTES = 8 * 1024 * 1024;
const COMPARED_BYTES = 64 * 1024;
const MAX_TRIES = 10;

/** Empty when there is nothing to read: evidence that cannot be had is no reason to fail. `known`: values never to be shown. */
export function logTail(dir: string, component: string, known: readonly string[]): readonly string[] {
  return readTail(dir, component, known).lines;
}

export interface TailOptions {
  /** Only what was written behind this position. */
  readonly since?: number;
  /** Only what this run wrote, up to this position; absent: what the last run wrote. */
  readonly output?: { readonly run: string; readonly end: number };
  /** When the run ended, to say how long before that a line was written. */
  readonly endedAt?: WallMs;
}

export function readTail(
  dir: string,
  component: string,
  known: readonly string[],
  { since = 0, output, endedAt }: TailOptions = {},
): CrashTail {
  try {
    const { bytes, begin, isWhole } = newestBytes(dir, component, since, output);
    const text = bytes.toString('utf8');
    const tail = isWhole ? tailOf(text, known, { isCut: false }) : cutTail(text, known);
    if (endedAt === undefined) return tail;
    return { ...tail, ageMs: (fromEnd) => ageOf(dir, component, begin + startOf(bytes, fromEnd), endedAt) };
  } catch (error) {
    return { ...NO_TAIL, lines: [`(its log could not be read: ${(error as Error).message})`] };
  }
}

/** Null: nobody wrote down when. */
function ageOf(dir: string, component: string, position: number, endedAt: WallMs): number | null {
  try {
    const latestMs = statOf(join(dir, logFile(component)))?.mtimeMs ?? null;
    const { atMs } = new LineTimes(join(dir, timesFile(component))).of(position, latestMs);
    return atMs === null ? null : Math.max(0, Math.round(endedAt - atMs));
  } catch {
    return null;
  }
}

const LINE_BREAK = 0x0a;

/** Where the line begins that has so many after it. */
function startOf(bytes: Buffer, linesFromEnd: number): number {
  let at = bytes.length - (bytes.at(-1) === LINE_BREAK ? 1 : 0);
  for (let left = linesFromEnd; left >= 0 && at > 0; left--) at = bytes.lastIndexOf(LINE_BREAK, at - 1);
  return Math.max(0, at + 1);
}

interface Newest {
  readonly bytes: Buffer;
  /** The position of the first of them. */
  readonly begin: number;
  /** They begin where the run began to write. */
  readonly isWhole: boolean;
}

function newestBytes(dir: string, component: string, since: number, output: TailOptions['output']): Newest {
  const times = join(dir, timesFile(component));
  const { base, end, bytes } = newestOfLog(dir, component, new TimeIndex(times), output?.end);
  const isWanted = ({ run }: { run: string }) => output === undefined || run === output.run;
  const began = findLastTimeEntry(times, 'run', isWanted)?.fact.position ?? 0;
  const isKnown = began <= end; // otherwise the log was cut back by hand, and all that is in it is new
  const from = Math.max(isKnown ? began : base, end - MAX_TAIL_BYTES, Math.min(since, end));
  const ofLog = bytes.subarray(Math.max(0, bytes.length - (end - from)));
  const all = Buffer.concat([...fromParts(dir, component, from, Math.min(base, end)), ofLog]);
  return { bytes: all, begin: end - all.length, isWhole: from === began || from === 0 || from === since };
}

/** The newest bytes of NAME.log, up to `end`; `until`: only those before this position. Read again when its head was cut off meanwhile: that is done by another process. */
function newestOfLog(
  dir: string,
  component: string,
  book: TimeIndex,
  until = Number.POSITIVE_INFINITY,
): { base: number; end: number; bytes: Buffer } {
  for (let tries = 1; ; tries++) {
    const indexBase = book.base() ?? listParts(dir, component).at(-1)?.end ?? 0;
    const half = partAt(dir, component, indexBase);
    using log = MainFile.open(join(dir, logFile(component)), indexBase, indexBase);
    if (!log) return { base: indexBase, end: Math.min(indexBase, until), bytes: Buffer.alloc(0) };
    const { size } = log.state();
    const isCut = half !== null && !headIsThere(log, half, size, book.known);
    const base = isCut ? (listParts(dir, component).at(-1)?.end ?? indexBase) : indexBase;
    const wanted = Math.max(0, Math.min(size, until - base));
    const offset = Math.max(0, wanted - MAX_TAIL_BYTES);
    const bytes = log.read(offset, wanted - offset);
    const isSame = partAt(dir, component, indexBase)?.end === half?.end && (book.base() ?? indexBase) === indexBase;
    if ((isSame && log.state().size >= size) || tries === MAX_TRIES)
      return { base, end: Math.min(base + size, until), bytes };
  }
}

function headIsThere(log: MainFile, half: Part, size: number, known: number): boolean {
  if (half.form === 'gz' || size < half.end - half.base || half.base + size < known) return false;
  using part = MainFile.open(half.path, 0, 0);
  return part !== null && log.beginsWith(part.read(0, COMPARED_BYTES));
}

function fromParts(dir: string, component: string, from: number, to: number): readonly Buffer[] {
  if (from >= to) return [];
  return listParts(dir, component).flatMap((part) => {
    if (part.end <= from || part.base >= to) return [];
    const bytes = partBytes(part, Math.max(0, from - part.base));
    return bytes ? [bytes.subarray(0, to - Math.max(from, part.base))] : [];
  });
}

function partBytes({ path, form, base, end }: Part, offset: number): Buffer | null {
  using file = MainFile.open(path, base, base);
  if (!file || (form === 'gz' && end - base > MAX_UNPACKED_BYTES)) return null;
  if (form === 'plain') return file.read(offset, end - base - offset);
  const packed = file.read(0, file.state().size);
  return gunzipSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES }).subarray(offset);
}
