import { expect, test } from 'vitest';
import { TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

test('restarts are in the daemon’s log, and a daemon in the foreground says the same on its standard output', async () => {
  await using project = new TestProject(`components:
  a:
    process: { command: [sh, -c, "sleep 0.05; exit 7"] } # of less than a millisecond no time is told
    restart: { backoff: { initial: 50ms } }
`);
  const daemon = project.start(['daemon']);
  let said = '';
  daemon.stdout?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await waitFor('the second restart', () => (said.match(/a: restart /g)?.length ?? 0) >= 2);
  expect(said).toMatch(/info +the daemon is up/);
  expect(said).toMatch(/warn +a: exit code 7; ran for .*; restart in .* \(1 of 10 in 10 min\) .*rule=backoff/);
  expect(await project.ok('logs', '--daemon')).toMatch(
    /warn +a: exit code 7; ran for .*; restart in .* \(1 of 10 in 10 min\)/,
  );
  daemon.kill('SIGTERM');
  await waitFor('the daemon to be gone', () => project.daemonPid() === null);
});

test('a daemon whose output nobody reads any more goes on', async () => {
  await using project = new TestProject(
    'components:\n  a: { process: { command: [sh, -c, "exit 7"] }, restart: { backoff: { initial: 1ms, factor: 1 }, limit: { max: 1000 } } }\n',
  );
  const daemon = project.start(['daemon']);
  await waitFor('a restart', () => project.read('.keepwell/daemon.log').includes('a: restart'));
  daemon.stdout?.destroy();
  const before = (await project.component('a')).restarts;
  await project.until('a', 'restarted ten times more', ({ restarts }) => restarts > before + 10);
  daemon.kill('SIGTERM');
  await waitFor('the daemon to be gone', () => project.daemonPid() === null);
});
