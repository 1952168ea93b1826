/** Looks through a stretch of a log for the beginnings of lines. */
import { type Line, LineSplitter, MAX_LINE_BYTES } from '../lines.ts';
import type { Matcher } from './match.ts';
import { breathe, matchInSlices } from './slices.ts';
import type { LogSpace } from './space.ts';

const CHUNK_BYTES = 256 * 1024;
const NEWLINE = 0x0a;

export interface Window {
  readonly from: number;
  readonly to: number;
  /** A line begins at `from`, though no break may stand before it. */
  readonly isOpen: boolean;
  /** The last position at which a line may begin: `to`, if something follows there. */
  readonly lastStart: number;
}

type OnStart = (position: number) => void;

/** All lines. */
export async function scanBreaks(
  space: LogSpace,
  { from, to, isOpen, lastStart }: Window,
  onStart: OnStart,
): Promise<void> {
  if (isOpen) onStart(from);
  for await (const { bytes, position } of chunks(space, from, to)) {
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
      if (position + at + 1 <= lastStart) onStart(position + at + 1);
    }
  }
}

/** Lines that fit. The last one is read on to its end, or as far as it would be shown. */
export async function scanMatches(space: LogSpace, window: Window, matcher: Matcher, onStart: OnStart): Promise<void> {
  const { from, isOpen, lastStart } = window;
  let lot: Line[] = [];
  const judge = async (): Promise<void> => {
    const answers = await matchInSlices(
      matcher,
      lot.map(({ text }) => text),
    );
    for (const [at, { offset }] of lot.entries()) if (answers[at]) onStart(offset);
    lot = [];
  };
  const splitter = new LineSplitter((line) => {
    if (line.offset <= lastStart && (line.offset !== from || isOpen)) lot.push(line);
  }, from);
  for await (const { bytes, position } of chunks(space, from, Number.MAX_SAFE_INTEGER)) {
    splitter.push(bytes);
    await judge();
    const at = position + bytes.length;
    if (splitter.lineStart > lastStart || (at >= window.to && at - splitter.lineStart > MAX_LINE_BYTES)) break;
  }
  splitter.flush();
  await judge();
}

/** Where the next line begins: behind the first break at or behind `position`; null: there is none. */
export async function nextLineStart(space: LogSpace, position: number): Promise<number | null> {
  for await (const { bytes, position: at } of chunks(space, position, Number.MAX_SAFE_INTEGER)) {
    const found = bytes.indexOf(NEWLINE);
    if (found >= 0) return at + found + 1;
  }
  return null;
}

/** Ends early where something is missing. */
async function* chunks(space: LogSpace, from: number, to: number): AsyncGenerator<{ bytes: Buffer; position: number }> {
  for (let position = from; position < to; ) {
    await breathe();
    const piece = await space.read(position, Math.min(CHUNK_BYTES, to - position));
    if (piece.kind !== 'bytes') return;
    yield { bytes: piece.bytes, position };
    position += piece.bytes.length;
  }
}
