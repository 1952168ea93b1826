import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { componentName } from '../../../src/base/pure/ids.ts';
import type { RunReport } from '../../../src/supervision/ports/driver.ts';
import { waitFor } from '../../support/wait-for.ts';
import { isThere, type Run, readText, workshop } from './workshop.ts';

const shop = workshop();

const MECHANISMS = ['cgroup-v2', 'process-group + cookie'] as const;

/** A driver that ends trees by this mechanism; skips, saying so, where the machine has no usable cgroup. */
function driverFor(mechanism: (typeof MECHANISMS)[number], skip: (note: string) => never) {
  const driver = shop.now.driver({ cgroup: mechanism === 'cgroup-v2' ? 'auto' : 'off' });
  if (driver.treeMechanism !== mechanism) skip('cgroup v2 is not usable here (not root, or no delegated cgroup)');
  expect(driver.treeMechanism).toBe(mechanism);
  return driver;
}

/** Pids the script printed as `pid NUMBER`, once there are that many. */
const printedPids = (run: Run, count: number): Promise<readonly number[]> =>
  waitFor(`${count} pids in the log of ${run.id}`, () => {
    const found = [...run.log().matchAll(/^pid (\d+)\n/gm)].map(([, pid]) => Number(pid));
    return found.length >= count ? found : null;
  });

/** A child in a session of its own, printing its pid. */
const escapee = `setsid sh -c 'echo pid $$; exec sleep 300' &`;

