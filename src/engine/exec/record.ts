/** What the Engine has written down about a command in a container: GET /exec/ID/json. */
import type { Unreachable } from '../../ports/engine.ts';
import { type Caller, isUnreachable, odd } from '../caller.ts';
import { fieldsOf, parseJson } from '../json.ts';

/** How long the record is left alone between two looks. */
export const POLL_MS = 50;

export interface ExecRecord {
  readonly kind: 'record';
  /** Null: it has not ended, or not begun. */
  readonly exitCode: number | null;
  /** On the Engine's machine; 0: it has never had a process. */
  readonly pid: number;
  readonly running: boolean;
}

export async function execRecord(caller: Caller, id: string, signal: AbortSignal): Promise<ExecRecord | Unreachable> {
  const answer = await caller({ path: `/exec/${id}/json` }, signal);
  if (isUnreachable(answer)) return answer;
  const { ExitCode: exitCode, Pid: pid, Running: running } = fieldsOf(parseJson(answer.body)) ?? {};
  if (answer.status !== 200 || typeof pid !== 'number' || typeof running !== 'boolean') return odd(answer);
  return { kind: 'record', exitCode: typeof exitCode === 'number' ? exitCode : null, pid, running };
}

export const ended = (record: ExecRecord): record is ExecRecord & { readonly exitCode: number } =>
  !record.running && record.exitCode !== null;
