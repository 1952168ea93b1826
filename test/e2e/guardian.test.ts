/** The guardian of a real daemon: it replaces one that hangs, and says when it brings back one that died. */
import { expect, test } from 'vitest';
import { Ledgers, ledgerConfig } from '../support/ledger.ts';
import { canMount, OwnDisk } from '../support/own-disk.ts';
import { kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const NAMES = ['a', 'b'];

test.concurrent('a daemon that hangs is replaced, and its components never notice', async () => {
  await using project = new TestProject(ledgerConfig(NAMES));
  const ledgers = new Ledgers(project, NAMES);
  await project.ok('up');
  const first = project.daemonPid()!;
  kill(first, 'SIGSTOP');
  await waitFor('another daemon', () => (project.daemonPid() ?? first) !== first);
  await project.answered();
  expect(project.read('.keepwell/daemon.log')).toContain(`the daemon (pid ${first}) did not answer 3 times in a row`);
  expect(NAMES.map((name) => ledgers.begun(name).length)).toEqual([1, 1]);
  await project.ok('down');
  expect(ledgers).toMatchObject({ doubled: [], alive: [] });
});

test.concurrent('status says when the guardian starts a daemon again that died', async () => {
  await using project = new TestProject(ledgerConfig(NAMES));
  new Ledgers(project, NAMES);
  await project.ok('up');
  // Each death doubles the pause until the next start.
  const told = await waitFor('a pause that is long enough to be told', async () => {
    const pid = project.daemonPid();
    if (pid !== null) kill(pid);
    const { stderr, stdout } = await project.cli('status');
    return /the guardian starts it again in \d+\s?s/.exec(stderr + stdout);
  });
  expect(told[0]).toMatch(/in \d+/);
});

test.skipIf(!canMount)(
  'a daemon that dies on a read-only state directory comes back by itself when it can be written, and its components never notice',
  async () => {
    await using project = new TestProject(ledgerConfig(NAMES));
    await using disk = new OwnDisk(project);
    const ledgers = new Ledgers(project, NAMES);
    await project.ok('up');
    const first = project.daemonPid()!;
    disk.lock();
    kill(first);
    const { daemon, components } = await waitFor('the reason to be told', async () => {
      const status = await project.status();
      return status.daemon.waits_for ? status : null;
    });
    expect(daemon.waits_for).toContain('cannot be written: the file system is read-only (EROFS)');
    expect(components.map(({ state }) => state)).toEqual(['running', 'running']);
    const { stdout, stderr } = await project.cli('status');
    expect(stdout + stderr).toContain('Make it writable: then it comes back by itself');
    disk.unlock();
    await waitFor('another daemon', () => (project.daemonPid() ?? first) !== first);
    await project.answered();
    expect(NAMES.map((name) => ledgers.begun(name).length)).toEqual([1, 1]);
    await project.ok('down');
    expect(ledgers).toMatchObject({ doubled: [], alive: [] });
  },
);
