import { expect, test } from 'vitest';
import { ConfigError } from '../../../src/config/problem.ts';
import type { PlanStep } from '../../../src/supervision/rules/plan.ts';
import { component } from '../http/fake-control.ts';
import { CliWorld } from './cli-world.ts';

const step = (name: string, action: PlanStep['action'], more: Partial<PlanStep> = {}): PlanStep => ({
  ...{ component: name, action, because: [], in_place: [], starts: false, note: null },
  ...more,
});

const STEPS: PlanStep[] = [
  step('db', 'unchanged'),
  step('api', 'restarted', { because: ['command', 'env LOG_LEVEL'], in_place: ['stop'] }),
  step('web', 'changed', { in_place: ['restart', 'liveness'] }),
  step('off', 'changed', { because: ['command'], note: 'it does not run (stopped): its next start uses this' }),
  step('mq', 'unchanged', { starts: true, note: 'started, because worker needs it' }),
  step('worker', 'added', { starts: true, note: 'started' }),
  step('old', 'removed', { note: 'stopped' }),
];

const TABLE = `ACTION     NAME    WHY
restarted  api     because of command, env LOG_LEVEL; also stop, without a restart
changed    web     restart, liveness, without a restart
changed    off     command; it does not run (stopped): its next start uses this
unchanged  mq      started, because worker needs it
added      worker  started
removed    old     stopped
unchanged: db
`;

test('a dry run shows what would be done with each and why, and does nothing', async () => {
  await using world = await CliWorld.served();
  const { control } = world.served!;
  control.steps = STEPS;
  const { code, out, err } = await world.run('reload', '--dry-run');
  expect({ code, out }).toEqual({ code: 0, out: TABLE });
  expect(err).toBe('nothing was done: this is what "keepwell reload" would do now\n');
  expect(control.asked).toEqual([['reload', { dryRun: true }]]);
});

test('a reload says what it did in the same words', async () => {
  await using world = await CliWorld.served();
  const { control } = world.served!;
  control.steps = STEPS;
  const { code, out, err } = await world.run('reload', '--no-wait');
  expect({ code, out, err }).toEqual({ code: 0, out: TABLE, err: '' });
  expect(control.asked).toEqual([['reload']]);
});

test('both print one document for programs', async () => {
  await using world = await CliWorld.served();
  world.served!.control.steps = STEPS;
  for (const [args, dryRun] of [
    [['reload', '-n', '-o', 'json'], true],
    [['-o', 'json', 'reload', '--no-wait'], false],
  ] as const) {
    const { code, out } = await world.run(...args);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      ...{ schema_version: 1, dry_run: dryRun, added: ['worker'], removed: ['old'], unchanged: ['db', 'mq'] },
      ...{ changed: ['api', 'web', 'off'], restarted: ['api'], steps: STEPS },
    });
  }
});

test('many that stay as they are are only counted', async () => {
  await using world = await CliWorld.served();
  world.served!.control.steps = Array.from({ length: 500 }, (_, i) => step(`c${i}`, 'unchanged'));
  expect((await world.run('reload')).out).toBe('unchanged: 500 components\n');
});

test('what changed for the project as a whole has a line of its own', async () => {
  await using world = await CliWorld.served();
  Object.assign(world.served!.control, { steps: [step('db', 'unchanged')], settings: ['logs'] });
  expect((await world.run('reload')).out).toBe('for the project as a whole: logs, without a restart\nunchanged: db\n');
});

test('it waits until what it started is ready, and says what is not', async () => {
  await using world = await CliWorld.served();
  const { control } = world.served!;
  control.steps = [step('worker', 'added', { starts: true, note: 'started' })];
  control.components = [component('worker', { state: 'running', ready: false })];
  const late = await world.run('reload', '--timeout', '100ms');
  expect(late.code).toBe(5);
  expect(late.out).toContain('added');
  expect(late.err).toContain('worker is running but not ready');
  control.components = [component('worker')];
  expect((await world.run('reload')).code).toBe(0);
});

test('mistakes are all told with their places, and end with 2', async () => {
  await using world = await CliWorld.served();
  const at = { file: '/p/keepwell.yaml', path: 'components.api', hint: null };
  world.served!.control.failure = new ConfigError(
    [
      { ...at, line: 3, column: 5, message: 'one thing' },
      { ...at, line: 7, column: 9, message: 'another' },
    ],
    '/p',
  );
  // The status is asked for first, and it fails in the same way here.
  const { code, out, err } = await world.run('reload');
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain('keepwell.yaml:3:5 components.api: one thing');
  expect(err).toContain('keepwell.yaml:7:9 components.api: another');
});

test('without a daemon it says so and ends with 3', async () => {
  await using world = new CliWorld();
  for (const args of [['reload'], ['reload', '--dry-run']]) {
    const { code, out, err } = await world.run(...args);
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toContain('keepwell up');
  }
});

test('other files than those of the daemon are refused', async () => {
  await using world = await CliWorld.served();
  const { code, err } = await world.run('reload', '-f', 'keepwell.yaml');
  expect(code).toBe(2);
  expect(err).toContain('not ');
  expect(world.served!.control.asked).toEqual([]);
});
