import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, rmdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { CommandResult } from '../../../src/base/command.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { carriers, never, newMark, PLENTY_MS, readText, runner, SHORT_MS, sh } from './probe-world.ts';

const said = (result: CommandResult): string => (result.kind === 'exited' ? result.output : JSON.stringify(result));

describe('a command that cannot be started says why', () => {
  const cases = (dir: string) => [
    { command: ['no-such-command-here'], cwd: '/', code: 'command-not-found', says: 'looked in PATH' },
    { command: ['./missing.sh'], cwd: dir, code: 'command-not-found', says: 'missing.sh' },
    { command: ['./plain.sh'], cwd: dir, code: 'command-permission', says: 'chmod +x' },
    { command: ['./windows.sh'], cwd: dir, code: 'interpreter-not-found', says: 'Windows line endings' },
    { command: ['./empty.sh'], cwd: dir, code: 'bad-executable', says: 'empty file' },
    { command: ['true'], cwd: `${dir}/gone`, code: 'cwd-missing', says: 'gone does not exist' },
    { command: ['true', 'x'.repeat(200_000)], cwd: '/', code: 'arguments-too-long', says: '128 KiB' },
    { command: ['true', 'a\0b'], cwd: '/', code: 'other', says: 'NUL' },
  ];

  test('and whether it can heal', async () => {
    using dir = tempDir();
    writeFileSync(dir.at('plain.sh'), '#!/bin/sh\nexit 0\n', { mode: 0o644 });
    writeFileSync(dir.at('windows.sh'), '#!/bin/sh\r\nexit 0\r\n', { mode: 0o755 });
    writeFileSync(dir.at('empty.sh'), '', { mode: 0o755 });
    const commands = runner();
    for (const { command, cwd, code, says } of cases(dir.path)) {
      const result = await commands.run({
        command,
        cwd,
        env: { PATH: '/usr/bin:/bin' },
        timeoutMs: PLENTY_MS,
        signal: never,
      });
      expect(result).toMatchObject({ kind: 'not-started', problem: { code, heals: false } });
      expect(JSON.stringify(result)).toContain(says);
    }
  });

  test('but not when it says so itself: then it did run', async () => {
    expect(await sh(runner(), 'no-such-command-here')).toMatchObject({ kind: 'exited', code: 127 });
    expect(await sh(runner(), 'echo "keepwell: exec: me: not found"; exit 127')).toMatchObject({ kind: 'exited' });
  });

  test('a program that is being written cannot be executed, and the shell knows', async () => {
    using dir = tempDir();
    copyFileSync('/bin/true', dir.at('tool'));
    const writer = openSync(dir.at('tool'), 'a');
    const command = { command: [dir.at('tool')], cwd: '/', env: {}, timeoutMs: PLENTY_MS, signal: never };
    expect(await runner().run(command)).toMatchObject({
      kind: 'not-started',
      problem: { message: `"${dir.at('tool')}" could not be executed: Text file busy` },
    });
    closeSync(writer);
    expect(await runner().run(command)).toMatchObject({ kind: 'exited', code: 0 });
  });

  test('one that was called off before it began never begins', async () => {
    using dir = tempDir();
    const result = await sh(runner(), `touch ${dir.at('ran')}`, { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ kind: 'not-started', problem: { code: 'cancelled', heals: true } });
    expect(existsSync(dir.at('ran'))).toBe(false);
  });
});

