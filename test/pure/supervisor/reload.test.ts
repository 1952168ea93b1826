import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ComponentSpec } from '../../../src/supervision/spec.ts';
import { exitCode, restartSpec, spec } from '../../support/builders.ts';
import { supervisorWorld } from '../../support/supervisor-world.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];

/** One of two commands, one of two policies; dependencies only on names before it, so there are no cycles. */
const component = (name: string) =>
  fc.record({
    command: fc.constantFrom('x', 'y'),
    policy: fc.constantFrom('always' as const, 'on-failure' as const),
    needs: fc.subarray(NAMES.slice(0, NAMES.indexOf(name))),
  });
const configuration = fc
  .record(Object.fromEntries(NAMES.map((name) => [name, fc.option(component(name), { nil: null })])))
  .map((drawn): readonly ComponentSpec[] =>
    NAMES.flatMap((name) => {
      const one = drawn[name];
      if (!one) return [];
      const dependsOn = Object.fromEntries(
        one.needs.filter((other) => drawn[other]).map((other) => [other, 'started']),
      );
      return [
        spec(name, {
          driver: { kind: 'process', command: [one.command], shell: false, cwd: '/', env: {}, envFiles: [] },
          restart: restartSpec({ policy: one.policy }),
          dependsOn: dependsOn as ComponentSpec['dependsOn'],
        }),
      ];
    }),
  );

test('a reload does exactly what its dry run said, and touches nothing else', async () => {
  const drawn = fc.tuple(configuration, configuration, fc.subarray(NAMES), fc.subarray(NAMES));
  await fc.assert(
    fc.asyncProperty(drawn, async ([before, after, started, stopped]) => {
      const { supervisor, driver, clock } = supervisorWorld(before);
      const known = supervisor.names;
      supervisor.up(started.filter((name) => known.includes(name)));
      await clock.advance(0);
      supervisor.stop(stopped.filter((name) => known.includes(name)));
      await clock.advance(0);
      const live = () => [...driver.liveNames].sort();
      const ran = live();

      const plan = supervisor.plan(after, true);
      expect(live()).toEqual(ran);
      const runs = driver.runs.length;
      expect(supervisor.apply(after, true)).toEqual(plan);
      if (plan.added.length > 0) supervisor.up(plan.added);
      await clock.advance(0);

      const starts = plan.steps.filter((step) => step.starts).map((step) => step.component);
      const needs = new Map(after.map(({ name, dependsOn }) => [name as string, Object.keys(dependsOn)]));
      const isFree = (name: string) => needs.get(name)!.every((other) => live().includes(other));
      const begun = driver.runs.slice(runs).map(({ launch }) => launch.component as string);
      expect(begun.sort()).toEqual([...plan.restarted.filter(isFree), ...starts].sort());
      const touched = [...plan.restarted, ...plan.removed];
      expect(live()).toEqual([...ran.filter((name) => !touched.includes(name)), ...begun].sort());
      expect(supervisor.names).toEqual(after.map(({ name }) => name));
    }),
    { numRuns: 500 },
  );
});

test('a plan changes nothing, however often it is made', async () => {
  const { supervisor, driver, clock } = supervisorWorld([spec('a')]);
  supervisor.up(['a']);
  await clock.advance(0);
  const before = supervisor.views();
  for (const next of [[], [spec('b')], [spec('a', { crashPatterns: ['x'] })]]) supervisor.plan(next, true);
  await clock.advance(0);
  expect(supervisor.views()).toEqual(before);
  expect(driver.runs.length).toBe(1);
});

test('a correction of what it is made of ends giving up', async () => {
  const once = restartSpec({ limit: { max: 0, withinMs: 600_000, retryMs: 900_000 } });
  const command = (word: string) =>
    spec('a', {
      driver: { kind: 'process', command: [word], shell: false, cwd: '/', env: {}, envFiles: [] },
      restart: once,
    });
  const { supervisor, driver, clock, state } = supervisorWorld([command('wrong')]);
  supervisor.up(['a']);
  await clock.advance(0);
  driver.die('a', exitCode(1));
  await clock.advance(0);
  expect(state('a')).toBe('gave-up');
  expect(supervisor.plan([command('right')], true).steps).toMatchObject([{ starts: true }]);
  supervisor.apply([command('right')], true);
  await clock.advance(0);
  expect(state('a')).toBe('running');
  expect(supervisor.views()[0]).toMatchObject({ restarts: 0, desired: 'running' });
  supervisor.close();
});
