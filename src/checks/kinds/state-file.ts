/** Reads the file in which an orchestrator says what it is doing. */

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import { after } from '../../base/pure/ids.ts';
import { boolean, leaf, optional, path, text } from '../../config/leaves.ts';
import { readAs, readPath, refuse } from '../../config/readers.ts';
import { textOr } from '../../config/words/argv.ts';
import type { CheckKind, CheckOf } from '../kind.ts';
import { failed } from '../rules/results.ts';
import { judgeState, missingState, notJson } from '../rules/state-file.ts';
import type { CheckResult } from '../spec.ts';
import { lookAt } from './file-exists.ts';

type StateFile = CheckOf<'state_file'>;

const DEFAULT = { idleWhenMissing: false, statusField: 'status', taskField: 'task' };

const map = z
  .strictObject({
    path: path.meta({
      description: 'A JSON file in which a program reports what it does, relative to the folder of the first file.',
      example: 'state.json',
    }),
    idle_when_missing: optional(boolean, {
      description: 'Without the file it is idle, and that is fine.',
      defaultsTo: DEFAULT.idleWhenMissing,
      example: true,
    }),
    status_field: optional(text, {
      description: 'The field that says what it does, such as `working` or `paused`.',
      defaultsTo: DEFAULT.statusField,
      example: 'state',
    }),
    task_field: optional(text, {
      description: 'The field that names the task.',
      defaultsTo: DEFAULT.taskField,
      example: 'task_id',
    }),
  })
  .meta({ id: 'check-state-file' });

const short = leaf<z.output<typeof map>>(
  readAs(readPath, (path) => ({ path })),
  'path',
  { type: 'string', minLength: 1 },
);

const schema = optional(z.union([map, short]), {
  description: 'What an orchestrator reports about itself in a file. Short form: its path.',
  defaultNote: 'none',
  example: { path: 'state.json', idle_when_missing: true },
});

const anyText = textOr('state.json');

export const stateFileKind = {
  schema,
  missing: { path: refuse('the path is missing', 'Write: path: state.json') },
  words: { state: anyText, statefile: anyText, statusfile: anyText },
  resolve: (config, { absolute }) => ({
    kind: 'state_file',
    path: absolute(config.path),
    idleWhenMissing: config.idle_when_missing ?? DEFAULT.idleWhenMissing,
    statusField: config.status_field ?? DEFAULT.statusField,
    taskField: config.task_field ?? DEFAULT.taskField,
  }),
  isPutToTheEngine: () => false,
  ask: (question, { clock }, signal) => stateFile(question, clock, signal),
} satisfies CheckKind<'state_file', typeof schema>;

const MAX_BYTES = 1024 * 1024;
/** A writer that does not write by rename leaves half a file for a moment: it is read again after this. */
const SETTLE_MS = 100;

async function stateFile(question: StateFile, clock: Clock, signal: AbortSignal): Promise<CheckResult> {
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
