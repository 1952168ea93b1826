/**
 * What a container writes. Each message comes with the Engine's time in front, which is taken off again: messages of 16 KiB are
 * parts of one long line, and nobody wants times in the middle of it.
 */

import { actionResult, type Caller, isUnreachable, unreachable } from './caller.ts';
import { inspect } from './container.ts';
import { demultiplexer } from './exec/exec.ts';
import type { ActionResult, EngineClient } from './ports.ts';

const LINE_BREAK = 0x0a;

export interface LogsParts {
  readonly caller: Caller;
  /** Wall time, epoch milliseconds. */
  now(): number;
}

type LogOptions = Parameters<EngineClient['logs']>[1];

export async function logs(
  { caller, now }: LogsParts,
  id: string,
  options: LogOptions,
  signal: AbortSignal,
): Promise<ActionResult> {
  // Only this says whether the stream is in frames: older Engines send no content type.
  const inspection = await inspect(caller, id, signal);
  if (inspection.kind !== 'found') return inspection;
  const { tty, logRotation } = inspection.setup;
  const messages = timedMessages({ ...options, onFirst: (at) => options.onFirst?.(at, logRotation), now });
  const stream = tty ? lineByLine(messages.push) : demultiplexer(messages.push);
  const onPiece = (piece: Buffer) => {
    stream.push(piece);
    return messages.told();
  };
  const query = new URLSearchParams({ stdout: '1', stderr: '1', timestamps: '1', follow: options.follow ? '1' : '0' });
  if (options.last !== undefined) query.set('tail', `${options.last}`);
  if (options.after !== null) query.set('since', sinceOf(options.after));
  const answer = await caller({ path: `/containers/${encodeURIComponent(id)}/logs?${query}`, onPiece }, signal);
  if (isUnreachable(answer) || answer.status !== 200) return actionResult(answer, { of: id });
  return stream.isWhole ? { kind: 'done' } : unreachable('the Docker Engine cut off what the container writes');
}

/** The Engine wants seconds with their fraction: "1767323045.678901234". */
function sinceOf(time: string): string {
  const [, fraction = '0'] = /\.(\d+)/.exec(time) ?? [];
  return `${Math.floor(Date.parse(time) / 1_000)}.${fraction}`;
}

/** With a terminal there are no frames: a message is a line. */
function lineByLine(onOutput: (bytes: Buffer, isFirst: boolean, output: number) => void) {
  let isFirst = true;
  return {
    isWhole: true,
    push: (piece: Buffer) => {
      for (let from = 0; from < piece.length; ) {
        const lineBreak = piece.indexOf(LINE_BREAK, from);
        const to = lineBreak === -1 ? piece.length : lineBreak + 1;
        onOutput(piece.subarray(from, to), isFirst, 1);
        isFirst = lineBreak !== -1;
        from = to;
      }
    },
  };
}

// Takes the time off the beginning of each message, and leaves out what was told before: also what the Engine tells twice by itself, when
// it loses its place at the change of its file and begins that file again.

/** "2026-01-02T03:04:05.678901234Z " is 31 bytes; with another time zone some more. */
const MAX_TIME_BYTES = 40;
const SPACE = 0x20;
/** Two clocks may differ by a little. */
const CLOCK_SLACK_MS = 1_000;

export interface TimedMessages {
  /** Throws when a message does not begin with a time. `output`: which one of the container's. */
  push(bytes: Buffer, isFirst: boolean, output: number): void;
  /** Tells what was pushed. Undefined: all of it was taken at once. */
  told(): Promise<void> | undefined;
}

interface Options {
  /** Wall time, epoch milliseconds: of a clock that was set back, what is new is older than what was told. */
  readonly now: () => number;
  readonly after: string | null;
  readonly onPiece: (piece: Buffer, at: string) => void | Promise<void>;
  /** The time of the first message, also of one that is not told. */
  readonly onFirst?: (at: string) => void;
}

export function timedMessages({ after, onPiece, onFirst, now }: Options): TimedMessages {
  let ready: { readonly bytes: Buffer; readonly at: string }[] = [];
  /** The beginning of a message whose time is not complete yet; null: it is. */
  let head: Buffer | null = null;
  let at = '';
  let isWanted = false;

  /** How far each output was told. Its messages are in order: one reads it. */
  const newest = new Map<number, string>();
  /** Outputs that went back, until they are where they were. */
  const repeating = new Set<number>();

  function isRepeated(text: string, output: number): boolean {
    const last = newest.get(output);
    const isBack = last !== undefined && isLater(last, text);
    const isSetBack = isBack && Date.parse(last) > now() + CLOCK_SLACK_MS;
    if (isBack && !isSetBack) repeating.add(output);
    else if (isSetBack || last === undefined || text !== last) repeating.delete(output);
    if (repeating.has(output)) return true;
    newest.set(output, text);
    return false;
  }

  function begin(bytes: Buffer, output: number): Buffer {
    const end = bytes.indexOf(SPACE);
    if (end === -1 && bytes.length < MAX_TIME_BYTES) {
      head = Buffer.from(bytes);
      return Buffer.alloc(0);
    }
    const text = bytes.subarray(0, Math.max(0, end)).toString('latin1');
    if (end > MAX_TIME_BYTES || Number.isNaN(Date.parse(text))) throw new Error('a message without its time');
    head = null;
    if (at === '') onFirst?.(text);
    isWanted = (after === null || isLater(text, after)) && !isRepeated(text, output);
    // stdout and stderr are read by two: their times may be out of order by a little.
    if (at === '' || isLater(text, at)) at = text;
    return bytes.subarray(end + 1);
  }

  return {
    push: (bytes, isFirst, output) => {
      const rest = isFirst ? begin(bytes, output) : head === null ? bytes : begin(Buffer.concat([head, bytes]), output);
      if (rest.length > 0 && isWanted) ready.push({ bytes: rest, at });
    },
    told: () => {
      const pieces = ready;
      ready = [];
      let busy: Promise<void> | undefined;
      for (const piece of pieces) {
        const tell = () => onPiece(piece.bytes, piece.at);
        busy = busy ? busy.then(tell) : (tell() ?? undefined);
      }
      return busy;
    },
  };
}

/** To the nanosecond, which a Date cannot hold. Times of one Engine are in one time zone; it may leave out zeros at the end. */
export function isLater(one: string, other: string): boolean {
  if (one.length === other.length) return one > other;
  const [a, b] = [split(one), split(other)];
  return a.seconds === b.seconds ? a.fraction > b.fraction : a.seconds > b.seconds;
}

function split(time: string): { readonly seconds: number; readonly fraction: string } {
  const [, fraction = ''] = /\.(\d+)/.exec(time) ?? [];
  return { seconds: Math.floor(Date.parse(time) / 1_000), fraction: fraction.padEnd(9, '0') };
}
