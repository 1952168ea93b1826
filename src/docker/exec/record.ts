/** What the Engine has written down about a command in a container: GET /exec/ID/json. */
import type { Unreachable } from '../ports.ts';
import { type Caller, isUnreachable, odd } from '../caller.ts';
import { fieldsOf, parseJson } from '../json.ts';

/** How long the record is left alone between two looks. */
export const POLL_MS = 50;

export interface ExecRecord {
  readonly kind: 'record';
  /** Null: it has not ended, or not begun. */
  readonly exitCode: number | null;
  /** On the Engine's machine; 0: it has never had a process, or, with Podman, has none any more. */
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

/** The codes of a program that could not be run; a shell in the container uses them as well. */
const START_CODES: ReadonlySet<number> = new Set([126, 127]);
/** "OCI runtime exec failed: …", "…: OCI permission denied": what the runtime has to say, and no program. */
const RUNTIME = /\bOCI (runtime|permission)|unable to start container process/i;

/**
 * A program that never ran has an exit code all the same, and its output is the Engine's complaint. The pid alone does not tell:
 * Podman forgets it when the program has ended.
 */
export const neverRan = ({ pid, exitCode }: ExecRecord, output: string): boolean =>
  pid === 0 && exitCode !== null && START_CODES.has(exitCode) && RUNTIME.test(output);

export const ended = (record: ExecRecord): record is ExecRecord & { readonly exitCode: number } =>
  !record.running && record.exitCode !== null;
