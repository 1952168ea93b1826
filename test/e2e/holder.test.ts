import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { ENTRY, kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const ONE = 'components:\n  a: { process: { command: [sleep, "1000"] } }\n';
const gone = (project: TestProject) => waitFor('the daemon to be gone', () => project.daemonPid() === null);

describe('one daemon per project', () => {
  test('a second one is refused and says who holds it', async () => {
    await using project = new TestProject(ONE);
    await project.ok('up');
    const { code, stderr } = await project.cli('daemon');
    expect(code).toBe(1);
    expect(stderr).toContain(`pid ${project.daemonPid()}`);
    expect((await project.component('a')).restarts).toBe(0);
  });

  test('of six that start at once exactly one holds the project, again and again', async () => {
    await using project = new TestProject(ONE);
    for (let race = 0; race < 5; race++) {
      const contenders = Array.from({ length: 6 }, () => project.start(['daemon']));
      const ends = contenders.map((child) => new Promise<number | null>((resolve) => child.once('exit', resolve)));
      let refused = 0;
      for (const child of contenders) child.once('exit', (code) => code === 1 && refused++);
      await waitFor('five to be refused', () => refused === 5);
      await waitFor('the sixth to answer', async () => (await project.status()).daemon.answers);
      await project.until('a', 'running', ({ state }) => state === 'running');
      expect(
        project.processes().filter(({ command }) => command.includes('sleep 1000') && !command.includes('shim')).length,
      ).toBe(1);
      kill(project.daemonPid()!);
      await Promise.all(ends);
    }
  });

  test('four people typing up at once get one daemon and one copy of everything', async () => {
    await using project = new TestProject(ONE);
    const results = await Promise.all(Array.from({ length: 4 }, () => project.cli('up')));
    expect(results.map(({ code, stderr }) => (code === 0 ? 0 : stderr))).toEqual([0, 0, 0, 0]);
    const daemons = () =>
      project.processes().filter(({ command }) => / daemon /.test(command) && !command.includes('guardian.sh'));
    await waitFor('all daemons but one to have left', () => daemons().length === 1);
    expect(project.processes().filter(({ command }) => command.startsWith('sleep 1000')).length).toBe(1);
    await waitFor('one guardian', () => project.guardians().length === 1);
  });

  test('a stale socket, a stale daemon.json and a stale lock are no obstacle', async () => {
    await using project = new TestProject(ONE);
    await project.ok('up');
    kill(project.guardianPid()!);
    kill(project.daemonPid()!);
    await gone(project);
    writeFileSync(
      `${project.home}/daemon.json`,
      JSON.stringify({ pid: process.pid, start_time: '1', socket: `${project.home}/keepwell.sock` }),
    );
    rmSync(`${project.home}/keepwell.sock`, { force: true });
    const stale = createServer().listen(`${project.home}/keepwell.sock`);
    await waitFor('the stale socket', () => stale.listening);
    await new Promise<void>((resolve) => stale.close(() => resolve()));
    writeFileSync(`${project.home}/keepwell.sock`, 'not even a socket');
    await project.ok('up');
    expect((await project.component('a')).restarts).toBe(0);
  });

  test('the state directory and the socket are closed to others', async () => {
    await using project = new TestProject(ONE);
    await project.ok('up');
    expect(statSync(project.home).mode & 0o777).toBe(0o700);
    expect(statSync(`${project.home}/keepwell.sock`).mode & 0o777).toBe(0o600);
    for (const file of ['keepwell.db', 'daemon.json', 'daemon.log'])
      expect(statSync(`${project.home}/${file}`).mode & 0o077, file).toBe(0);
    if (process.getuid?.() !== 0) return;
    chmodSync(project.dir, 0o755);
    const asNobody = () =>
      execFileSync('setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath, ENTRY, 'status'], {
        cwd: project.dir,
        stdio: 'pipe',
      });
    expect(asNobody).toThrow(/belongs to another user/);
  });

  test('a state directory that others can write to is refused', async () => {
    await using project = new TestProject(ONE);
    execFileSync('mkdir', ['-m', '0777', project.home]);
    const { code, stderr } = await project.cli('up');
    expect(code).toBe(2);
    expect(stderr).toContain('others can write to it');
  });
});

describe('when the disk or the database lets us down', () => {
  test('a corrupt database is put aside, and what was wanted is still wanted', async () => {
    await using project = new TestProject(`${ONE}  b: { process: { command: [sleep, "1000"] } }\n`);
    await project.ok('up');
    await project.ok('stop', 'b');
    const { pid } = await project.component('a');
    kill(project.guardianPid()!);
    kill(project.daemonPid()!);
    await gone(project);
    for (const name of ['keepwell.db-wal', 'keepwell.db-shm']) rmSync(`${project.home}/${name}`, { force: true });
    writeFileSync(`${project.home}/keepwell.db`, 'this is not a database at all, '.repeat(500));
    expect((await project.component('a')).pid).toBe(pid);
    const daemon = project.start(['daemon']);
    await project.answered(daemon.pid);
    expect(await project.component('a')).toMatchObject({ pid, state: 'running', desired: 'running' });
    expect(await project.component('b')).toMatchObject({ state: 'stopped', desired: 'stopped' });
    expect(await project.ok('events')).toContain('the history was damaged');
    daemon.kill('SIGTERM');
    await gone(project);
  });

  test.skipIf(process.getuid?.() !== 0)(
    'a full disk: components and daemon live on, and every record is there afterwards',
    async () => {
      await using project = new TestProject(
        'components:\n  a: { process: { command: [sleep, "1000"] }, min_uptime: 0s, restart: { backoff: { initial: 0s, max: 0s }, limit: { max: 1000, within: 1m } } }\n',
      );
      execFileSync('mkdir', ['-m', '0700', project.home]);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m,mode=0700', 'tmpfs', project.home]);
      try {
        await project.ok('up');
        const { daemon } = await project.status();
        const before = await project.component('a');
        const fill = () => {
          try {
            writeFileSync(`${project.home}/filler`, Buffer.alloc(6_000_000));
          } catch {
            // as full as it gets
          }
        };
        fill();
        kill(before.pid!, 'SIGTERM');
        await waitFor('the trouble to be told', async () => {
          const { daemon } = await project.status();
          expect(daemon.running).toBe(true);
          return daemon.store !== 'ok';
        });
        rmSync(`${project.home}/filler`);
        await waitFor('the store to recover', async () => (await project.status()).daemon.store === 'ok');
        await project.until('a', 'running again', ({ state, pid }) => state === 'running' && pid !== before.pid);
        expect((await project.crashes()).map(({ exit }) => exit.signal)).toEqual(['SIGTERM']);
        expect((await project.status()).daemon.pid).toBe(daemon.pid);
      } finally {
        await project.cli('down');
        execFileSync('umount', ['-l', project.home]);
      }
    },
  );
});
