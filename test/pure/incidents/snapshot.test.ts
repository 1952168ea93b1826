/** How components stand, for whoever decides whether they are well again: all of them are looked at every two seconds. */
import { describe, expect, test } from 'vitest';
import { type MonoMs, runId } from '../../../src/base/pure/ids.ts';
import type { ComponentRunner } from '../../../src/supervision/component-runner.ts';
import { snapshotOf } from '../../../src/supervision/component-snapshot.ts';

const NOW = 10_000 as MonoMs;
const RUNNING = {
  ...{
    kind: 'running',
    run: runId('api' as never, 0 as never, 0),
    pid: 7,
    startedAt: 4_000,
    attempt: 'first',
    daemonised: false,
  },
  health: { started: true, alive: true, ready: true, healthySince: 4_000 },
};

/** A process that runs well, except for what is given. Whoever wants its view is told that it is not ready, and counted. */
function runner({ state = {}, ...over }: { state?: object; driver?: string; isDoubted?: boolean } = {}) {
  let views = 0;
  const stub = {
    ...{ name: 'api', desired: 'running', beatAt: null, isDoubted: over.isDoubted ?? false },
    spec: { name: 'api', minUptimeMs: 1_000, driver: { kind: over.driver ?? 'process' } },
    component: { state: { ...RUNNING, ...state } },
    view: () => {
      views += 1;
      return {
        name: 'api',
        state: 'running',
        condition: null,
        health: 'healthy',
        ready: false,
        removed: false,
        note: null,
      };
    },
  };
  return { runner: stub as unknown as ComponentRunner, views: () => views };
}

describe('how a component stands', () => {
  test('of a process that runs well nothing more is found out', () => {
    const { runner: well, views } = runner();
    const seen = snapshotOf(well, NOW);
    expect(seen).toMatchObject({ isWell: true, isWanted: true, unwell: null, upMs: 6_000, state: 'running' });
    expect(views()).toBe(0);
  });

  test.each([
    ['it is not ready', { state: { health: { ...RUNNING.health, ready: false } } }],
    ['it is frozen', { state: { freeze: {} } }],
    ['it cannot be looked at', { isDoubted: true }],
    ['it is a container, whose Engine may be away', { driver: 'container' }],
  ])('it is looked at closely when %s', (_, over) => {
    const { runner: other, views } = runner(over);
    expect(snapshotOf(other, NOW).unwell).toMatchObject({ kind: 'not-ready' });
    expect(views()).toBe(1);
  });
});
