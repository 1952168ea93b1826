/** What cannot be looked at is not gone: reads that fail, for whatever reason, neither double a component nor leave one behind. */

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { canInject, FaultyReads, READ_KINDS } from '../support/faulty-reads.ts';
import { Ledgers, ledgerConfig } from '../support/ledger.ts';
import { kill, TestProject } from '../support/project.ts';
import { readPaths } from '../support/read-paths.ts';
import { waitFor } from '../support/wait-for.ts';

const NAMES = ['a', 'b', 'c'];

describe.skipIf(!canInject).concurrent('when reads fail', () => {
  const rows = [
    { cgroup: 'off', errors: ['EMFILE', 'ENFILE', 'ENOMEM', 'EIO', 'EACCES'] },
    { cgroup: 'auto', errors: ['EMFILE', 'EIO'] },
  ];
  for (const { cgroup, errors } of rows) {
    test(`nothing is doubled and nothing is left behind, whatever the error (cgroups: ${cgroup})`, async () => {
      await using project = new TestProject(ledgerConfig(NAMES), { KEEPWELL_CGROUP: cgroup });
      const ledgers = new Ledgers(project, NAMES);
      await project.ok('up');
      for (const error of errors) {
        const before = (await project.component('b')).pid!;
        {
          await using _faults = await FaultyReads.of(
            project.daemonPid()!,
            READ_KINDS,
            error,
            await readPaths(project, NAMES),
          );
          kill((await project.component('a')).pid!);
          await project.until('a', `not known, for ${error}`, ({ condition }) => condition === 'not-known');
          const b = await project.until('b', 'not known', ({ condition }) => condition === 'not-known');
          expect(b, error).toMatchObject({ state: 'running', pid: before, ready: false, health: 'unknown' });
          expect(b.note).toContain(error);
        }
        await project.until('a', 'back', ({ state, condition }) => state === 'running' && condition === null);
        await project.until('b', 'known', ({ pid, condition }) => pid === before && condition === null);
      }
      await waitFor('the last a to begin', () => ledgers.begun('a').length === errors.length + 1);
      expect(ledgers.begun('b')).toHaveLength(1);
      await project.ok('down');
      expect(ledgers).toMatchObject({ doubled: [], alive: [] });
    });
  }

  test('a stop in the middle of it is carried out as soon as its processes can be looked at', async () => {
    await using project = new TestProject(ledgerConfig(NAMES), { KEEPWELL_CGROUP: 'off' });
    const ledgers = new Ledgers(project, NAMES);
    await project.ok('up');
    const faults = await FaultyReads.of(project.daemonPid()!, READ_KINDS, 'EMFILE', await readPaths(project, NAMES));
    const down = project.cli('down');
    await project.until(
      'c',
      'not known while it is stopped',
      ({ condition, state }) => condition === 'not-known' && state === 'stopping',
    );
    expect(ledgers.alive).toHaveLength(3);
    await faults[Symbol.asyncDispose]();
    expect(await down).toMatchObject({ code: 0 });
    expect(ledgers).toMatchObject({ doubled: [], alive: [] });
  });

  test('a daemon that comes back in the middle of it takes everything over', async () => {
    await using project = new TestProject(ledgerConfig(NAMES));
    const ledgers = new Ledgers(project, NAMES);
    await project.ok('up');
    const first = project.daemonPid()!;
    const faults = await FaultyReads.of(
      project.guardianPid()!,
      ['list', 'read', 'link'],
      'EIO',
      await readPaths(project, NAMES),
    );
    kill(first);
    await waitFor('another daemon that cannot see what is there', () =>
      project.read('.keepwell/daemon.log').includes('not known now; asking again until it is'),
    );
    await faults[Symbol.asyncDispose]();
    await project.answered();
    for (const name of NAMES)
      await project.until(name, 'known', ({ state, condition }) => state === 'running' && condition === null);
    expect(NAMES.map((name) => ledgers.begun(name).length)).toEqual([1, 1, 1]);
    await project.ok('down');
    expect(ledgers).toMatchObject({ doubled: [], alive: [] });
  });
});

describe.concurrent('when the daemon has hardly a file descriptor left', () => {
  test('connections to its API take none of those that watching and starting need', async () => {
    await using project = new TestProject(ledgerConfig(NAMES), { KEEPWELL_CGROUP: 'off' });
    const ledgers = new Ledgers(project, NAMES);
    await project.ok('up');
    const daemon = project.daemonPid()!;
    limitTo(daemon, Math.max(...fdsOf(daemon)) + 56);
    const connections = await crowd(project, 60);
    kill(ledgers.begun('a')[0]!);
    await waitFor('a to be started again', () => ledgers.begun('a').length === 2);
    await connections[Symbol.asyncDispose]();
    expect(await project.component('b')).toMatchObject({ state: 'running', condition: null });
    expect(project.daemonPid()).toBe(daemon);
    expect(ledgers.begun('b')).toHaveLength(1);
    await project.ok('down');
    expect(ledgers).toMatchObject({ doubled: [], alive: [] });
  });

  test('with none at all nothing is doubled and nobody ends; what died comes back when there are some again', async () => {
    await using project = new TestProject(ledgerConfig(NAMES), { KEEPWELL_CGROUP: 'off' });
    const ledgers = new Ledgers(project, NAMES);
    await project.ok('up');
    const daemon = project.daemonPid()!;
    limitTo(daemon, lowestFree(daemon));
    await waitFor('the daemon to have missed a descriptor', () =>
      project.read('.keepwell/daemon.log').includes('EMFILE'),
    );
    kill(project.guardianPid()!);
    await waitFor('it to have missed its guardian', () =>
      project.read('.keepwell/daemon.log').includes('the guardian cannot be checked now'),
    );
    kill(ledgers.begun('a')[0]!);
    expect(project.daemonPid()).toBe(daemon);
    limitTo(daemon, 1024);
    await waitFor('a to be started again', () => ledgers.begun('a').length === 2);
    await waitFor('a new guardian', () => project.guardianPid());
    expect(ledgers.begun('b')).toHaveLength(1);
    await project.ok('down');
    expect(ledgers).toMatchObject({ doubled: [], alive: [] });
  });
});

const fdsOf = (pid: number): readonly number[] => readdirSync(`/proc/${pid}/fd`).map(Number);

/** With this as its limit, a process cannot open anything. */
function lowestFree(pid: number): number {
  const used = new Set(fdsOf(pid));
  return Array.from({ length: used.size + 1 }, (_, fd) => fd).find((fd) => !used.has(fd))!;
}

function limitTo(pid: number, fds: number): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', `${pid}`, `--nofile=${fds}:${Math.max(fds, 4096)}`]);
  expect(String(stderr)).toBe('');
  expect(status).toBe(0);
}

/** So many connections to the API that say nothing, until it is disposed of. */
async function crowd(project: TestProject, size: number): Promise<AsyncDisposable> {
  const sockets = Array.from({ length: size }, () => connect(`${project.home}/keepwell.sock`));
  await Promise.all(
    sockets.map(
      (socket: Socket) =>
        new Promise<void>((resolve) => {
          socket.on('error', () => resolve()).once('connect', () => resolve()); // some are refused: that is the point
        }),
    ),
  );
  return {
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}
