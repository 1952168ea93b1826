/**
 * Why a command cannot be started, found out before trying. The kernel says ENOENT for a missing command, a missing
 * interpreter and a missing working directory alike; people need to know which.
 */
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { basename, delimiter, join, resolve } from 'node:path';
import { errorCode, machineFault } from '../../base/pure/errno.ts';
import type { SpawnProblem } from '../../base/pure/exit.ts';
import type { ProcessLaunch } from '../../supervision/ports/driver.ts';
import { type FileAccess, OWN_ACCESS } from './account/access.ts';
import { permanent, problemOfError } from './command/spawn-problem.ts';

export type Command = Pick<ProcessLaunch, 'command' | 'cwd' | 'env'>;

/** What execvp(3) uses when the environment has no PATH. */
const DEFAULT_PATH = '/bin:/usr/bin';

/** The first problem found, or null when nothing stands in the way of a start. `access`: of whoever it will run as. */
export function precheck(launch: Command, access: FileAccess = OWN_ACCESS): SpawnProblem | null {
  try {
    return nulProblem(launch) ?? cwdProblem(launch.cwd, access) ?? commandProblem(launch, access) ?? tooLong(launch);
  } catch (error) {
    return problemOfError(error); // a fault of the machine: nothing can be said about the command
  }
}

function nulProblem({ command, env, cwd }: Command): SpawnProblem | null {
  const texts = [...command, ...Object.entries(env).flat(), cwd];
  if (!texts.some((text) => text.includes('\0'))) return null;
  return permanent('other', 'the command, its environment or its working directory contains a NUL byte');
}

function cwdProblem(cwd: string, access: FileAccess): SpawnProblem | null {
  const kind = kindOf(cwd);
  if (kind === 'missing') return permanent('cwd-missing', `the working directory ${cwd} does not exist`);
  if (kind === 'file' || kind === 'other')
    return permanent('cwd-not-a-directory', `the working directory ${cwd} is not a directory`);
  const obstacle = kind === 'forbidden' ? 'may not be entered' : access.toEnter(cwd);
  return obstacle === null ? null : permanent('cwd-permission', `the working directory ${cwd} ${obstacle}`);
}

function commandProblem(launch: Command, access: FileAccess): SpawnProblem | null {
  const [name] = launch.command;
  if (!name) return permanent('command-not-found', 'the command is empty');
  const found = name.includes('/') ? resolve(launch.cwd, name) : lookUp(name, launch, access);
  if (found === null) return permanent('command-not-found', `no such command: "${name}" (looked in PATH)`);
  const isCommand = (other: string): boolean => lookUp(other, launch, access) !== null;
  return fileProblem(name, found, access) ?? executableProblem(name, found, isCommand);
}

function fileProblem(name: string, path: string, access: FileAccess): SpawnProblem | null {
  const kind = kindOf(path);
  const named = name === path ? `"${name}"` : `"${name}" (${path})`;
  if (kind === 'missing') return permanent('command-not-found', `no such command: ${named}`);
  if (kind === 'directory') return permanent('command-is-a-directory', `${named} is a directory, not a command`);
  if (kind === 'other')
    return permanent('bad-executable', `${named} is not a regular file, but a pipe, a socket or a device`);
  if (kind === 'forbidden') return permanent('command-permission', `${named} may not be reached`);
  const obstacle = access.toExecute(path);
  return obstacle === null ? null : permanent('command-permission', `${named} ${obstacle}`);
}

/**
 * Like execvp(3), in the PATH that the command itself will have: what cannot be executed is passed over. When nothing can,
 * a file that merely lacks the permission is still the better answer than "not found".
 */
function lookUp(name: string, { cwd, env }: Command, access: FileAccess): string | null {
  let second: string | null = null;
  for (const directory of (env['PATH'] ?? DEFAULT_PATH).split(delimiter)) {
    const path = join(resolve(cwd, directory || '.'), name);
    if (kindOf(path) !== 'file') continue;
    if (access.toExecute(path) === null) return path;
    second ??= path;
  }
  return second;
}

type Kind = 'file' | 'directory' | 'other' | 'missing' | 'forbidden';

