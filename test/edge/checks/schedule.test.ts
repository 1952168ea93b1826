import { expect, test } from 'vitest';
import { silentLog } from '../../../src/base/log.ts';
import { HealthSchedule } from '../../../src/checks/open.ts';
import { failed, healthReport, ok } from '../../../src/checks/rules/results.ts';
import type { HealthReports } from '../../../src/checks/service.ts';
import type { CheckResult, CheckSpec } from '../../../src/checks/spec.ts';
import { openMemoryStore } from '../../../src/history/memory.ts';
import type { EventView } from '../../../src/supervision/rules/views.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** A schedule whose checks answer what the test says, and take the time it says. */
function world(clock = new FakeClock(), store = openMemoryStore({ clock })) {
  const events: EventView[] = [];
  const state = { result: ok('container running') as CheckResult, takesMs: 0, reports: 0 };
  const check: CheckSpec = {
    ...{ name: 'sandbox', needs: [], hint: null, timeoutMs: 5_000 },
    question: { kind: 'container_running', container: 'box' },
  };
  const reports: Pick<HealthReports, 'checks' | 'reportOn'> = {
    checks: () => [check],
    reportOn: async (_, also) => {
      const beganAt = clock.wallNow();
      const observed = also.reportStarted(beganAt);
      state.reports += 1;
      if (state.takesMs > 0)
        await clock.sleepUntil((clock.now() + state.takesMs) as never, new AbortController().signal);
      observed.checkFinished({ name: 'sandbox', result: state.result, beganAt, tookMs: state.takesMs });
      return healthReport(new Map([['sandbox', state.result]]), beganAt);
    },
  };
  const schedule = new HealthSchedule({
    clock,
    reports,
    store,
    log: silentLog,
    record: (...commits) => {
      events.push(...store.commit(...commits));
      return commits;
    },
  });
  const results = () => store.checkResults({ check: 'sandbox', limit: 10 });
  return { clock, store, schedule, state, events, results };
}

test('runs one period after it was set and then every period; equal results are one row', async () => {
  const { clock, schedule, state, events, results } = world();
  schedule.set(60_000);
  await clock.advance(59_999);
  expect(state.reports).toBe(0);
  await clock.advance(180_001);
  expect(state.reports).toBe(4);
  expect(results()).toMatchObject([{ check: 'sandbox', status: 'ok', message: 'container running', count: 4 }]);
  expect(events).toEqual([]);
  schedule[Symbol.dispose]();
  expect(clock.sleeping).toBe(0);
});

test('tells of each change, and begins a new row', async () => {
  const { clock, schedule, state, events, results } = world();
  schedule.set(60_000);
  await clock.advance(60_000);
  state.result = failed('container stopped', 'start it');
  await clock.advance(120_000);
  state.result = ok('container running');
  await clock.advance(60_000);
  schedule[Symbol.dispose]();
  const subject = { kind: 'check', name: 'sandbox' };
  expect(events).toMatchObject([
    { type: 'check.changed', subject, data: { status: 'failed', before: 'ok', message: 'container stopped' } },
    { type: 'check.changed', subject, data: { status: 'ok', before: 'failed' } },
  ]);
  expect(results().map(({ status, count }) => [status, count])).toEqual([
    ['ok', 1],
    ['failed', 2],
    ['ok', 1],
  ]);
});

test('a new daemon begins a new row, and tells only of what changed since the last one', async () => {
  const first = world();
  first.state.result = failed('gone');
  first.schedule.set(60_000);
  await first.clock.advance(60_000);
  first.schedule[Symbol.dispose]();
  expect(first.events).toMatchObject([{ data: { status: 'failed', before: null } }]);
  const next = world(first.clock, first.store);
  next.state.result = failed('gone');
  next.schedule.set(60_000);
  await next.clock.advance(60_000);
  next.schedule[Symbol.dispose]();
  expect(next.events).toEqual([]);
  expect(next.results().map(({ count }) => count)).toEqual([1, 1]);
});

test('a report that takes longer than the period is not run beside itself', async () => {
  const { clock, schedule, state } = world();
  state.takesMs = 150_000;
  schedule.set(60_000);
  await clock.advance(60_000 + 600_000);
  // Due at 60 s, done at 210 s, so next at 240 s, 420 s and 600 s.
  expect(state.reports).toBe(4);
  schedule[Symbol.dispose]();
});

test('another period takes hold at once, none ends it, and what is under way then is not kept', async () => {
  const { clock, schedule, state, results } = world();
  schedule.set(3_600_000);
  schedule.set(10_000);
  await clock.advance(10_000);
  expect(state.reports).toBe(1);
  state.takesMs = 5_000;
  await clock.advance(10_000);
  schedule.set(null);
  await clock.advance(100_000);
  expect(state.reports).toBe(2);
  expect(results()).toMatchObject([{ count: 1 }]);
  expect(clock.sleeping).toBe(0);
});
