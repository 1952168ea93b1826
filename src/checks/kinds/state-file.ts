/** Reads the file in which an orchestrator says what it is doing. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import { after } from '../../base/pure/ids.ts';
import { failed } from '../rules/results.ts';
import { judgeState, missingState, notJson } from '../rules/state-file.ts';
import type { CheckQuestion, CheckResult } from '../spec.ts';
import { lookAt } from './file-exists.ts';

type StateFile = Extract<CheckQuestion, { kind: 'state_file' }>;

const MAX_BYTES = 1024 * 1024;
/** A writer that does not write by rename leaves half a file for a moment: it is read again after this. */
const SETTLE_MS = 100;

export async function stateFile(question: StateFile, clock: Clock, signal: AbortSignal): Promise<CheckResult> {
  const read = () => lookAt(question.path, () => look(question), signal);
  const first = await read();
  if (first !== null) return first;
  await clock.sleepUntil(after(clock.now(), SETTLE_MS), signal);
  return (await read()) ?? notJson(question);
}

/** Null: what is there is not JSON. */
async function look(question: StateFile): Promise<CheckResult | null> {
  const { path } = question;
  try {
    const text = await readBounded(path);
    return typeof text === 'string' ? judgeState(text, question) : failed(`${path} ${text.problem}`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return missingState(question);
    if (code === 'EACCES' || code === 'EPERM') return failed(`${path} may not be read (permission denied)`);
    return failed(`${path} cannot be read (${code ?? String(error)})`);
  }
}

/** Never waits for a writer, as a pipe would make us, and never reads without end. */
async function readBounded(path: string): Promise<string | { readonly problem: string }> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = await file.stat();
    if (!found.isFile()) return { problem: found.isDirectory() ? 'is a directory' : 'is not a regular file' };
    if (found.size > MAX_BYTES) return { problem: `is larger than ${MAX_BYTES} bytes` };
    const buffer = Buffer.alloc(MAX_BYTES + 1);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
