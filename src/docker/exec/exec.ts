/**
 * Runs a command in a container, and ends it when its time is over. The exit code comes from the Engine's own record and never
 * from the end of the stream: that ends, too, when the Engine dies. The connection is not "upgraded", there is nothing to send.
 */

import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import { after } from '../../base/pure/ids.ts';
import { type Answer, type Caller, isUnreachable, odd, unreachable } from '../caller.ts';
import { fieldsOf, parseJson, parseMessage } from '../json.ts';
import type { EngineClient, ExecBytes, ExecResult, ExecState, Launched, Unreachable } from '../ports.ts';

/** More of what a command says is read and thrown away, so that it is not held up by its own output. */
export const MAX_OUTPUT_BYTES = 2 ** 16;

/** Mostly the record is late by a few milliseconds only. */
const FIRST_POLL_MS = 2;

type NotExited = Exclude<ExecResult, { kind: 'exited' | 'called-off' }>;

interface ExecParts {
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
function refusal(answer: Answer): NotExited {
  return answer.status < 500 ? { kind: 'not-started', why: parseMessage(answer.body) } : odd(answer);
}

// What the Engine has written down about a command in a container: GET /exec/ID/json.

/** How long the record is left alone between two looks. */
const POLL_MS = 50;

interface ExecRecord {
  readonly kind: 'record';
  /** Null: it has not ended, or not begun. */
  readonly exitCode: number | null;
  /** On the Engine's machine; 0: it has never had a process, or, with Podman, has none any more. */
  readonly pid: number;
  readonly running: boolean;
}

async function execRecord(caller: Caller, id: string, signal: AbortSignal): Promise<ExecRecord | Unreachable> {
  const answer = await caller({ path: `/exec/${id}/json` }, signal);
  if (isUnreachable(answer)) return answer;
  const { ExitCode: exitCode, Pid: pid, Running: running } = fieldsOf(parseJson(answer.body)) ?? {};
  if (answer.status !== 200 || typeof pid !== 'number' || typeof running !== 'boolean') return odd(answer);
  return { kind: 'record', exitCode: typeof exitCode === 'number' ? exitCode : null, pid, running };
}

/** The codes of a program that could not be run; a shell in the container uses them as well. */
const START_CODES: ReadonlySet<number> = new Set([126, 127]);
/** "OCI runtime exec failed: …", "…: OCI permission denied": what the runtime has to say, and no program. */
const RUNTIME = /\bOCI (runtime|permission)|unable to start container process/i;

/**
 * A program that never ran has an exit code all the same, and its output is the Engine's complaint. The pid alone does not tell:
 * Podman forgets it when the program has ended.
 */
const neverRan = ({ pid, exitCode }: ExecRecord, output: string): boolean =>
  pid === 0 && exitCode !== null && START_CODES.has(exitCode) && RUNTIME.test(output);

const ended = (record: ExecRecord): record is ExecRecord & { readonly exitCode: number } =>
  !record.running && record.exitCode !== null;

// Ends a command whose time is over, and finds out whether that worked.

/** It is dead as soon as it has its signal; a busy Engine takes a moment to notice. */
const CLEAR_WITHIN_MS = 2_000;

interface ClearParts {
  readonly caller: Caller;
  readonly clock: Clock;
}

/** Null: it has ended. A sentence says what is left. Never rejects. */
async function clearAway(
  { caller, clock }: ClearParts,
  id: string,
  mark: string,
): Promise<string | null | Unreachable> {
  const over = new AbortController();
  const deadline = after(clock.now(), CLEAR_WITHIN_MS);
  clock.sleepUntil(deadline, over.signal).then(
    () => over.abort(),
    () => {}, // ended in time
  );
  let last: ExecRecord | null = null;
  try {
    // Again and again: the Engine may be about to start it, and a process may be about to have children.
    for (;;) {
      const found = await killMarked(mark);
      const record = await execRecord(caller, id, over.signal);
      if (record.kind === 'unreachable') return record;
      if (ended(record) && found === 0) return null;
      last = record;
      await clock.sleepUntil(after(clock.now(), POLL_MS), over.signal);
    }
  } catch {
    if (last === null) return unreachable('the Docker Engine did not answer in time');
    if (ended(last) || (last.pid === 0 && !last.running)) return null; // it has ended, or was never started
    return `its process ${last.pid} is still there and not ours to end: end it as root, or restart the container`;
  } finally {
    over.abort();
  }
}

// Begins a command in a container that goes on without us, and listens to it for as long as that works. A connection that is cut while it
// prints turns the exit code in the Engine's record into another one, and the end of the stream proves nothing: what matters the command
// must write down itself.

export async function launch(
  caller: Caller,
  container: string,
  command: readonly string[],
  { env, greeting, maxBytes }: Parameters<EngineClient['launch']>[2],
  signal: AbortSignal,
): Promise<Launched> {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const body = { Cmd: command, Env: variables, AttachStdout: true, AttachStderr: true };
  const path = `/containers/${encodeURIComponent(container)}/exec`;
  const created = await caller({ method: 'POST', path, body }, signal);
  if (isUnreachable(created)) return created;
  const id = fieldsOf(parseJson(created.body))?.['Id'];
  if (created.status !== 201 || typeof id !== 'string') return refusal(created);

  const heard = listener(greeting, maxBytes);
  const start = { method: 'POST', path: `/exec/${id}/start`, body: { Detach: false, Tty: false } } as const;
  const stream = caller({ ...start, onPiece: heard.push }, signal);
  const said = stream.then(heard.rest, heard.rest);
  const early = await Promise.race([heard.greeted, stream]);
  if (early === 'greeted' || heard.isGreeted) return { kind: 'launched', exec: id, said };
  if (isUnreachable(early)) return early;
  if (early.status !== 200) return refusal(early);
  // The Engine accepts before it tries: a program that never ran leaves its complaint on the stream.
  const record = await execRecord(caller, id, signal);
  if (record.kind === 'unreachable') return record;
  // Its record may be late by a moment.
  const isUnbegun = record.pid === 0 && !ended(record);
  if (isUnbegun || neverRan(record, heard.text())) return { kind: 'not-started', why: heard.text().trim() };
  return { kind: 'launched', exec: id, said };
}

export async function execState(caller: Caller, exec: string, signal: AbortSignal): Promise<ExecState> {
  const record = await execRecord(caller, exec, signal);
  if (record.kind === 'unreachable') return record;
  return ended(record) ? { kind: 'ended', code: record.exitCode } : { kind: 'running' };
}

function listener(greeting: string, maxBytes: number) {
  const hello = Buffer.from(greeting);
  const kept: Buffer[] = [];
  let room = hello.length + maxBytes;
  let isGreeted = false;
  let greet: (word: 'greeted') => void = () => {};
  const greeted = new Promise<'greeted'>((resolve) => {
    greet = resolve;
  });
  const all = () => Buffer.concat(kept);
  const frames = demultiplexer((bytes) => {
    if (room > 0) kept.push(Buffer.from(bytes.subarray(0, room)));
    room -= bytes.length;
    if (isGreeted || !all().subarray(0, hello.length).equals(hello)) return;
    isGreeted = true;
    greet('greeted');
  });
  return {
    greeted,
    get isGreeted() {
      return isGreeted;
    },
    push: (piece: Buffer) => frames.push(piece),
    text: () => all().toString('utf8'),
    rest: () => all().subarray(isGreeted ? hello.length : 0),
  };
}

// Ends what a command in a container has started, from outside: the Engine has no call for that. The processes are found by the mark that
// the command was given as a variable, which all its children inherit, and each is asked for the mark right before its signal. So nothing
// else is ever hit: not a successor of the same pid, and not a process of the container itself. It reaches only processes that this user
// may look into: as root all of them, else only those of the same user. Where the Engine runs elsewhere (a virtual machine, another pid
// namespace) there is nothing of it in /proc, and nothing is done.

/** Looking through thousands of processes must not hold up everybody else. */
const PAUSE_AFTER_MS = 8;

/** `mark`: NAME=VALUE. Says how many there were. */
export async function killMarked(mark: string): Promise<number> {
  let found = 0;
  let began = performance.now();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    if (performance.now() - began > PAUSE_AFTER_MS) {
      await turn();
      began = performance.now();
    }
    if (!hasMark(name, mark)) continue;
    found++;
    kill(Number(name));
  }
  return found;
}

