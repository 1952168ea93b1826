import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { component } from '../http/fake-control.ts';
import { CliWorld } from './cli-world.ts';

const STACK = `
name: shop
components:
  api:
    process: { command: [sleep, "1"] }
    depends_on: { database: ready }
    restart: { backoff: { initial: 2s, jitter: 0 }, limit: { max: 2, within: 1m, retry: never } }
  database: { process: { command: [sleep, "1"] } }
  once: { process: { command: [sleep, "1"] }, restart: { policy: never } }
`;

function withStack(world: CliWorld): CliWorld {
  writeFileSync(world.dir.at('keepwell.yaml'), STACK);
  return world;
}

test('backoff: the defaults without a configuration, the policy of a component with one, options over both', async () => {
  await using world = withStack(new CliWorld());
  expect((await world.run('backoff')).out).toContain('it gives up after 10 restarts');
  const api = await world.run('backoff', 'api');
  expect(api).toMatchObject({ code: 0, err: '' });
  expect(api.out.trim().split('\n')).toEqual([
    'RESTART  WAIT  SINCE FIRST FAILURE  LIMIT',
    '1        2 s   2 s                  1 of 2 in 1 min',
    '2        4 s   6 s                  2 of 2',
    'gave-up  -     6 s                  2 of 2 in 1 min are used',
    '',
    'If every run fails at once, api gives up after 2 restarts, 6 s after the first failure, and stays so until somebody starts it.',
  ]);
  const args = '--initial 1s --factor 3 --max 2s --jitter 0.5 --limit 3 --within 5m --retry 1m --uptime 10s'.split(' ');
  const { out } = await world.run('backoff', 'api', ...args, '--reset-after', '1h', '-o', 'json');
  expect(JSON.parse(out)).toMatchObject({
    component: 'api',
    policy: {
      backoff: { initial_ms: 1_000, factor: 3, max_ms: 2_000, jitter: 0.5, reset_after_ms: 3_600_000 },
      limit: { max: 3, within_ms: 300_000, retry_ms: 60_000 },
    },
    uptime_ms: 10_000,
    restarts: [{ wait_ms: { min: 500, max: 1_000 } }, { wait_ms: { min: 1_000, max: 2_000 } }, {}],
    gives_up: 'always',
  });
  expect((await world.run('backoff', 'once')).out).toContain('once is never restarted after a failure');
  rmSync(world.dir.at('keepwell.yaml'));
  expect((await world.run('backoff', '--limit', '1')).code).toBe(0);
  expect((await world.run('backoff', 'api')).code).toBe(2);
});

test.each([
  [['--initial', '2m'], 'The longest wait, 1 min, is less than the first one, 2 min.'],
  [['--within', '0s'], '--within must be longer than 0s.'],
  [['--factor', '0.5'], 'from 1 to 100'],
  [['--jitter', '2'], 'from 0 to 1'],
  [['--limit', '-1'], '--limit'],
  [['--retry', 'nevr'], 'Or write never.'],
  [['--retry', '0s'], 'longer than 0s'],
  [['--uptime', '30'], 'Write 30s'],
  [['-f', 'keepwell.yaml'], 'Name the component'],
  [['a', 'b'], 'argument'],
])('backoff %j is refused with a reason', async (args, reason) => {
  await using world = withStack(new CliWorld());
  const { code, out, err } = await world.run('backoff', ...args);
  expect([code, out]).toEqual([2, '']);
  expect(err).toContain(reason);
});

test('graph: with states from the daemon, without on demand, and as drawings', async () => {
  await using world = withStack(await CliWorld.served());
  world.served!.control.components = [
    component('database'),
    component('api', { state: 'gave-up', ready: false }),
    component('gone', { removed: true }),
  ];
  const { code, out, err } = await world.run('graph');
  expect([code, err]).toEqual([0, '']);
  expect(out.trim().split('\n')).toEqual([
    'STEP  NAME      STATE      NEEDS',
    '1     database  ● running',
    '1     once      -',
    '2     api       ✗ gave-up  database (ready)',
  ]);
  expect((await world.run('graph', 'database', '--no-state')).out).toBe('STEP  NAME      NEEDS\n1     database\n');
  expect((await world.run('graph', '--format', 'mermaid')).out).toContain('  c3 -->|ready| c1\n');
  expect((await world.run('graph', '--format=dot')).out).toMatch(/^digraph "shop" \{\n[\s\S]*\n\}\n$/);
  const json = JSON.parse((await world.run('graph', 'a*', '-o', 'json')).out);
  expect(json.components.map((one: { name: string; state: string }) => [one.name, one.state])).toEqual([
    ['database', 'running'],
    ['api', 'gave-up'],
  ]);
  world.isTty = true;
  expect((await world.run('graph')).out).toContain('\u001b[31m✗ gave-up');
});

test('graph without a daemon: from the records if there are any, and a configuration with mistakes is an error', async () => {
  await using world = withStack(new CliWorld());
  const recorded = await world.run('graph');
  expect(recorded.out).toContain('○ stopped');
  expect(recorded.err).toContain('the daemon is not running');
  expect(await world.run('graph', '--no-state')).toMatchObject({ code: 0, err: '' });
  rmSync(world.home, { recursive: true });
  const fresh = await world.run('graph');
  expect([fresh.err, fresh.out.includes('STATE')]).toEqual(['', false]);
  mkdirSync(world.home);
  expect((await world.run('graph', '--format', 'dot', '-o', 'json')).err).toContain('not both');
  writeFileSync(world.dir.at('keepwell.yaml'), 'components: { a: {} }');
  expect((await world.run('graph')).code).toBe(2);
});
