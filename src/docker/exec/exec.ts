/**
 * Runs a command in a container, and ends it when its time is over. The exit code comes from the Engine's own record and never
 * from the end of the stream: that ends, too, when the Engine dies. The connection is not "upgraded", there is nothing to send.
 */
import { randomUUID } from 'node:crypto';
import { after } from '../../base/pure/ids.ts';
import type { Clock } from '../../base/clock.ts';
import type { ExecBytes, ExecResult } from '../ports.ts';
import { type Answer, type Caller, isUnreachable, odd, unreachable } from '../caller.ts';
import { fieldsOf, parseJson, parseMessage } from '../json.ts';
import { clearAway } from './clear-away.ts';
import { demultiplexer } from './demultiplexer.ts';
import { ended, execRecord, neverRan, POLL_MS } from './record.ts';

/** More of what a command says is read and thrown away, so that it is not held up by its own output. */
export const MAX_OUTPUT_BYTES = 2 ** 16;

/** Mostly the record is late by a few milliseconds only. */
const FIRST_POLL_MS = 2;

type NotExited = Exclude<ExecResult, { kind: 'exited' | 'called-off' }>;

export interface ExecParts {
  readonly caller: Caller;
  readonly clock: Clock;
}

export async function exec(
  parts: ExecParts,
  container: string,
  command: readonly string[],
  signal: AbortSignal,
): Promise<ExecResult> {
  const result = await execBytes(parts, container, command, MAX_OUTPUT_BYTES, signal);
  if (result.kind !== 'exited') return result;
  return { kind: 'exited', code: result.code, output: result.bytes.toString('utf8') };
}

export async function execBytes(
  parts: ExecParts,
  container: string,
  command: readonly string[],
  maxBytes: number,
  signal: AbortSignal,
): Promise<ExecBytes> {
  const mark = `KEEPWELL_EXEC=${randomUUID()}`;
  let id: string | null = null;
  try {
    const created = await create(parts.caller, container, command, mark, signal);
    if (typeof created !== 'string') return created;
    id = created;
    const result = await run(parts, id, maxBytes, signal);
    // Whether it has ended is not known then.
    if (result.kind === 'unreachable') await clearAway(parts, id, mark);
    return result;
  } catch (error) {
    if (!signal.aborted) throw error;
    // What was made and never started does nothing: the Engine forgets it by itself.
    if (id === null) return unreachable('the Docker Engine did not answer in time');
    const left = await clearAway(parts, id, mark);
    return typeof left === 'object' && left !== null ? left : { kind: 'called-off', left };
  }
}

/** Its id. */
async function create(
  caller: Caller,
  container: string,
  command: readonly string[],
  mark: string,
  signal: AbortSignal,
): Promise<string | NotExited> {
  const body = { Cmd: command, AttachStdout: true, AttachStderr: true, Env: [mark] };
  const path = `/containers/${encodeURIComponent(container)}/exec`;
  const answer = await caller({ method: 'POST', path, body }, signal);
  if (isUnreachable(answer)) return answer;
  if (answer.status !== 201) return refusal(answer);
  const id = fieldsOf(parseJson(answer.body))?.['Id'];
  return typeof id === 'string' ? id : odd(answer);
}

async function run(
  { caller, clock }: ExecParts,
  id: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<ExecBytes> {
  const kept: Buffer[] = [];
  let room = maxBytes;
  const frames = demultiplexer((bytes) => {
    if (room > 0) kept.push(Buffer.from(bytes.subarray(0, room)));
    room -= bytes.length;
  });
  const call = { method: 'POST', path: `/exec/${id}/start`, body: { Detach: false, Tty: false } } as const;
  const answer = await caller({ ...call, onPiece: (piece) => frames.push(piece) }, signal);
  if (isUnreachable(answer)) return answer;
  if (answer.status !== 200) return refusal(answer);
  if (!frames.isWhole) return unreachable('the Docker Engine cut off what a command in the container said');
  const bytes = Buffer.concat(kept);
  for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(POLL_MS, pauseMs * 2)) {
    const record = await execRecord(caller, id, signal);
    if (record.kind === 'unreachable') return record;
    if (ended(record)) {
      const output = bytes.toString('utf8', 0, MAX_OUTPUT_BYTES);
      if (neverRan(record, output)) return { kind: 'not-started', why: output.trim() };
      return { kind: 'exited', code: record.exitCode, bytes };
    }
    // The record is written a moment after the stream has ended.
    await clock.sleepUntil(after(clock.now(), pauseMs), signal);
  }
}

/** A refusal below 500 is about the container: it is gone, it does not run, it has no such program. */
export function refusal(answer: Answer): NotExited {
  return answer.status < 500 ? { kind: 'not-started', why: parseMessage(answer.body) } : odd(answer);
}
