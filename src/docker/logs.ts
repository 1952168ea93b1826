/**
 * What a container writes. Each message comes with the Engine's time in front, which is taken off again: messages of 16 KiB are
 * parts of one long line, and nobody wants times in the middle of it.
 */
import type { Deed, EngineClient } from './ports.ts';
import { type Caller, isUnreachable, unreachable } from './caller.ts';
import { deed } from './action.ts';
import { demultiplexer } from './exec/demultiplexer.ts';
import { inspect } from './inspect.ts';
import { timedMessages } from './timed-messages.ts';

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
): Promise<Deed> {
  // Only this says whether the stream is in frames: older Engines send no content type.
  const inspection = await inspect(caller, id, signal);
  if (inspection.kind !== 'found') return inspection;
  const messages = timedMessages({ ...options, now });
  const stream = inspection.setup.tty ? lineByLine(messages.push) : demultiplexer(messages.push);
  const onPiece = (piece: Buffer) => {
    stream.push(piece);
    return messages.told();
  };
  const query = new URLSearchParams({ stdout: '1', stderr: '1', timestamps: '1', follow: options.follow ? '1' : '0' });
  if (options.last !== undefined) query.set('tail', `${options.last}`);
  if (options.after !== null) query.set('since', sinceOf(options.after));
  const answer = await caller({ path: `/containers/${encodeURIComponent(id)}/logs?${query}`, onPiece }, signal);
  if (isUnreachable(answer) || answer.status !== 200) return deed(answer, { of: id });
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
