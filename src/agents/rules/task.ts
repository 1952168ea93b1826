/** The text of a task: what it may be, and how it gets into a command without ever becoming more than one argument. */

import { AppError } from '../../base/pure/errors.ts';
import { shortHash } from '../../base/pure/hash.ts';
import { type ComponentName, componentName } from '../../base/pure/ids.ts';
import type { HeartbeatSpec } from '../../supervision/rules/freeze/heartbeat.ts';
import type { ProcessSpec } from '../../supervision/spec.ts';

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

const fill = (text: string, task: string): string => text.split(TASK).join(task);

/** Every element stays one element; what the task contains is not looked at. */
export function withTask(of: ProcessSpec, task: string): ProcessSpec {
  const env = Object.fromEntries(Object.entries(of.env).map(([name, value]) => [name, fill(value, task)]));
  return { ...of, command: of.command.map((part) => fill(part, task)), env };
}

/** Each task may have a file of its own to beat in. */
export function heartbeatWithTask(of: HeartbeatSpec, task: string): HeartbeatSpec {
  const { source } = of;
  return source.kind === 'file' ? { ...of, source: { ...source, path: fill(source.path, task) } } : of;
}

/** Throws AGENT_TASK_INVALID: such a task would have a file looked at that nobody meant. */
export function checkHeartbeatTask(heartbeat: HeartbeatSpec | null, task: string): void {
  if (heartbeat?.source.kind !== 'file' || !heartbeat.source.path.includes(TASK)) return;
  if (heartbeatFileParts(heartbeat.source.path, task).includes('..'))
    throw new AppError('AGENT_TASK_INVALID', { problem: 'It would lead the heartbeat file out of its folder.' });
}

const heartbeatFileParts = (path: string, task: string): readonly string[] => fill(path, task).split('/');

/** These read the argument after such an option as a program. */
const INTERPRETER =
  /^(?:(?:ba|da|z|k|mk|fi|a|c|tc)?sh|python[\d.]*|pypy[\d.]*|node|nodejs|deno|bun|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua[\d.]*|pwsh|powershell)$/;
const PROGRAM_OPTION = /^(?:-\w*[cerEp]|--eval|--print|--command|-Command|--require|eval)$/;
/** The program is glued to the option. */
const PROGRAM_IN_OPTION = /^(?:-[cerEp]|--(?:eval|print|command)=)/;
/** These have a value behind them that is neither a program nor the name of one. */
const VALUE_OPTION = /^(?:[-+][oO]|-[XWIC]|--import|--loader)$/;
/** These run what follows them, behind words of their own. */
const WRAPPER =
  /^(?:env|nice|nohup|setsid|stdbuf|timeout|sudo|doas|runuser|chroot|nsenter|flock|xargs|busybox|uv|poetry|pipenv|npx|docker|podman|kubectl)$/;

/** The element in which an interpreter would read the task as code, as in `[sh, -c, "echo {task}"]`, and which one; null: none. */
export function taskInCode(argv: readonly string[]): { readonly at: number; readonly reader: string } | null {
  const isInterpreter = (part: string | undefined): boolean => INTERPRETER.test(lastPart(part ?? ''));
  const isWrapped = WRAPPER.test(lastPart(argv[0] ?? ''));
  const start = isWrapped ? argv.findIndex((part, index) => index > 0 && isInterpreter(part)) : 0;
  if (!isInterpreter(argv[start])) return null;
  for (let index = start + 1; index < argv.length; index++) {
    const [before, part] = [argv[index - 1]!, argv[index]!];
    const isCode = PROGRAM_OPTION.test(before);
    if ((isCode || PROGRAM_IN_OPTION.test(part)) && part.includes(TASK)) return { at: index, reader: argv[start]! };
    // Behind the first word that is no option, all is said to the program itself.
    const isOption = part.startsWith('-') || PROGRAM_OPTION.test(part) || VALUE_OPTION.test(part);
    if (!isCode && !isOption && !VALUE_OPTION.test(before)) return null;
  }
  return null;
}

const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Without `node:` here: counted as it would be written. */
function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

// What an agent is called: always the same for the same type and task, and fit for file names and run ids.

const MAX_NAME = 63;

/** "architect-spec-111-1f0c2a9b7d3e4455": readable first, unmistakable by its end. */
export function agentName(type: string, task: string): ComponentName {
  const end = `-${shortHash(`${type}\n${task}`)}`;
  const readable = `${type}-${task.slice(0, MAX_NAME)}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_NAME - end.length)
    .replace(/-+$/, '');
  return componentName(`${readable}${end}`);
}
