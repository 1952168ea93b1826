import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { precheck } from '../../../src/drivers/process/precheck.ts';
import { canInject, FaultyReads } from '../../support/faulty-reads.ts';

const home = mkdtempSync(join(tmpdir(), 'keepwell-precheck-'));
const at = (name: string): string => join(home, name);

function file(name: string, content: string | Buffer, mode = 0o755): void {
  writeFileSync(at(name), content);
  chmodSync(at(name), mode);
}

/** An ELF header for the machine with this number. */
function elf(machine: number): Buffer {
  const header = Buffer.alloc(128);
  header.write('\x7fELF', 0, 'latin1');
  header.set([2, 1, 1], 4);
  header.writeUInt16LE(2, 16);
  header.writeUInt16LE(machine, 18);
  return header;
}

/** One that asks for a dynamic loader. */
function elfWithLoader(machine: number, loader: string): Buffer {
  const header = elf(machine);
  const text = Buffer.from(`${loader}\0`);
  header.writeBigUInt64LE(64n, 32);
  header.writeUInt16LE(56, 54);
  header.writeUInt16LE(1, 56);
  header.writeUInt32LE(3, 64);
  const whole = Buffer.concat([header, text]);
  whole.writeBigUInt64LE(128n, 64 + 8);
  whole.writeBigUInt64LE(BigInt(text.length), 64 + 32);
  return whole;
}

const MACHINE = process.arch === 'arm64' ? 0xb7 : 0x3e;
const SPARC = 0x2b;

