/** What was acknowledged stays: a stop by hand is kept where the history cannot be written, or it is said that it is not. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const CONFIG = `components:
  a: { process: { command: [sleep, "1000"] } }
  b: { process: { command: [sleep, "1000"] } }
  crashes:
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

test.runIf(process.geteuid?.() === 0)('with a full disk a stop says that it cannot be remembered', async () => {
  const disk = mkdtempSync(join(tmpdir(), 'keepwell-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=0700', 'tmpfs', disk]);
  try {
    await using project = new TestProject(CONFIG, { KEEPWELL_HOME: join(disk, 'home') });
    await project.ok('up', '--no-wait');
    await project.until('a', 'running', ({ state }) => state === 'running');
    await project.ok('stop', 'crashes');
    fill(join(disk, 'filler'));
    const { code, stderr } = await project.cli('stop', 'a');
    expect([code, stderr]).toEqual([1, expect.stringContaining('It was done, but could not be remembered')]);
    expect((await project.component('a')).state).toBe('stopped');
    rmSync(join(disk, 'filler'));
    await project.ok('stop', 'a');
  } finally {
    execFileSync('umount', ['-l', disk]);
    rmSync(disk, { recursive: true });
  }
});

/** As it stands in the head of a database that nobody has open. */
function setVersion(path: string, version: number): void {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(version);
  const fd = openSync(path, 'r+');
  writeSync(fd, bytes, 0, bytes.length, 60);
  closeSync(fd);
}

/** To the last block. */
function fill(path: string): void {
  for (const size of [1 << 20, 1 << 12, 1]) {
    for (let n = 0; n < 4_096; n++) {
      try {
        writeFileSync(path, Buffer.alloc(size), { flag: 'a' });
      } catch {
        break;
      }
    }
  }
}
