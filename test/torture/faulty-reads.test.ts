/** Every kind of read by itself, with every error: components keep their own ledgers, and nothing is doubled or left behind. */
import { describe, expect, test } from 'vitest';
import { canInject, FaultyReads, READ_KINDS, type ReadKind } from '../support/faulty-reads.ts';
import { Ledgers, ledgerConfig } from '../support/ledger.ts';
import { kill, TestProject } from '../support/project.ts';
import { readPaths } from '../support/read-paths.ts';
import { waitFor } from '../support/wait-for.ts';

const NAMES = ['a', 'b', 'c'];
const ERRORS = ['EMFILE', 'ENFILE', 'ENOMEM', 'EIO', 'EACCES'];
const CGROUPS = ['off', 'auto'];

/** Every kind of read with every error once, in turn without and with cgroups; KEEPWELL_FAULTY_READS=all for all of them in both. */
const errorsOf = (kind: ReadKind, cgroup: string): readonly string[] => {
  if (process.env['KEEPWELL_FAULTY_READS'] === 'all') return ERRORS;
  const turn = READ_KINDS.indexOf(kind) + CGROUPS.indexOf(cgroup);
  return ERRORS.filter((_, index) => (index + turn) % 2 === 0);
};

describe.skipIf(!canInject).each(CGROUPS)('cgroups: %s', (cgroup) => {
  test.concurrent.each(READ_KINDS)('%s fails, with one error after the other', async (kind) => {
    await using project = new TestProject(ledgerConfig(NAMES), { KEEPWELL_CGROUP: cgroup });
    const ledgers = new Ledgers(project, NAMES);
    await project.ok('up');
    for (const [round, error] of errorsOf(kind, cgroup).entries()) {
      {
        await using _faults = await FaultyReads.of(
          project.daemonPid()!,
          [kind],
          error,
          await readPaths(project, NAMES),
        );
        kill(ledgers.begun('a').at(-1)!);
        await project.cli('restart', 'b', '--timeout', '2s'); // it may have to wait until it can be seen
        // One look at everything happens every 5 s; whatever this kind of read is asked for was asked for by then.
        await waitFor('a sweep', sweepFrom(performance.now()));
      }
      await waitFor(`a to be back after ${error}`, () => ledgers.begun('a').length === round + 2);
      for (const name of NAMES)
        await project.until(name, 'known', ({ state, condition }) => state === 'running' && condition === null);
    }
    expect(ledgers.begun('c')).toHaveLength(1);
    await project.ok('down');
    expect(ledgers).toMatchObject({ doubled: [], alive: [] });
  });
});

const sweepFrom = (began: number) => (): boolean => performance.now() - began > 6_000;
