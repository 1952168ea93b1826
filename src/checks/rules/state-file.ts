/** What a file that an orchestrator writes about itself means: `{ "status": "working", "task": "3.2" }`. */
import type { CheckQuestion, CheckResult } from '../spec.ts';
import { failed, ok } from './results.ts';

type StateFile = Extract<CheckQuestion, { kind: 'state_file' }>;

/** In these words an orchestrator says itself that it is not well. */
const BAD: ReadonlySet<string> = new Set(['failed', 'failure', 'error', 'crashed', 'dead', 'unhealthy']);
const MAX_WORD_CHARS = 200;

export function missingState({ path, idleWhenMissing }: StateFile): CheckResult {
  return idleWhenMissing ? ok('idle') : failed(`there is no ${path}`);
}

/** Null: the text is no JSON, which may be because it is being written right now. */
export function judgeState(text: string, { path, statusField, taskField }: StateFile): CheckResult | null {
  const document = parse(text);
  if (document === undefined) return null;
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    return failed(`${path} is not a JSON object`);
  const fields = document as Readonly<Record<string, unknown>>;
  const status = word(fields[statusField]);
  if (status === null) return failed(`${path} has no text in its field "${statusField}"`);
  const task = word(fields[taskField]);
  const said = task === null ? status : status === 'working' ? `working on task ${task}` : `${status} (task ${task})`;
  return BAD.has(status.toLowerCase()) ? failed(`it says of itself: ${said}`) : ok(said);
}

export const notJson = ({ path }: StateFile): CheckResult => failed(`${path} is not valid JSON`);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Texts and numbers, as one short line; a task is as often 3 as "3.2". Null: nothing that could be shown. */
function word(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const line = String(value)
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
    .trim();
  if (line === '') return null;
  return line.length > MAX_WORD_CHARS ? `${line.slice(0, MAX_WORD_CHARS)}…` : line;
}
