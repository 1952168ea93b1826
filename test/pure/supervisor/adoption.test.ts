import { expect, test } from 'vitest';
import { silentLog } from '../../../src/base/log.ts';
import { componentName, type RunId } from '../../../src/base/pure/ids.ts';
import type { Commit } from '../../../src/history/ports.ts';
import { adoptAll } from '../../../src/supervision/adoption.ts';
import type { ComponentRunner } from '../../../src/supervision/component-runner.ts';
import type { FoundRun } from '../../../src/supervision/ports/driver.ts';
import { FRESH } from '../../../src/supervision/rules/lifecycle/state.ts';
import { exitCode, spec } from '../../support/builders.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const OLDER = 'a~000000001000001' as RunId;
const NEWER = 'a~000000002000002' as RunId;
const found = (run: RunId): FoundRun => ({ run, component: componentName('a'), specHash: '', sameBoot: true });

/** Adopts what lies on disk, newest first, when the record names a run; tells who was taken and what was written. */
function adopt(recorded: RunId | null, left: readonly RunId[], ended: readonly RunId[] = []) {
  const told: string[] = [];
  const commits: Commit[] = [];
  const state =
    recorded === null ? { kind: 'stopped' } : { kind: 'starting', run: recorded, since: 0, attempt: 'first' };
  const runner = {
    name: componentName('a'),
    spec: spec('a'),
    component: { state, counters: FRESH },
    adopt: (hasTraces: boolean) => told.push(`adopt ${recorded} ${hasTraces}`),
    adoptUnrecorded: (run: RunId) => {
      told.push(`adopt unrecorded ${run}`);
      runner.component = { state: { kind: 'starting', run, since: 0, attempt: 'restart' }, counters: FRESH };
    },
  };
  const driver = {
    found: () => left.map(found),
    release: (run: RunId) => told.push(`release ${run}`),
    killTree: (run: RunId) => told.push(`kill ${run}`),
    adopt: (run: RunId, _spec: unknown, report: (one: object) => void) =>
      report({ kind: 'exited', at: 0, cause: exitCode(run === OLDER ? 7 : 8), leftovers: [] }),
  };
  adoptAll([runner as unknown as ComponentRunner], {
    driver: driver as never,
    history: { run: (run: RunId) => (ended.includes(run) ? { endedAt: 1 } : null) } as never,
    clock: new FakeClock(),
    log: silentLog,
    commit: (commit) => commits.push(commit),
    runnerFor: () => runner as unknown as ComponentRunner,
  });
  return { told, ends: commits.map(({ runEnded }) => [runEnded?.run, runEnded?.exit.code]) };
}

test('the run that the record names is taken over', () => {
  expect(adopt(OLDER, [OLDER])).toEqual({ told: [`adopt ${OLDER} true`], ends: [] });
  expect(adopt(OLDER, [])).toEqual({ told: [`adopt ${OLDER} false`], ends: [] });
});

test('a later one, begun by a daemon that could not write, is taken over instead, and the end of the earlier one is recorded', () => {
  expect(adopt(OLDER, [NEWER, OLDER])).toEqual({ told: [`adopt unrecorded ${NEWER}`], ends: [[OLDER, 7]] });
});

test('an earlier one is ended, and not the one that the record names', () => {
  expect(adopt(NEWER, [NEWER, OLDER])).toEqual({ told: [`adopt ${NEWER} true`], ends: [[OLDER, 7]] });
});

test('one whose end is recorded is only cleared away', () => {
  expect(adopt(OLDER, [NEWER, OLDER], [NEWER])).toEqual({
    told: [`adopt ${OLDER} true`, `release ${NEWER}`],
    ends: [],
  });
});

test('one that no record names is taken over', () => {
  expect(adopt(null, [OLDER])).toEqual({ told: [`adopt unrecorded ${OLDER}`], ends: [] });
});
