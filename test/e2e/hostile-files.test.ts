/** Components put pipes in place of files that the daemon reads or runs. It must go on with everything else, whatever they do. */
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Ledgers, ledgerConfig } from '../support/ledger.ts';
import { kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const RESTART = 'restart: { backoff: { initial: 50ms, max: 50ms, jitter: 0 }, limit: { max: 5, retry: never } }';
/** More than Node has threads for files. */
const HEARTS = ['h1', 'h2', 'h3', 'h4', 'h5'];

const CONFIG = `components:
  good:
    process: { command: [sleep, "1000"] }
    restart: { backoff: { initial: 50ms, max: 50ms, jitter: 0 } }
  program:
    process: { command: [./program] }
    ${RESTART}
  env:
    process: { command: [sh, -c, "rm -f env.list; mkfifo env.list; exit 1"], env_file: env.list }
    ${RESTART}
  log:
    process: { command: [sh, -c, "rm -f .keepwell/logs/log.log; mkfifo .keepwell/logs/log.log; exit 127"] }
    ${RESTART}
  probe:
    process: { command: [sleep, "1000"] }
    liveness: { exec: { command: [./question] }, period: 100ms, failure_threshold: 2 }
    ${RESTART}
  pid:
    external: { pid_file: pid.pipe }
    restart: { command: [./recover], backoff: { initial: 50ms, max: 50ms, jitter: 0 }, limit: { max: 5, retry: never } }
${HEARTS.map(
  (name) => `  ${name}:
    process: { command: [sh, -c, "rm -f ${name}.json; mkfifo ${name}.json; exec sleep 1000"] }
    heartbeat: { file: ${name}.json, field: at, freeze_after: 10s }
`,
).join('')}checks:
  state: { state_file: { path: pid.pipe } }
  there: { file_exists: pid.pipe }
`;

test('pipes in place of programs, env files, logs, heartbeats and pid files hold up nobody else', async () => {
  await using project = new TestProject(CONFIG);
  project.write('program', '#!/bin/sh\nrm program; mkfifo -m 755 program; exit 1\n');
  project.write('env.list', 'A=1\n');
  const pipe = (name: string) => execFileSync('mkfifo', ['-m', '755', project.path(name)]);
  for (const name of ['question', 'pid.pipe', 'recover']) pipe(name);
  await project.ok('up', '--no-wait');
  const program = await project.until('program', 'refused', ({ last_exit }) => last_exit?.spawn_error != null);
  expect(program.last_exit?.spawn_error).toContain('is not a regular file, but a pipe, a socket or a device');
  await project.until('env', 'given up', ({ state }) => state === 'gave-up');
  await project.until('log', 'given up', ({ state }) => state === 'gave-up');
  await project.until('probe', 'unwell', ({ restarts }) => restarts > 0);
  for (const name of HEARTS) {
    await waitFor(`the pipe of ${name}`, async () =>
      (await project.component(name)).heartbeat?.problem?.includes('not a regular file'),
    );
  }
  const { pid } = await project.component('good');
  kill(pid!);
  await project.until('good', 'restarted', (view) => view.state === 'running' && view.pid !== pid);
  const health = (await project.cli('health', '-o', 'json')).stdout;
  expect(health).toContain('is not a regular file');
  // Whoever waits at a pipe would wait for ever at the end of the project, too.
  for (const file of readdirSync(join(project.home, 'logs')))
    if (file === 'log.log') rmSync(join(project.home, 'logs', file));
});

/** What a component of the same user can put in place of a file: each would hold up, or never end, whoever reads it as one. */
const KINDS = {
  'a pipe': (path: string) => execFileSync('mkfifo', ['-m', '600', path]),
  'a device that never ends': (path: string) => symlinkSync('/dev/zero', path),
  'more than fits into memory': (path: string) => execFileSync('truncate', ['-s', '1T', path]),
};

describe.each(Object.entries(KINDS))('%s in place of', (_, put) => {
  test.each([
    [
      'files of the state directory',
      ['daemon.log', 'desired.json', 'applied.json', 'owner', 'daemon.exit', 'store-path'],
    ],
    ['the files of a run', ['run.json', 'pid', 'exit.tmp', 'err', 'exit']],
    ['the pipe of a run', ['fifo']],
  ])('%s does not keep a daemon from coming back, nor from seeing what ends', async (what, names) => {
    await using project = new TestProject(ledgerConfig(['a']));
    const ledgers = new Ledgers(project, ['a']);
    await project.ok('up');
    const { run_id: run, pid } = await project.component('a');
    const dir = what.includes('run') ? join(project.home, 'runs', run!) : project.home;
    for (const name of names) {
      rmSync(join(dir, name), { force: true });
      put(join(dir, name));
    }
    const daemon = project.daemonPid()!;
    kill(daemon);
    await waitFor('another daemon', () => (project.daemonPid() ?? daemon) !== daemon);
    await project.until('a', 'taken over', (view) => view.state === 'running' && view.pid === pid);
    kill(pid!);
    await project.until('a', 'started again', (view) => view.state === 'running' && view.pid !== pid);
    expect(ledgers.doubled).toEqual([]);
    await project.ok('down');
    expect(ledgers.alive).toEqual([]);
  });
});
