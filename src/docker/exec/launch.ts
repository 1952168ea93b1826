/**
 * Begins a command in a container that goes on without us, and listens to it for as long as that works. A connection that is cut while
 * it prints turns the exit code in the Engine's record into another one, and the end of the stream proves nothing: what matters the
 * command must write down itself.
 */

import { type Caller, isUnreachable } from '../caller.ts';
import { fieldsOf, parseJson } from '../json.ts';
import type { EngineClient, ExecState, Launched } from '../ports.ts';
import { demultiplexer } from './demultiplexer.ts';
import { ended, execRecord, neverRan, refusal } from './exec.ts';

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
