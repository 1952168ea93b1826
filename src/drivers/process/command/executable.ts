/** A look into a file that is to be executed: scripts need their interpreter, binaries the right machine. Best effort. */
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { errorCode, machineFault } from '../../../base/pure/errno.ts';
import type { SpawnProblem } from '../../../base/pure/exit.ts';
import { permanent } from './spawn-problem.ts';

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