function kindOf(path: string): Kind {
  try {
    const found = statSync(path, { throwIfNoEntry: false }); // most places in PATH do not have it, and errors are slow
    if (found === undefined) return 'missing';
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
/** ARG_MAX: so much is always allowed, whatever the limit of the stack. */
const GRANTED_BYTES = 128 * 1024;
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
  if (total <= GRANTED_BYTES) return null;
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

// A look into a file that is to be executed: scripts need their interpreter, binaries the right machine. Best effort.

/** `isCommand` tells whether a bare name can be found in the PATH of the launch. */
export function executableProblem(
  name: string,
  path: string,
  isCommand: (name: string) => boolean,
): SpawnProblem | null {
  const head = readHead(path);
  if (head === null) return null; // executable but not readable: only the kernel can tell
  if (head.length === 0) return permanent('bad-executable', `"${name}" is an empty file`);
  if (head.toString('latin1', 0, 2) === '#!') return scriptProblem(name, head, isCommand);
  if (head.toString('latin1', 0, 4) === '\x7fELF') return elfProblem(name, head);
  return null; // execvp(3) gives a text file without "#!" to sh
}

/** Enough for the "#!" line (the kernel reads 256 bytes) and for the program headers of any usual binary. */
const HEAD_BYTES = 4096;

/** Never waits: a component may put a pipe in place of its own program, and the event loop would wait for somebody to write into it. */
function readHead(path: string): Buffer | null {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!fstatSync(fd).isFile()) return null;
      const head = Buffer.alloc(HEAD_BYTES);
      return head.subarray(0, readSync(fd, head));
    } finally {
      closeSync(fd);
    }
  } catch {
    return null;
  }
}

function scriptProblem(name: string, head: Buffer, isCommand: (name: string) => boolean): SpawnProblem | null {
  const [line = ''] = head.toString('utf8', 2, 256).split('\n');
  const [interpreter = '', argument] = line.replace(/^[ \t]+/, '').split(/[ \t]+/);
  if (interpreter.endsWith('\r')) {
    const meant = JSON.stringify(interpreter.trimEnd());
    const message = `${name} has Windows line endings, so its interpreter ${meant} is not found (try dos2unix)`;
    return permanent('interpreter-not-found', message);
  }
  if (interpreter === '') return permanent('bad-executable', `${name} begins with "#!" but names no interpreter`);
  // A relative interpreter is looked up from the working directory; such scripts are too rare to guess about.
  if (interpreter.startsWith('/') && !exists(interpreter)) {
    return permanent('interpreter-not-found', `${name} needs ${interpreter}, which does not exist`);
  }
  const program = argument?.trimEnd() ?? '';
  if (
    basename(interpreter) === 'env' &&
    /^[\w.+-]+$/.test(program) &&
    !program.startsWith('-') &&
    !isCommand(program)
  ) {
    return permanent('interpreter-not-found', `${name} needs ${program}, which is not in PATH`);
  }
  return null;
}

/** e_machine of the ELF header for the architectures Node runs on, with those the same kernel also runs. */
const MACHINES: Readonly<Record<string, readonly number[]>> = {
  x64: [0x3e, 0x03],
  ia32: [0x03],
  arm64: [0xb7, 0x28],
  arm: [0x28],
  ppc64: [0x15, 0x14],
  s390x: [0x16],
  riscv64: [0xf3],
  loong64: [0x102],
};

function elfProblem(name: string, head: Buffer): SpawnProblem | null {
  if (head.length < 64) return permanent('bad-executable', `"${name}" is a damaged program (cut off)`);
  const isLittle = head[5] === 1;
  const machine = isLittle ? head.readUInt16LE(18) : head.readUInt16BE(18);
  const known = MACHINES[process.arch];
  if (known && !known.includes(machine) && !hasEmulators()) {
    return permanent('bad-executable', `"${name}" is a program for another kind of processor`);
  }
  const loader = isLittle && head[4] === 2 ? elfLoader(head) : null;
  if (loader === null || exists(loader)) return null;
  return permanent('interpreter-not-found', `${name} needs ${loader}, which does not exist`);
}

const PT_INTERP = 3;

/** The dynamic loader of a 64-bit binary. A missing one is the classic "No such file" of a file that is there. */
function elfLoader(head: Buffer): string | null {
  const start = Number(head.readBigUInt64LE(32));
  const size = head.readUInt16LE(54);
  const count = head.readUInt16LE(56);
  for (let at = start; at < start + size * count && at + 40 <= head.length; at += size || 1) {
    if (head.readUInt32LE(at) !== PT_INTERP) continue;
    const offset = Number(head.readBigUInt64LE(at + 8));
    const length = Number(head.readBigUInt64LE(at + 32));
    if (length < 2 || offset + length > head.length) return null;
    return resolve('/', head.toString('utf8', offset, offset + length - 1));
  }
  return null;
}

/** With binfmt_misc (qemu-user, for one) the kernel runs programs of other machines. */
function hasEmulators(): boolean {
  try {
    return readdirSync('/proc/sys/fs/binfmt_misc').some((entry) => entry !== 'register' && entry !== 'status');
  } catch {
    return false;
  }
}

function exists(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    if (machineFault(error)) throw error;
    return errorCode(error) === 'EACCES';
  }
}