beforeAll(() => {
  mkdirSync(at('sub'));
  mkdirSync(at('bin'));
  mkdirSync(at('bin/folder'));
  mkdirSync(at('second'));
  for (const name of ['pipe', 'bin/piped']) execFileSync('mkfifo', ['-m', '755', at(name)]);
  file('plain', 'no program', 0o644);
  file('good.sh', '#!/bin/sh\nexit 0\n');
  file('no-interpreter.sh', '#!/usr/bin/python9\n');
  file('spaced.sh', '#! /bin/sh -e\n');
  file('windows.sh', '#!/bin/sh\r\nexit 0\r\n');
  file('nameless.sh', '#!\n');
  file('env.sh', '#!/usr/bin/env python9\n');
  file('env-good.sh', '#!/usr/bin/env sh\n');
  file('env-split.sh', '#!/usr/bin/env -S python9 -u\n');
  file('text', 'echo no shebang, execvp gives it to sh\n');
  file('empty', '');
  file('sparc', elf(SPARC));
  file('cut-off', elf(MACHINE).subarray(0, 20));
  file('static', elf(MACHINE));
  file('musl', elfWithLoader(MACHINE, '/lib/ld-no-such-loader.so.1'));
  file('sub/tool.sh', '#!/bin/sh\n');
  file('bin/tool', '#!/bin/sh\n', 0o644);
  file('second/tool', '#!/bin/sh\n');
  file('bin/locked', '#!/bin/sh\n', 0o644);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

interface Row {
  readonly name: string;
  readonly command: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly code: string | null;
  readonly message?: string;
}

const PATH = '/usr/bin:/bin';

const rows: readonly Row[] = [
  { name: 'a command in PATH is fine', command: ['sh', '-c', 'true'], code: null },
  { name: 'a path from the working directory is fine', command: ['./tool.sh'], cwd: 'sub', code: null },
  { name: 'an absolute path is fine', command: ['/bin/sh'], code: null },
  { name: 'a script with spaces after #! is fine', command: ['./spaced.sh'], code: null },
  { name: 'a script run through env is fine', command: ['./env-good.sh'], code: null },
  { name: 'env -S is left to env', command: ['./env-split.sh'], code: null },
  { name: 'a text file without #! is fine', command: ['./text'], code: null },
  { name: 'a program without a loader is fine', command: ['./static'], code: null },
  {
    name: 'a missing working directory is named',
    command: ['sh'],
    cwd: 'gone',
    code: 'cwd-missing',
    message: `the working directory ${at('gone')} does not exist`,
  },
  { name: 'a file as working directory is named', command: ['sh'], cwd: 'plain', code: 'cwd-not-a-directory' },
  { name: 'a working directory below a file is missing', command: ['sh'], cwd: 'plain/x', code: 'cwd-missing' },
  {
    name: 'a command that is not in PATH says where it was looked for',
    command: ['temporl'],
    code: 'command-not-found',
    message: 'no such command: "temporl" (looked in PATH)',
  },
  {
    name: 'PATH is that of the launch, not ours',
    command: ['sh'],
    env: { PATH: '/nowhere' },
    code: 'command-not-found',
  },
  { name: 'without PATH the usual two directories are searched', command: ['sh'], env: {}, code: null },
  {
    name: 'a missing path is told with the place it meant',
    command: ['./gone.sh'],
    code: 'command-not-found',
    message: `no such command: "./gone.sh" (${at('gone.sh')})`,
  },
  { name: 'an empty command is not found', command: [''], code: 'command-not-found' },
  { name: 'no command at all is not found', command: [], code: 'command-not-found' },
  { name: 'a directory is not a command', command: ['./sub'], code: 'command-is-a-directory' },
  {
    name: 'a directory in PATH is passed over',
    command: ['folder'],
    env: { PATH: at('bin') },
    code: 'command-not-found',
  },
  {
    name: 'a pipe is no command, and nobody waits for what comes out of it',
    command: ['./pipe'],
    code: 'bad-executable',
    message: `"./pipe" (${at('pipe')}) is not a regular file, but a pipe, a socket or a device`,
  },
  { name: 'a device is no command', command: ['/dev/null'], code: 'bad-executable' },
  { name: 'a pipe in PATH is passed over', command: ['piped'], env: { PATH: at('bin') }, code: 'command-not-found' },
  { name: 'a pipe is no working directory', command: ['sh'], cwd: 'pipe', code: 'cwd-not-a-directory' },
  { name: 'a file without permission is named', command: ['./plain'], code: 'command-permission' },
  {
    name: 'one without permission in PATH is passed over for one with it',
    command: ['tool'],
    env: { PATH: `${at('bin')}:${at('second')}` },
    code: null,
  },
  {
    name: 'one without permission in PATH is better than not found',
    command: ['locked'],
    env: { PATH: at('bin') },
    code: 'command-permission',
  },
  { name: 'an empty part of PATH is the working directory', command: ['good.sh'], env: { PATH: ':/x' }, code: null },
  {
    name: 'a missing interpreter is named',
    command: ['./no-interpreter.sh'],
    code: 'interpreter-not-found',
    message: './no-interpreter.sh needs /usr/bin/python9, which does not exist',
  },
  {
    name: 'a missing program behind env is named',
    command: ['./env.sh'],
    code: 'interpreter-not-found',
    message: './env.sh needs python9, which is not in PATH',
  },
  { name: 'Windows line endings are recognised', command: ['./windows.sh'], code: 'interpreter-not-found' },
  { name: 'a #! without a name is bad', command: ['./nameless.sh'], code: 'bad-executable' },
  { name: 'an empty file is bad', command: ['./empty'], code: 'bad-executable' },
  { name: 'a program for another processor is bad', command: ['./sparc'], code: 'bad-executable' },
  { name: 'a program that was cut off is bad', command: ['./cut-off'], code: 'bad-executable' },
  {
    name: 'a missing dynamic loader is named',
    command: ['./musl'],
    code: 'interpreter-not-found',
    message: './musl needs /lib/ld-no-such-loader.so.1, which does not exist',
  },
  { name: 'an argument of 128 KiB is too long', command: ['sh', 'x'.repeat(131_072)], code: 'arguments-too-long' },
  { name: 'one byte less is fine', command: ['sh', 'x'.repeat(131_071)], code: null },
  {
    name: 'a variable of 128 KiB is too long and named',
    command: ['sh'],
    env: { PATH, BIG: 'x'.repeat(131_072) },
    code: 'arguments-too-long',
    message: 'the variable BIG is longer than the 128 KiB Linux allows',
  },
  {
    name: 'too much in total is too long',
    command: ['sh', ...Array.from({ length: 100 }, () => 'x'.repeat(100_000))],
    code: 'arguments-too-long',
  },
  { name: 'a NUL byte is refused', command: ['sh', 'a\0b'], code: 'other' },
];

test.each(rows)('$name', ({ command, cwd = '.', env = { PATH }, code, message }) => {
  const problem = precheck({ command, cwd: join(home, cwd), env });
  expect(problem?.code ?? null).toBe(code);
  expect(problem?.heals ?? false).toBe(false);
  if (message) expect(problem?.message).toBe(message);
});

test('a working directory that may not be entered is named', ({ skip }) => {
  if (process.getuid?.() === 0) skip('root may enter every directory');
  chmodSync(at('second'), 0o600);
  expect(precheck({ command: ['sh'], cwd: at('second'), env: { PATH } })?.code).toBe('cwd-permission');
  chmodSync(at('second'), 0o755);
});

test.skipIf(!canInject).each(['EIO', 'ENOMEM', 'EMFILE'])(
  'a look at the command that fails with %s says nothing about the command: it is tried again',
  async (error) => {
    const command = { command: ['/bin/true'], cwd: '/', env: { PATH } };
    await using _faults = await FaultyReads.of(process.pid, ['stat'], error, ['/bin/true', '/usr/bin/true']);
    expect(precheck(command)).toMatchObject({ code: 'out-of-resources', heals: true });
  },
);
