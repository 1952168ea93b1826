/**
 * Why a command cannot be started, found out before trying. The kernel says ENOENT for a missing command, a missing
 * interpreter and a missing working directory alike; people need to know which.
 */
import { readFileSync, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { errorCode, machineFault } from '../../base/pure/errno.ts';
import type { SpawnProblem } from '../../base/pure/exit.ts';
import type { ProcessLaunch } from '../../supervision/ports/driver.ts';
import { type Eyes, OWN_EYES } from './account/eyes.ts';
import { executableProblem } from './command/executable.ts';
import { permanent, problemOfError } from './command/spawn-problem.ts';

export type Command = Pick<ProcessLaunch, 'command' | 'cwd' | 'env'>;

/** What execvp(3) uses when the environment has no PATH. */
const DEFAULT_PATH = '/bin:/usr/bin';

/** The first problem found, or null when nothing stands in the way of a start. `eyes`: of whoever it will run as. */
export function precheck(launch: Command, eyes: Eyes = OWN_EYES): SpawnProblem | null {
  try {
    return nulProblem(launch) ?? cwdProblem(launch.cwd, eyes) ?? commandProblem(launch, eyes) ?? tooLong(launch);
  } catch (error) {
    return problemOfError(error); // a fault of the machine: nothing can be said about the command
  }
}

function nulProblem({ command, env, cwd }: Command): SpawnProblem | null {
  const texts = [...command, ...Object.entries(env).flat(), cwd];
  if (!texts.some((text) => text.includes('\0'))) return null;
  return permanent('other', 'the command, its environment or its working directory contains a NUL byte');
}

function cwdProblem(cwd: string, eyes: Eyes): SpawnProblem | null {
  const kind = kindOf(cwd);
  if (kind === 'missing') return permanent('cwd-missing', `the working directory ${cwd} does not exist`);
  if (kind === 'file' || kind === 'other')
    return permanent('cwd-not-a-directory', `the working directory ${cwd} is not a directory`);
  const obstacle = kind === 'forbidden' ? 'may not be entered' : eyes.toEnter(cwd);
  return obstacle === null ? null : permanent('cwd-permission', `the working directory ${cwd} ${obstacle}`);
}

function commandProblem(launch: Command, eyes: Eyes): SpawnProblem | null {
  const [name] = launch.command;
  if (!name) return permanent('command-not-found', 'the command is empty');
  const found = name.includes('/') ? resolve(launch.cwd, name) : lookUp(name, launch, eyes);
  if (found === null) return permanent('command-not-found', `no such command: "${name}" (looked in PATH)`);
  const isCommand = (other: string): boolean => lookUp(other, launch, eyes) !== null;
  return fileProblem(name, found, eyes) ?? executableProblem(name, found, isCommand);
}

function fileProblem(name: string, path: string, eyes: Eyes): SpawnProblem | null {
  const kind = kindOf(path);
  const named = name === path ? `"${name}"` : `"${name}" (${path})`;
  if (kind === 'missing') return permanent('command-not-found', `no such command: ${named}`);
  if (kind === 'directory') return permanent('command-is-a-directory', `${named} is a directory, not a command`);
  if (kind === 'other') return permanent('bad-executable', `${named} is no file: a pipe, a socket or a device`);
  if (kind === 'forbidden') return permanent('command-permission', `${named} may not be reached`);
  const obstacle = eyes.toExecute(path);
  return obstacle === null ? null : permanent('command-permission', `${named} ${obstacle}`);
}

/**
 * Like execvp(3), in the PATH that the command itself will have: what cannot be executed is passed over. When nothing can,
 * a file that merely lacks the permission is still the better answer than "not found".
 */
function lookUp(name: string, { cwd, env }: Command, eyes: Eyes): string | null {
  let second: string | null = null;
  for (const directory of (env['PATH'] ?? DEFAULT_PATH).split(delimiter)) {
    const path = join(resolve(cwd, directory || '.'), name);
    if (kindOf(path) !== 'file') continue;
    if (eyes.toExecute(path) === null) return path;
    second ??= path;
  }
  return second;
}

type Kind = 'file' | 'directory' | 'other' | 'missing' | 'forbidden';

function kindOf(path: string): Kind {
  try {
    const found = statSync(path);
    if (found.isDirectory()) return 'directory';
    return found.isFile() ? 'file' : 'other';
  } catch (error) {
    if (machineFault(error)) throw error;
    return errorCode(error) === 'EACCES' ? 'forbidden' : 'missing';
  }
}

// The kernel's limits for the arguments and the environment of a new program, told before they are hit.

/** MAX_ARG_STRLEN: 32 pages of 4 KiB, for one string with its closing NUL. */
const MAX_STRING_BYTES = 128 * 1024;
/** All of it together may take a quarter of the stack limit, but never more than this (3/4 of _STK_LIM). */
const MAX_TOTAL_BYTES = 6 * 1024 * 1024;
const DEFAULT_STACK_BYTES = 8 * 1024 * 1024;
const POINTER_BYTES = 8;
/** The shim's own arguments, and what shells add to the environment. */
const SPARE_BYTES = 16 * 1024;

type Strings = Pick<ProcessLaunch, 'command' | 'env'>;

export function tooLong({ command, env }: Strings): SpawnProblem | null {
  let total = SPARE_BYTES;
  const oversized = (text: string): boolean => {
    const bytes = Buffer.byteLength(text) + 1;
    total += bytes + POINTER_BYTES;
    return bytes > MAX_STRING_BYTES;
  };
  for (const [index, argument] of command.entries()) {
    if (oversized(argument)) return problem(`argument ${index} of the command is longer than the 128 KiB Linux allows`);
  }
  for (const [name, value] of Object.entries(env)) {
    if (oversized(`${name}=${value}`)) return problem(`the variable ${name} is longer than the 128 KiB Linux allows`);
  }
  const limit = Math.min(MAX_TOTAL_BYTES, stackBytes() / 4);
  if (total <= limit) return null;
  return problem(`the command and its environment take ${total} bytes; Linux allows ${limit} here`);
}

const problem = (message: string): SpawnProblem => permanent('arguments-too-long', message);

/** The soft limit, which a child inherits. */
function stackBytes(): number {
  try {
    const [, soft] = /^Max stack size\s+(\w+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft) || DEFAULT_STACK_BYTES;
  } catch {
    return DEFAULT_STACK_BYTES;
  }
}
