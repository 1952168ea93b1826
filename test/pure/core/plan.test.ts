import { describe, expect, test } from 'vitest';
import { ingredients, specHash } from '../../../src/config/fingerprint.ts';
import type { StateKind } from '../../../src/supervision/rules/lifecycle/state.ts';
import { appliedView, type CurrentComponent, type PlanStep, planChanges } from '../../../src/supervision/rules/plan.ts';
import type { ComponentSpec } from '../../../src/supervision/spec.ts';
import { load } from '../config/support.ts';

const specs = (text: string): readonly ComponentSpec[] => load(`components: { ${text} }`).components;

interface Before {
  readonly state?: StateKind;
  readonly desired?: CurrentComponent['desired'];
}

/** The plan from one configuration to another; every component is in the same state before. */
function plan(before: string, after: string, { state = 'running', desired = 'running' }: Before = {}) {
  const current = specs(before).map((spec) => ({ spec, state, desired }));
  return planChanges(current, specs(after), { specHash, ingredients, startAdded: true });
}

/** The one step that is not "unchanged", as a row. */
const row = ({ action, because, in_place, note }: PlanStep) => [action, [...because], [...in_place], note];
const api = (keys: string, more = ''): string => `api: { process: { ${keys} }${more} }`;

describe.each<[what: string, before: string, after: string, because: string[], inPlace: string[]]>([
  ['the command', api('command: [a]'), api('command: [b]'), ['command'], []],
  ['shell instead of argv', api('command: [a]'), api('command: a, shell: true'), ['command'], []],
  ['a variable', api('command: [a], env: { A: x, B: y }'), api('command: [a], env: { A: z, B: y }'), ['env A'], []],
  ['a variable that goes', api('command: [a], env: { A: x }'), api('command: [a]'), ['env A'], []],
  ['the directory', api('command: [a]'), api('command: [a], cwd: x'), ['cwd'], []],
  ['an env file', api('command: [a]'), api('command: [a], env_file: x.env'), ['env_file x.env'], []],
  ['the user', api('command: [a]'), api('command: [a], user: app'), ['user'], []],
  ['a limit', api('command: [a]'), api('command: [a]', ', limits: { pids: 9 }'), ['limits'], []],
  ['the policy', api('command: [a]'), api('command: [a]', ', restart: { dependents: true }'), [], ['restart']],
  ['the grace', api('command: [a]'), api('command: [a]', ', stop: { grace: 1s }'), [], ['stop']],
  ['a probe', api('command: [a]'), api('command: [a]', ', readiness: { tcp: 1 }'), [], ['readiness']],
  ['how much log is kept', api('command: [a]'), api('command: [a]', ', logs: { keep: 2 }'), [], ['logs']],
  ['two at once', api('command: [a]'), api('command: [b]', ', stop: { grace: 1s }'), ['command'], ['stop']],
])('a change of %s', (_, before, after, because, inPlace) => {
  test('is named, and asks for a restart only when a run is made of it', () => {
    const action = because.length > 0 ? 'restarted' : 'changed';
    expect(plan(before, after).map(row)).toEqual([[action, because, inPlace, null]]);
  });

  test('is the end of giving up when a run is made of it; otherwise it is said what to type', () => {
    const [step] = plan(before, after, { state: 'gave-up' });
    const note =
      because.length > 0
        ? 'it had given up: started again with this'
        : 'it has given up: "keepwell start api" tries it again';
    expect(step).toMatchObject({ action: 'changed', because, in_place: inPlace, starts: because.length > 0, note });
    expect(plan(before, after, { state: 'gave-up', desired: 'stopped' })[0]).toMatchObject({ starts: false });
  });

  test.each<StateKind>(['stopped', 'waiting', 'backing-off', 'stopping', 'completed'])(
    'restarts nothing that is %s, and says so',
    (state) => {
      const note = because.length > 0 ? `it does not run (${state}): its next start uses this` : null;
      expect(plan(before, after, { state }).map(row)).toEqual([['changed', because, inPlace, note]]);
    },
  );
});

test('the same content in another order is no change', () => {
  const a = api('command: [a], env: { A: x, B: y }', ', depends_on: { db: ready, mq: started }');
  const b = api('env: { B: y, A: x }, command: [a]', ', depends_on: { mq: started, db: ready }');
  const rest = 'db: { process: { command: [db] } }, mq: { process: { command: [mq] } }';
  expect(appliedView(plan(`${a}, ${rest}`, `${b}, ${rest}`)).unchanged).toEqual(['api', 'db', 'mq']);
});

