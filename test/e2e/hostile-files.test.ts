/** Components put pipes in place of files that the daemon reads or runs. It must go on with everything else, whatever they do. */
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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
  expect(program.last_exit?.spawn_error).toContain('is no file: a pipe, a socket or a device');
  await project.until('env', 'given up', ({ state }) => state === 'gave-up');
  await project.until('log', 'given up', ({ state }) => state === 'gave-up');
  await project.until('probe', 'unwell', ({ restarts }) => restarts > 0);
  for (const name of HEARTS) {
    await waitFor(`the pipe of ${name}`, async () =>
      (await project.component(name)).heartbeat?.problem?.includes('no file'),
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