describe('a command gets', () => {
  test('its environment complete, odd names included, with nothing of ours but its mark', async () => {
    const env = { PATH: '/usr/bin:/bin', D: 'd', KEY: 'two\nlines', 'discovery.type': 'single node', EMPTY: '' };
    const result = await runner().run({ command: ['env', '-0'], cwd: '/', env, timeoutMs: PLENTY_MS, signal: never });
    const variables = said(result)
      .split('\0')
      .filter((text) => !/^(PWD|OLDPWD|SHLVL|_|KEEPWELL_RUN)=|^$/.test(text));
    expect(variables.sort()).toEqual(
      Object.entries(env)
        .map(([key, value]) => `${key}=${value}`)
        .sort(),
    );
    expect(said(result)).toMatch(/(^|\0)KEEPWELL_RUN=command-/);
  });

  test('the soft limit of open files that components get', async () => {
    expect(said(await sh(runner({ softNofile: 321 }), 'ulimit -S -n; ulimit -H -n'))).toMatch(/^321\n(?!321\n)/);
  });

  test('a real pipe, which it can open by name', async () => {
    const result = await sh(
      runner(),
      'echo one >/dev/stderr; echo two | tee /dev/stderr >/dev/null; echo three >/proc/self/fd/1',
    );
    expect(said(result)).toBe('one\ntwo\nthree\n');
  });

  test('characters left whole where its output is cut', async () => {
    const output = said(await sh(runner(), `i=0; while [ $i -lt 2000 ]; do printf '€ß😀'; i=$((i+1)); done`));
    expect(output).toMatch(/^[€ß😀]+\n\[… \d+ bytes left out …\]\n[€ß😀]+$/u);
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(4096);
  });
});

test('commands begin one per turn of the event loop', async () => {
  let turns = 0;
  let isCounting = true;
  const count = (): void => {
    turns++;
    if (isCounting) setImmediate(count);
  };
  const commands = runner();
  await sh(commands, 'exit 0');
  setImmediate(count);
  const results = await Promise.all(Array.from({ length: 30 }, () => sh(commands, 'exit 0')));
  isCounting = false;
  expect(results.every(({ kind }) => kind === 'exited')).toBe(true);
  expect(turns).toBeGreaterThanOrEqual(30);
});

test('one that cannot be killed holds up nothing, and too many of these are not joined by more', async ({ skip }) => {
  const freezer = `/sys/fs/cgroup/freezer/keepwell-test-${process.pid}`;
  if (!existsSync('/sys/fs/cgroup/freezer/cgroup.procs')) skip('there is no cgroup v1 freezer here');
  const commands = runner();
  const mark = newMark();
  mkdirSync(freezer);
  try {
    const results = Array.from({ length: 20 }, () => {
      const controller = new AbortController();
      return { controller, result: sh(commands, 'exec sleep 300', { signal: controller.signal, mark }) };
    });
    const pids = await waitFor('all to run', () => (carriers(mark).length === 20 ? carriers(mark) : null));
    for (const pid of pids) writeFileSync(`${freezer}/cgroup.procs`, String(pid));
    writeFileSync(`${freezer}/freezer.state`, 'FROZEN');
    await waitFor('them to freeze', () => readText(`${freezer}/freezer.state`).startsWith('FROZEN'));
    for (const { controller } of results) controller.abort();
    for (const { result } of results) expect((await result).kind).toBe('timed-out');
    expect(await sh(commands, 'exit 0')).toMatchObject({
      kind: 'not-started',
      problem: { code: 'out-of-resources', heals: true },
    });
    writeFileSync(`${freezer}/freezer.state`, 'THAWED');
    await waitFor('them to be gone', () => carriers(mark).length === 0);
    await waitFor('commands to be begun again', async () => (await sh(commands, 'exit 0')).kind === 'exited');
  } finally {
    writeFileSync(`${freezer}/freezer.state`, 'THAWED');
    await waitFor('the freezer to be empty', () => readText(`${freezer}/cgroup.procs`) === '');
    rmdirSync(freezer);
  }
});

test('a short time that is up before a command could begin is nobody’s fault', async () => {
  const commands = runner();
  const results = await Promise.all(Array.from({ length: 200 }, () => sh(commands, 'exit 0', { timeoutMs: 20 })));
  const late = results.filter(({ kind }) => kind === 'not-started');
  expect(late.length).toBeGreaterThan(0);
  for (const result of late) expect(result).toMatchObject({ problem: { code: 'out-of-resources', heals: true } });
  expect((await sh(commands, 'exit 0', { timeoutMs: 50 * SHORT_MS })).kind).toBe('exited');
});