test('a new way to bring back something external takes hold without using it', () => {
  const legacy = (command: string) => `legacy: { external: { pid_file: a.pid }, restart: { command: [${command}] } }`;
  expect(plan(legacy('x'), legacy('y')).map(row)).toEqual([['changed', [], ['command'], null]]);
  expect(plan(legacy('x'), legacy('x').replace('a.pid', 'b.pid')).map(row)).toEqual([
    ['restarted', ['external'], [], null],
  ]);
});

test('what is new is started, what is gone is stopped, and the rest keeps its place', () => {
  const steps = plan('a: { process: { command: [a] } }, b: { process: { command: [b] } }', api('command: [a]'));
  expect(steps.map((step) => [step.component, ...row(step), step.starts])).toEqual([
    ['api', 'added', [], [], 'started', true],
    ['a', 'removed', [], [], 'stopped', false],
    ['b', 'removed', [], [], 'stopped', false],
  ]);
});

test('what does not run has nothing to stop when it is removed', () => {
  const step = plan(api('command: [a]'), 'b: { process: { command: [b] } }', { state: 'gave-up' }).at(-1);
  expect(step).toMatchObject({ action: 'removed', note: 'it does not run (gave-up)' });
});

describe('what something new depends on', () => {
  const db = 'db: { process: { command: [db] } }';
  const mq = 'mq: { process: { command: [mq] }, depends_on: { db: ready } }';
  const worker = 'worker: { process: { command: [w] }, depends_on: { mq: ready } }';
  const grown = (before: Before) => plan(`${db}, ${mq}`, `${db}, ${mq}, ${worker}`, before).map(({ starts }) => starts);

  test.each<[StateKind, CurrentComponent['desired'], boolean]>([
    ['stopped', 'stopped', true],
    ['gave-up', 'running', true],
    ['stopping', 'stopped', true],
    ['stopping', 'running', false],
    ['running', 'running', false],
    ['waiting', 'running', false],
    ['completed', 'running', false],
  ])('when %s and wanted %s is started: %s', (state, desired, starts) => {
    expect(grown({ state, desired })).toEqual([starts, starts, true]);
  });

  test('is said, with the one that needs it', () => {
    const [step] = plan(`${db}, ${mq}`, `${db}, ${mq}, ${worker}`, { state: 'stopped', desired: 'stopped' });
    expect(step).toMatchObject({ action: 'unchanged', starts: true, note: 'started, because worker needs it' });
  });

  test('is left alone when what is new is not started', () => {
    const current = specs(db).map((spec) => ({ spec, state: 'stopped' as const, desired: 'stopped' as const }));
    const steps = planChanges(current, specs(`${db}, ${mq}`), { specHash, ingredients, startAdded: false });
    expect(steps.map(({ starts, note }) => [starts, note])).toEqual([
      [false, null],
      [false, null],
    ]);
  });
});

test('a restart after which it would have to wait says for whom', () => {
  const db = 'db: { process: { command: [db] } }';
  const needy = (command: string) => `api: { process: { command: [${command}] }, depends_on: { db: ready } }`;
  const current = specs(`${db}, ${needy('a')}`).map((spec, i) => ({
    ...{ spec, state: (['stopped', 'running'] as const)[i]!, desired: (['stopped', 'running'] as const)[i]! },
  }));
  const steps = planChanges(current, specs(`${db}, ${needy('b')}`), { specHash, ingredients, startAdded: true });
  expect(steps[1]).toMatchObject({ action: 'restarted', note: 'then waits for db, not running now' });
});

test('no value is ever shown', () => {
  const secret = (word: string) =>
    api(
      `command: [server, --password, ${word}], env: { TOKEN: ${word} }`,
      `, readiness: { exec: { command: [${word}] } }`,
    );
  expect(JSON.stringify(plan(secret('hunter2'), secret('tr0ub4dor')))).not.toMatch(/hunter2|tr0ub4dor/);
});

test('every part of a specification that can change has a name', () => {
  const [spec] = specs(api('command: [a]'));
  for (const key of Object.keys(spec!).filter((one) => one !== 'name' && one !== 'driver')) {
    const now: CurrentComponent = { spec: spec!, state: 'running', desired: 'running' };
    const other = { ...spec!, [key]: { another: 'value' } } as unknown as ComponentSpec;
    const limits = { ...spec!.limits, pids: 7 };
    const [step] = planChanges([now], [key === 'limits' ? { ...spec!, limits } : other], {
      ...{ specHash, ingredients, startAdded: true },
    });
    expect(step!.because.length + step!.in_place.length, key).toBeGreaterThan(0);
  }
});
