/** Bringing back what others started: when the command is run, what becomes of it, and what is told. */
import { readFileSync, rmSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { CommandRunner } from '../../../src/base/command.ts';
import { createCommandRunner } from '../../../src/drivers/process/command-runner.ts';
import { type Identity, readProcStat, sameProcess } from '../../../src/drivers/process/proc.ts';
import { waitFor } from '../../support/wait-for.ts';
import { isThere, readText } from '../process/workshop.ts';
import { plainRunner } from './commands.ts';
import { countingClock, lookout } from './lookout.ts';

const post = lookout();

/** What recovery commands started is nobody's child, so it is ended by who it is. */
const recovered: Identity[] = [];
afterEach(async () => {
  const left = recovered.splice(0).filter(({ pid, startTime }) => sameProcess(pid, startTime));
  for (const { pid } of left) process.kill(pid, 'SIGKILL');
  await waitFor('what was recovered to be gone', () => !left.some((each) => sameProcess(each.pid, each.startTime)));
});

/** Starts the thing anew and writes its pid. */
const RESTART = ['sh', '-c', 'echo starting; sleep 300 >/dev/null 2>&1 & echo $! >legacy.pid'];

function recoveredPid(): number {
  const stat = readProcStat(Number(readText(post.now.pidFile)));
  if (!stat) throw new Error('nothing was recovered');
  recovered.push(stat);
  return stat.pid;
}

test('what is not there is brought back, once', async () => {
  const commands = plainRunner(post.now.clock);
  const run = post.now.start(post.now.driver({ commands }), { recover: RESTART });
  const { pid } = await run.until('started');
  expect(pid).toBe(recoveredPid());
  await post.now.looks();
  expect(commands.commands).toHaveLength(1);
  expect(commands.commands[0]).toMatchObject({ command: RESTART, cwd: post.now.dir.path, timeoutMs: 60_000 });
  expect(run.kinds).toEqual(['started']);
});

test('the log says what was run, what it said, and how it ended', async () => {
  const run = post.now.start(post.now.driver(), { recover: RESTART });
  await run.until('started');
  recoveredPid();
  expect(post.now.readLog().split('\n')).toEqual([
    expect.stringMatching(/^keepwell: recovery begins: sh -c echo starting; sleep/),
    'starting',
    'keepwell: recovery ended well',
    '',
  ]);
});

describe('whether the command is run', () => {
  test.each([
    { attempt: 'first', isThere: true, isRun: false },
    { attempt: 'first', isThere: false, isRun: true },
    { attempt: 'restart', isThere: true, isRun: true },
    { attempt: 'restart', isThere: false, isRun: true },
    { attempt: 'quiet', isThere: true, isRun: false },
    { attempt: 'quiet', isThere: false, isRun: true },
  ] as const)('attempt $attempt, it is there: $isThere → $isRun', async ({ attempt, isThere: isUp, isRun }) => {
    const commands = plainRunner(post.now.clock);
    if (isUp) post.now.writePid(post.now.stranger().pid);
    const run = post.now.start(post.now.driver({ commands }), { attempt, recover: RESTART });
    await run.until('started');
    expect(commands.commands).toHaveLength(isRun ? 1 : 0);
    if (isRun) recoveredPid();
  });
});

test('a command that fails ends the run with its exit code, and not a word of its output', async () => {
  const recover = ['sh', '-c', 'echo token=hunter2; exit 3'];
  const run = post.now.start(post.now.driver(), { recover });
  expect(await run.why()).toBe('its recovery command failed with exit code 3');
  expect(run.kinds).toEqual(['exited']);
  expect(post.now.readLog()).toMatch(/token=hunter2\nkeepwell: recovery failed with exit code 3\n$/);
  expect(JSON.stringify([run.reports, post.now.log.lines])).not.toContain('hunter2');
});

test.each([
  { what: 'dies', recover: ['sh', '-c', 'kill -SEGV $$'], why: 'its recovery command was killed by SIGSEGV' },
  {
    what: 'does not exist',
    recover: ['no-such-command'],
    why: /^its recovery command could not be started: .*no-such/,
  },
])('a command that $what ends the run', async ({ recover, why }) => {
  const run = post.now.start(post.now.driver(), { recover });
  expect(await run.why()).toMatch(why);
});

test('a command that never ends is killed when its time is up', async () => {
  const clock = countingClock(100); // a minute is over in 600 ms
  const recover = ['sh', '-c', 'echo $$ >hanging; exec sleep 300'];
  const run = post.now.start(post.now.driver({ clock }), { recover });
  expect(await run.why()).toBe('its recovery command did not end within 1 min and was killed');
  expect(isThere(Number(readFileSync(post.now.dir.at('hanging'), 'utf8')))).toBe(false);
});

test('what does not come back although its command ended well is reported', async () => {
  const clock = countingClock(100);
  const run = post.now.start(post.now.driver({ clock }), { recover: ['true'] });
  expect(await run.why()).toBe(
    `its recovery command ended well, but it did not come back within 30 s: there is no pid file ${post.now.pidFile}`,
  );
  expect(run.kinds).toEqual(['exited']);
});

test('what takes a while to come back is waited for', async () => {
  const recover = ['sh', '-c', '(sleep 0.5; sleep 300 & echo $! >legacy.pid) >/dev/null 2>&1 &'];
  const run = post.now.start(post.now.driver(), { recover });
  expect((await run.until('started')).pid).toBe(recoveredPid());
});

test.each(['signal', 'killTree', 'release', 'close'] as const)('%s ends a recovery that is under way', async (end) => {
  const driver = post.now.driver();
  const run = post.now.start(driver, { recover: ['sh', '-c', 'echo $$ >hanging; exec sleep 300'] });
  const pid = await waitFor('the command to run', () => Number(readText(post.now.dir.at('hanging')).trim()));
  const startTime = readProcStat(pid)?.startTime ?? '';
  if (end === 'signal') driver.signal(run.id, 'SIGTERM');
  if (end === 'killTree') driver.killTree(run.id);
  if (end === 'release') driver.release(run.id);
  if (end === 'close') await driver.close();
  await waitFor('the command to be gone', () => !sameProcess(pid, startTime));
  if (end === 'signal' || end === 'killTree') expect(await run.why()).toBe('no longer watched');
  await driver.close();
  expect(run.kinds).toEqual(end === 'signal' || end === 'killTree' ? ['exited'] : []);
});

test('the end is told only when the command is gone, so that two never run side by side', async () => {
  let letGo: (() => void) | null = null;
  const commands: CommandRunner = {
    run: () =>
      new Promise((resolve) => {
        letGo = () => resolve({ kind: 'timed-out', output: '' });
      }),
  };
  const driver = post.now.driver({ commands });
  const run = post.now.start(driver, { recover: ['stubborn'] });
  const end = await waitFor('the command to run', () => letGo);
  driver.killTree(run.id);
  await post.now.turn();
  expect(run.kinds).toEqual([]);
  end();
  expect(await run.why()).toBe('no longer watched');
});

test('a log that cannot be written stops no recovery', async () => {
  const run = post.now.start(post.now.driver(), { recover: RESTART, logPath: post.now.dir.at('missing/legacy.log') });
  await run.until('started');
  recoveredPid();
  expect(post.now.log.lines).toMatchObject([{ level: 'warn' }, { level: 'warn' }]);
});

test('what is brought back is watched like anything else', async () => {
  const run = post.now.start(post.now.driver(), { recover: RESTART });
  await run.until('started');
  const pid = recoveredPid();
  process.kill(pid, 'SIGKILL');
  rmSync(post.now.pidFile);
  expect(await run.why()).toMatch(`its process ${pid} is gone`);
});

describe.each(['auto', 'off'] as const)('with the command runner of the product, cgroups %s', (cgroup) => {
  const withRunner = async (work: (commands: CommandRunner) => Promise<void>): Promise<void> => {
    const { log } = post.now;
    const home = post.now.dir.path;
    const commands = createCommandRunner({ home, cgroup, log, softNofile: null, clock: systemClock });
    try {
      await work(commands);
    } finally {
      await commands.close();
    }
  };

  test('what the command started stays, is watched, and outlives us', async () => {
    let pid = 0;
    await withRunner(async (commands) => {
      const driver = post.now.driver({ commands });
      const run = post.now.start(driver, { recover: RESTART });
      await run.until('started');
      pid = recoveredPid();
      await post.now.looks(8);
      expect(run.kinds).toEqual(['started']);
      await driver.close();
    });
    expect(isThere(pid)).toBe(true);
    expect(post.now.readLog()).toMatch(/\nstarting\nkeepwell: recovery ended well\n$/);
  });

  test('a command that is called off is gone, with what it started', async () => {
    await withRunner(async (commands) => {
      const driver = post.now.driver({ commands });
      const run = post.now.start(driver, { recover: ['sh', '-c', 'sleep 300 & echo $! >child; wait'] });
      const pid = await waitFor('its child', () => Number(readText(post.now.dir.at('child'))));
      driver.killTree(run.id);
      expect(await run.why()).toBe('no longer watched');
      await waitFor('its child to be gone', () => !isThere(pid));
    });
  });
});
