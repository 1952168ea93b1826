/** What was acknowledged stays: a stop by hand is kept where the history cannot be written, or it is said that it is not. */
import { closeSync, openSync, readdirSync, writeSync } from 'node:fs';
import { expect, test } from 'vitest';
import { canInject, FaultyReads } from '../support/faulty-reads.ts';
import { canMount, OwnDisk } from '../support/own-disk.ts';
import { kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const QUIET = `components:
  a: { process: { command: [sleep, "1000"] } }
  b: { process: { command: [sleep, "1000"] } }
`;

const CONFIG = `${QUIET}  crashes:
    process: { command: ["false"] }
    restart: { backoff: { initial: 20ms, max: 20ms, jitter: 0 }, limit: { max: 1000000 } }
`;

/** A daemon that dies, and the one that its guardian brings back. */
async function replaced(project: TestProject): Promise<void> {
  const pid = project.daemonPid()!;
  kill(pid);
  await waitFor('another daemon', async () => {
    const now = project.daemonPid();
    return now !== null && now !== pid && (await project.status()).daemon.answers;
  });
}

test('with a history of a later version a stop by hand stays one, and the directories of runs do not pile up', async () => {
  await using project = new TestProject(CONFIG);
  await project.ok('up', '--no-wait');
  await project.ok('down');
  setVersion(project.path('.keepwell/keepwell.db'), 999);
  await project.ok('up', '--no-wait');
  expect((await project.status()).daemon.store).toContain('version 999');
  await project.until('a', 'running', ({ state }) => state === 'running');
  await project.ok('stop', 'a');
  await project.until('crashes', 'often ended', ({ restarts }) => restarts > 30);
  expect(readdirSync(project.path('.keepwell/runs')).length).toBeLessThan(20);
  await replaced(project);
  await project.until('b', 'taken over', ({ state, adopted }) => state === 'running' && adopted);
  const a = await project.component('a');
  expect([a.state, a.desired, a.pid]).toEqual(['stopped', 'stopped', null]);
});

test.skipIf(!canMount)(
  'a stop on a full disk is told as not remembered, and is remembered once there is space',
  async () => {
    // One that crashed all the time would give space back with every run that is cleared away.
    await using project = new TestProject(QUIET);
    await using disk = new OwnDisk(project);
    await project.ok('up', '--no-wait');
    await project.until('a', 'running', ({ state }) => state === 'running');
    disk.fill();
    const stopped = await project.cli('stop', 'a');
    expect(stopped.code).toBe(1);
    expect(stopped.stderr).toContain('It was done, but could not be saved');
    expect((await project.component('a')).state).toBe('stopped');
    disk.free();
    await waitFor('the history to be written again', async () => (await project.status()).daemon.store === 'ok');
    await replaced(project);
    await project.until('b', 'taken over', ({ state, adopted }) => state === 'running' && adopted);
    const a = await project.component('a');
    expect([a.state, a.desired, a.pid]).toEqual(['stopped', 'stopped', null]);
  },
);

test.skipIf(!canInject)(
  'a daemon that cannot read what was wanted and applied waits until it can, instead of forgetting both',
  async () => {
    await using project = new TestProject(QUIET);
    await project.ok('up');
    await project.ok('down');
    setVersion(project.path('.keepwell/keepwell.db'), 999); // so that only the file knows what was stopped
    await project.ok('up');
    await project.ok('stop', 'a');
    project.configure(`${QUIET}  unasked: { process: { command: [sleep, "1000"] } }\n`);
    const files = ['desired.json', 'applied.json'].map((name) => project.path(`.keepwell/${name}`));
    for (const file of files) {
      const pid = project.daemonPid()!;
      {
        await using _faults = await FaultyReads.of(project.guardianPid()!, ['open'], 'EIO', [file]);
        const saidBefore = waitsIn(project);
        kill(pid);
        await waitFor('the next daemon to ask again', () => waitsIn(project) > saidBefore);
      }
      await waitFor('the next daemon', async () => {
        const now = project.daemonPid();
        return now !== null && now !== pid && (await project.status()).daemon.answers;
      });
      await project.until('b', 'taken over', ({ state, adopted }) => state === 'running' && adopted);
      const { components } = await project.status();
      expect(components.map(({ name, state }) => [name, state])).toEqual([
        ['a', 'stopped'],
        ['b', 'running'],
      ]);
    }
  },
);

const waitsIn = (project: TestProject): number =>
  project.read('.keepwell/daemon.log').split('not known now; asking again until it is').length - 1;

/** As it stands in the head of a database that nobody has open. */
function setVersion(path: string, version: number): void {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(version);
  const fd = openSync(path, 'r+');
  writeSync(fd, bytes, 0, bytes.length, 60);
  closeSync(fd);
}