describe.each(MECHANISMS)('with %s', (mechanism) => {
  test('a command that ignores SIGTERM goes with its tree', async ({ skip }) => {
    const driver = driverFor(mechanism, skip);
    const run = shop.now.start(driver, `trap '' TERM; echo up; while :; do sleep 0.05; done`);
    await run.line(/^up$/);
    const { pid } = await run.until('started');
    driver.signal(run.id, 'SIGTERM');
    await expect(driver.survivors(run.id)).resolves.toContainEqual(expect.objectContaining({ pid, name: 'sh' }));
    driver.killTree(run.id);
    expect((await run.until('exited')).cause).toMatchObject({ kind: 'signal', signal: 'SIGKILL' });
    expect(isThere(pid)).toBe(false);
  });

  test('in the moment it is said to be started, all marks of its tree are in place', async ({ skip }) => {
    const driver = driverFor(mechanism, skip);
    const marks: string[] = [];
    const look = (run: Run, report: RunReport): void => {
      if (report.kind !== 'started') return;
      const [, session] = /\) \S \d+ \d+ (\d+) /.exec(readText(`/proc/${report.pid}/stat`)) ?? [];
      const hasCookie = readText(`/proc/${report.pid}/environ`).includes(`KEEPWELL_RUN=${run.id}\0`);
      const inCgroup = readText(`/proc/${report.pid}/cgroup`).includes(run.id);
      const bySession = session === String(report.pid) && hasCookie;
      if (mechanism === 'cgroup-v2' ? inCgroup : bySession) marks.push(run.id);
    };
    const runs = Array.from({ length: 20 }, () => shop.now.start(driver, ['sleep', '300'], {}, look));
    for (const run of runs) await run.until('started');
    expect([...marks].sort()).toEqual(runs.map(({ id }) => id).sort());
  });

  test('who is killed in the moment it is said to be started is gone, and nothing of it is left', async ({ skip }) => {
    const driver = driverFor(mechanism, skip);
    const kill = (run: Run, { kind }: RunReport): void => {
      if (kind === 'started') driver.killTree(run.id);
    };
    const script = `setsid sleep 300 & exec setsid -w sleep 300`;
    const runs = Array.from({ length: 20 }, () => shop.now.start(driver, script, {}, kill));
    for (const run of runs) expect((await run.until('exited')).cause).toMatchObject({ signal: 'SIGKILL' });
    for (const run of runs)
      await waitFor('nobody to survive', async () => (await driver.survivors(run.id)).length === 0);
  });

  test('three children in sessions of their own die with the tree', async ({ skip }) => {
    const driver = driverFor(mechanism, skip);
    const run = shop.now.start(driver, `${escapee} ${escapee} ${escapee} wait`);
    const escaped = await printedPids(run, 3);
    driver.killTree(run.id);
    await run.until('exited');
    await waitFor('the escaped to be gone', () => !escaped.some(isThere));
    await waitFor('nobody to survive', async () => (await driver.survivors(run.id)).length === 0);
  });

  test('what a killed command leaves behind is told, can be signalled, and its end is told', async ({ skip }) => {
    const driver = driverFor(mechanism, skip);
    const run = shop.now.start(driver, `${escapee} ${escapee} wait`);
    const escaped = await printedPids(run, 2);
    driver.signal(run.id, 'SIGKILL');
    const { cause, leftovers } = await run.until('exited');
    expect(cause).toMatchObject({ signal: 'SIGKILL' });
    expect([...leftovers].sort()).toEqual([...escaped].sort());
    expect(run.find('tree-gone')).toBeUndefined();
    driver.signal(run.id, 'SIGTERM');
    await run.until('tree-gone');
    expect(escaped.some(isThere)).toBe(false);
  });

  test('a command that puts itself in the background ends with exit code 0 and leftovers', async ({ skip }) => {
    const driver = driverFor(mechanism, skip);
    const run = shop.now.start(driver, `(setsid sh -c 'echo pid $$; exec sleep 300' &); exit 0`);
    const [daemonised] = await printedPids(run, 1);
    const { cause, leftovers } = await run.until('exited');
    expect(cause).toMatchObject({ kind: 'code', code: 0 });
    expect(leftovers).toEqual([daemonised]);
    await waitFor('it to sleep', () => readText(`/proc/${daemonised}/stat`).includes('(sleep) S'));
    await expect(driver.survivors(run.id)).resolves.toMatchObject([{ pid: daemonised, name: 'sleep', state: 'S' }]);
    driver.killTree(run.id);
    await run.until('tree-gone');
    expect(run.kinds).toEqual(['started', 'exited', 'tree-gone']);
  });

  test('a tree that forks while it is killed is ended', async ({ skip }) => {
    const driver = driverFor(mechanism, skip);
    const breeder = `trap '' TERM; while :; do setsid sleep 30 & sleep 0.002; done`;
    const run = shop.now.start(driver, `echo up; sh -c "${breeder}" & sh -c "${breeder}" & wait`);
    await run.line(/^up$/);
    await waitFor('some offspring', async () => (await driver.survivors(run.id)).length > 20);
    driver.killTree(run.id);
    await run.until('exited');
    await waitFor('nobody to survive', async () => (await driver.survivors(run.id)).length === 0);
  });

  test('a frozen tree is listed as surviving, holds up nothing, and is gone once it thaws', async ({ skip }) => {
    const freezer = `/sys/fs/cgroup/freezer/keepwell-test-${process.pid}`;
    if (!existsSync('/sys/fs/cgroup/freezer/cgroup.procs')) skip('there is no cgroup v1 freezer here');
    const driver = driverFor(mechanism, skip);
    const run = shop.now.start(driver, 'echo up; exec sleep 300');
    await run.line(/^up$/);
    const { pid } = await run.until('started');
    mkdirSync(freezer);
    try {
      writeFileSync(`${freezer}/cgroup.procs`, String(pid));
      writeFileSync(`${freezer}/freezer.state`, 'FROZEN');
      await waitFor('it to freeze', () => readText(`${freezer}/freezer.state`).startsWith('FROZEN'));
      driver.killTree(run.id);
      const other = shop.now.start(driver, 'exit 4');
      expect((await other.until('exited')).cause).toMatchObject({ code: 4 });
      await expect(driver.survivors(run.id)).resolves.toMatchObject([{ pid, name: 'sleep' }]);
      expect(run.kinds).toEqual(['started']);
      writeFileSync(`${freezer}/freezer.state`, 'THAWED');
      expect((await run.until('exited')).cause).toMatchObject({ signal: 'SIGKILL' });
    } finally {
      writeFileSync(`${freezer}/freezer.state`, 'THAWED');
      await waitFor('the freezer to be empty', () => readText(`${freezer}/cgroup.procs`) === '');
      rmdirSync(freezer);
    }
  });
});