function hasMark(pid: string, mark: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`.includes(`\0${mark}\0`);
  } catch {
    return false; // gone, or not for us
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // gone meanwhile
  }
}

// Takes the stream of a command apart: frames of eight bytes (which of its outputs, three zeros, the length) and that many bytes.
// Pieces arrive cut anywhere, a header included; each byte is looked at once, however small the frames are.

interface Demultiplexer {
  /** Throws when it is no such stream. */
  push(piece: Buffer): void;
  /** Between two frames, where alone a stream may end. */
  readonly isWhole: boolean;
}

const HEADER_BYTES = 8;
/** 0 stdin, 1 stdout, 2 stderr, 3 what the Engine itself has to say. */
const LAST_OUTPUT = 3;

/** `isFirst`: a frame begins with these bytes. `output`: which one it is of. */
export function demultiplexer(onOutput: (bytes: Buffer, isFirst: boolean, output: number) => void): Demultiplexer {
  const header = Buffer.alloc(HEADER_BYTES);
  let headerBytes = 0;
  let left = 0;
  let isFirst = false;
  return {
    push(piece) {
      for (let at = 0; at < piece.length; ) {
        if (left > 0) {
          const bytes = piece.subarray(at, at + left);
          onOutput(bytes, isFirst, header[0]!);
          isFirst = false;
          at += bytes.length;
          left -= bytes.length;
          continue;
        }
        const copied = piece.copy(header, headerBytes, at);
        at += copied;
        headerBytes += copied;
        if (headerBytes < HEADER_BYTES) return;
        if (header[0]! > LAST_OUTPUT || header.readUIntBE(1, 3) !== 0) throw new Error('no stream of frames');
        left = header.readUInt32BE(4);
        headerBytes = 0;
        isFirst = true;
      }
    },
    get isWhole() {
      return left === 0 && headerBytes === 0;
    },
  };
}
