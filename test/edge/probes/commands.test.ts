import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CommandResult } from '../../../src/base/command.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  carriers,
  commandCgroups,
  MECHANISMS,
  newMark,
  openFiles,
  PLENTY_MS,
  readText,
  runner,
  runnerFor,
  SHORT_MS,
  sh,
} from './probe-world.ts';

const isSleeping = (pid: number): boolean => readText(`/proc/${pid}/comm`) === 'sleep\n';

describe.each(MECHANISMS)('a short command, with %s', (mechanism) => {
  test('gives its exit code and what it said, in the order it was said', async ({ skip }) => {
    const result = await sh(runnerFor(mechanism, skip), 'echo out; echo err >&2; echo again; exit 3');
    expect(result).toEqual({ kind: 'exited', code: 3, signal: null, output: 'out\nerr\nagain\n' });
  });

  test('gives the signal that killed it', async ({ skip }) => {
    const result = await sh(runnerFor(mechanism, skip), 'kill -SEGV $$');
    expect(result).toMatchObject({ kind: 'exited', code: null, signal: 'SIGSEGV' });
  });

  test('row 37: one that hangs and ignores SIGTERM is killed when its time is up', async ({ skip }) => {
    const mark = newMark();
    const script = `trap '' TERM INT HUP; while :; do sleep 0.05; done`;
    const result = await sh(runnerFor(mechanism, skip), script, { timeoutMs: SHORT_MS, mark });
    expect(result.kind).toBe('timed-out');
    await waitFor('nothing to be left', () => carriers(mark).length === 0);
  });

  test('row 37: what it forked into the background is gone when it is, also without a timeout', async ({ skip }) => {
    const commands = runnerFor(mechanism, skip);
    const mark = newMark();
    const result = await sh(commands, 'sleep 300 & sleep 300 & echo done', { mark });
    expect(result).toMatchObject({ kind: 'exited', code: 0, output: 'done\n' });
    await waitFor('nothing to be left', () => carriers(mark).length === 0);
  });

  test.for([
    ['holds its output open', `setsid sh -c 'echo pid $$; exec sleep 300' & sleep 0.3`],
    [
      'has forked twice and closed its output',
      `(setsid sh -c 'echo pid $$; exec sleep 300 </dev/null >/dev/null 2>&1' &) ; sleep 0.3`,
    ],
  ])('row 37: a child in a session of its own that %s is gone, too', async ([, script = ''], { skip }) => {
    const commands = runnerFor(mechanism, skip);
    const mark = newMark();
    const result = await sh(commands, script, { mark });
    expect(result).toMatchObject({ kind: 'exited', code: 0 });
    await waitFor('nothing to be left', () => carriers(mark).length === 0);
  });

  test('row 37: forks, double forks and sessions of their own all go when the time is up', async ({ skip }) => {
    const commands = runnerFor(mechanism, skip);
    const escapee = `(setsid sh -c 'echo pid $$; exec sleep 300' &)`;
    const mark = newMark();
    const controller = new AbortController();
    const script = `${escapee}; ${escapee}; sleep 300 & ${escapee}; sleep 300`;
    const result = sh(commands, script, { signal: controller.signal, mark });
    await waitFor('all of them to run', () => carriers(mark).filter(isSleeping).length === 5);
    controller.abort();
    const { kind, output } = (await result) as Extract<CommandResult, { kind: 'timed-out' }>;
    expect(kind).toBe('timed-out');
    expect(output.match(/^pid \d+$/gm)).toHaveLength(3);
    await waitFor('nothing to be left', () => carriers(mark).length === 0);
  });

  test('row 37: one that breeds faster than it can be counted is ended', async ({ skip }) => {
    const commands = runnerFor(mechanism, skip);
    const mark = newMark();
    const breeder = `while :; do setsid sleep 30 & sleep 0.005; done`;
    const result = await sh(commands, breeder, { timeoutMs: 800, mark });
    expect(result.kind).toBe('timed-out');
    await waitFor('nothing to be left', () => carriers(mark).length === 0);
  });

  test('an exit is not held up by a grandchild that keeps the output open', async ({ skip }) => {
    const commands = runnerFor(mechanism, skip);
    const result = await sh(commands, `(sleep 300; echo late) & echo early`);
    expect(result).toMatchObject({ kind: 'exited', code: 0, output: 'early\n' });
  });

  test('one that closes its output at once is still waited for', async ({ skip }) => {
    const result = await sh(runnerFor(mechanism, skip), 'exec >&- 2>&-; sleep 0.2; exit 5');
    expect(result).toMatchObject({ kind: 'exited', code: 5, output: '' });
  });

  test('1 GB of output is read and dropped, but for its beginning and its end', async ({ skip }) => {
    const script = 'echo first; head -c 1000000000 /dev/zero | tr "\\0" x; echo; echo last; exit 1';
    const result = await sh(runnerFor(mechanism, skip), script, { timeoutMs: 4 * PLENTY_MS });
    expect(result).toMatchObject({ kind: 'exited', code: 1 });
    const { output } = result as Extract<CommandResult, { kind: 'exited' }>;
    expect(output).toMatch(/^first\nx+\n\[… \d+ bytes left out …\]\nx+\nlast\n$/);
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(4096);
  });

  test('called off, it ends at once', async ({ skip }) => {
    const commands = runnerFor(mechanism, skip);
    const controller = new AbortController();
    const mark = newMark();
    const result = sh(commands, 'sleep 300', { signal: controller.signal, mark });
    await waitFor('it to run', () => carriers(mark).length > 0);
    controller.abort();
    expect((await result).kind).toBe('timed-out');
    await waitFor('nothing to be left', () => carriers(mark).length === 0);
  });

  test('closing the runner ends what is running', async ({ skip }) => {
    const commands = runnerFor(mechanism, skip);
    const mark = newMark();
    const result = sh(commands, `(setsid sleep 300 &) ; sleep 300`, { mark });
    await waitFor('it to run', () => carriers(mark).length >= 3);
    await commands.close();
    expect((await result).kind).toBe('timed-out');
    expect(carriers(mark)).toEqual([]);
    expect(await sh(commands, 'exit 0')).toMatchObject({ kind: 'not-started', problem: { code: 'cancelled' } });
  });

  test('what a runner that was killed left running is ended by the next one of the same home', async ({ skip }) => {
    const first = runnerFor(mechanism, skip);
    const mark = newMark();
    const result = sh(first, `echo $KEEPWELL_RUN; (setsid sleep 300 &) ; sleep 300`, { mark });
    await waitFor('it to run', () => carriers(mark).length >= 3);
    // The same mark of a daemon that is not there any more: somebody else's pid and start time.
    const cookie = /KEEPWELL_RUN=([^\0]*)/.exec(readText(`/proc/${carriers(mark)[0]}/environ`))?.[1] ?? '';
    const foreign = cookie.replace(`-${process.pid}-`, '-1-');
    expect(foreign).not.toBe(cookie);
    const orphanMark = newMark();
    const orphan = spawn('setsid', ['sleep', '300'], {
      env: { PATH: '/usr/bin:/bin', KEEPWELL_RUN: foreign, MARK_OF_TEST: orphanMark },
      stdio: 'ignore',
    });
    if (mechanism === 'cgroup-v2') {
      const cgroup = commandCgroups().find((path) => path.endsWith(`/${cookie}`)) ?? '';
      mkdirSync(join(cgroup, '..', foreign));
      writeFileSync(join(cgroup, '..', foreign, 'cgroup.procs'), String(orphan.pid));
    }
    await waitFor('the orphan to run', () => carriers(orphanMark).length === 1);
    runner({ home: first.home, cgroup: mechanism === 'cgroup-v2' ? 'auto' : 'off' });
    await waitFor('the orphan to be gone', () => carriers(orphanMark).length === 0);
    expect(carriers(mark).length).toBeGreaterThanOrEqual(3); // those of a runner that lives are left alone
    await first.close();
    await result;
  });

  test('gets a session and a group of its own, /dev/null to read, clean signals and no other files', async ({
    skip,
  }) => {
    const commands = runnerFor(mechanism, skip);
    const result = await sh(
      commands,
      'cat /proc/$$/stat; grep -E "SigIgn|SigBlk" /proc/self/status; readlink /proc/$$/fd/*; ulimit -S -c',
    );
    const { output } = result as Extract<CommandResult, { kind: 'exited' }>;
    const [stat = '', ...lines] = output.trim().split('\n');
    const [, pid, group, session] = /^(\d+) \(sh\) \S \d+ (\d+) (\d+) /.exec(stat) ?? [];
    expect([group, session]).toEqual([pid, pid]);
    expect(lines.slice(0, 2)).toEqual(['SigBlk:\t0000000000000000', 'SigIgn:\t0000000000000000']);
    expect(lines[2]).toBe('/dev/null');
    expect(lines.at(-1)).toBe('0');
  });

  test('leaves no files, sockets or cgroups behind', async ({ skip }) => {
    const commands = runnerFor(mechanism, skip);
    await sh(commands, 'exit 0');
    const before = openFiles().length;
    await Promise.all(Array.from({ length: 20 }, (_, index) => sh(commands, `echo ${index}`)));
    await Promise.all(Array.from({ length: 5 }, () => sh(commands, 'sleep 300', { timeoutMs: SHORT_MS })));
    await commands.close();
    await waitFor('the files to be closed', () => openFiles().length <= before);
    expect(commandCgroups()).toEqual([]);
  });
});
