/**
 * Begins a command in a container that goes on without us. Its output goes nowhere: a connection that is cut while it prints would
 * turn its exit code into another one. What it has to say it must write down itself.
 */
import type { ExecState, Launched } from '../../ports/engine.ts';
import { type Caller, isUnreachable } from '../caller.ts';
import { fieldsOf, parseJson } from '../json.ts';
import { refusal } from './exec.ts';
import { ended, execRecord } from './record.ts';

/** Of what is begun in a container, as long as `docker exec` waits for it on a busy machine. */
const LAUNCH_WITHIN_MS = 60_000;

export async function launch(
  caller: Caller,
  container: string,
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Launched> {
  const body = { Cmd: command, Env: Object.entries(env).map(([name, value]) => `${name}=${value}`) };
  const path = `/containers/${encodeURIComponent(container)}/exec`;
  const created = await caller({ method: 'POST', path, body }, signal);
  if (isUnreachable(created)) return created;
  const id = fieldsOf(parseJson(created.body))?.['Id'];
  if (created.status !== 201 || typeof id !== 'string') return refusal(created);
  const start = { method: 'POST', path: `/exec/${id}/start`, body: { Detach: true, Tty: false } } as const;
  const begun = await caller({ ...start, timeoutMs: LAUNCH_WITHIN_MS }, signal);
  if (isUnreachable(begun)) return begun;
  return begun.status === 200 ? { kind: 'launched', exec: id } : refusal(begun);
}

export async function execState(caller: Caller, exec: string, signal: AbortSignal): Promise<ExecState> {
  const record = await execRecord(caller, exec, signal);
  if (record.kind === 'unreachable') return record;
  return ended(record) ? { kind: 'ended', code: record.exitCode } : { kind: 'running' };
}