test('without cgroups, a child that threw its environment away is found while its parent lives', async () => {
  const driver = shop.now.driver({ cgroup: 'off' });
  const run = shop.now.start(driver, `env -i /usr/bin/setsid /bin/sh -c 'echo pid $$; exec sleep 300' & wait`);
  const [escaped] = await printedPids(run, 1);
  const found = await driver.survivors(run.id);
  expect(found.map(({ pid }) => pid)).toContain(escaped);
  driver.killTree(run.id);
  await run.until('exited');
  await waitFor('it to be gone', () => !isThere(escaped ?? 0));
});

/** Nothing ties it to its run any more: this is what only a cgroup can do. */
test('without cgroups, an orphan that threw its environment away is not found and not claimed', async () => {
  const driver = shop.now.driver({ cgroup: 'off' });
  const run = shop.now.start(driver, `(env -i /usr/bin/setsid /bin/sh -c 'echo pid $$; exec sleep 300' &); sleep 300`);
  const [orphan = 0] = await printedPids(run, 1);
  await waitFor('its parent to be gone', () => / 1 \d+ \d+ /.test(readText(`/proc/${orphan}/stat`).slice(0, 40)));
  driver.signal(run.id, 'SIGKILL');
  expect((await run.until('exited')).leftovers).toEqual([]);
  expect(isThere(orphan)).toBe(true);
  process.kill(orphan, 'SIGKILL');
  await waitFor('it to be gone', () => !isThere(orphan));
});

test('a run that could not join its cgroup is watched without one', async ({ skip }) => {
  const driver = driverFor('cgroup-v2', skip);
  // Between the making of the cgroup and the claim somebody removes it.
  const slow = shop.now.driver({ shimDelay: 'claim:300' });
  const run = shop.now.start(slow, `${escapee} wait`);
  const meta = await waitFor('run.json', () => readText(`${run.dir}/run.json`));
  rmdirSync((JSON.parse(meta) as { cgroup: string }).cgroup);
  await run.goOn();
  const [escaped = 0] = await printedPids(run, 1);
  slow.killTree(run.id);
  await run.until('exited');
  await waitFor('the escaped to be gone', () => !isThere(escaped));
  expect(driver.treeMechanism).toBe('cgroup-v2');
});

test('what is told as started has its session and its mark, so that a kill right then finds all of it', async () => {
  const driver = shop.now.driver({ cgroup: 'off' });
  for (let times = 0; times < 20; times++) {
    const run = shop.now.run();
    const seen: { session: number; marked: boolean }[] = [];
    const { id } = run;
    driver.start(
      {
        ...{
          kind: 'process',
          run: id,
          component: componentName('api'),
          command: ['/bin/sleep', '300'],
          specHash: 'spec',
        },
        ...{ cwd: shop.now.home, env: { PATH: '/usr/bin:/bin' }, logPath: run.logPath },
      },
      (report) => {
        if (report.kind === 'started') {
          const [, , , session] = readText(`/proc/${report.pid}/stat`)
            .replace(/^.*\) /, '')
            .split(' ')
            .map(Number);
          const marked = readText(`/proc/${report.pid}/environ`).includes(`KEEPWELL_RUN=${id}`);
          seen.push({ session: session! - report.pid!, marked });
          driver.killTree(id);
        }
        run.reports.push(report);
      },
    );
    expect((await run.until('exited')).cause).toMatchObject({ kind: 'signal', signal: 'SIGKILL' });
    expect(seen).toEqual([{ session: 0, marked: true }]);
  }
});
