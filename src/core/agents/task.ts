/** The text of a task: what it may be, and how it gets into a command without ever becoming more than one argument. */

import type { ProcessSpec } from '../component.ts';
import { AppError } from '../errors.ts';

export const TASK = '{task}';

/** Far below what one argument may be, and enough for any id. */
export const MAX_TASK_BYTES = 1_024;

/** Throws AGENT_TASK_INVALID. */
export function checkTask(task: string): string {
  if (task === '') throw new AppError('AGENT_TASK_INVALID', { problem: 'It is empty.' });
  if (task.includes('\0'))
    throw new AppError('AGENT_TASK_INVALID', { problem: 'It contains a NUL character, which no argument can.' });
  const bytes = utf8Length(task);
  if (bytes > MAX_TASK_BYTES)
    throw new AppError('AGENT_TASK_INVALID', {
      problem: `It is ${bytes} bytes long; at most ${MAX_TASK_BYTES} are allowed.`,
    });
  return task;
}

/** Every element stays one element; what the task contains is not looked at. */
export function withTask(of: ProcessSpec, task: string): ProcessSpec {
  const fill = (text: string): string => text.split(TASK).join(task);
  const env = Object.fromEntries(Object.entries(of.env).map(([name, value]) => [name, fill(value)]));
  return { ...of, command: of.command.map(fill), env };
}

/** These read the argument after such an option as a program. */
const INTERPRETER =
  /^(?:(?:ba|da|z|k|mk|fi|a|c|tc)?sh|python[\d.]*|pypy[\d.]*|node|nodejs|deno|bun|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua[\d.]*|pwsh|powershell)$/;
const PROGRAM_OPTION = /^(?:-\w*[cerEp]|--eval|--print|--command|-Command|--require|eval)$/;
/** These run what follows them. */
const WRAPPER =
  /^(?:env|nice|nohup|setsid|stdbuf|timeout|sudo|doas|busybox|uv|poetry|pipenv|npx|run|exec|-.*|\w+=.*|\d[\d.]*[smhd]?)$/;

/** The element in which an interpreter would read the task as code, as in `[sh, -c, "echo {task}"]`; null: none. */
export function taskInCode(argv: readonly string[]): number | null {
  const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
  const start = argv.findIndex((part) => !WRAPPER.test(lastPart(part)));
  if (start < 0 || !INTERPRETER.test(lastPart(argv[start]!))) return null;
  for (let index = start + 1; index < argv.length; index++) {
    const isCode = PROGRAM_OPTION.test(argv[index - 1]!);
    if (isCode && argv[index]!.includes(TASK)) return index;
    // Behind the first word that is no option, all is said to the program itself.
    if (!isCode && !argv[index]!.startsWith('-') && !PROGRAM_OPTION.test(argv[index]!)) return null;
  }
  return null;
}

/** Without `node:` here: counted as it would be written. */
function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}
