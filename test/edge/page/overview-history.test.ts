/** The overview of a large project with a day behind it, out of a real database written by the store itself. */
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { MonoMs, WallMs } from '../../../src/base/pure/ids.ts';
import { Overview } from '../../../src/dashboard/overview.ts';
import type { Commit } from '../../../src/history/ports.ts';
import type { ComponentView, DaemonView } from '../../../src/supervision/rules/views.ts';
import { cpuTimeMs } from '../../support/cpu-time.ts';
import { begunOf, endedOf, sampledOf, stretchOf } from '../../support/history-samples.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { component } from '../http/fake-control.ts';
import { openStore } from '../store/open-store.ts';

const COMPONENTS = 150;
const MINUTE = 60_000;
const DAY_MINUTES = 1_440;
const BEGAN = systemClock.wallNow() - DAY_MINUTES * MINUTE;
const at = (minute: number): WallMs => (BEGAN + minute * MINUTE) as WallMs;

const DAEMON: DaemonView = {
  ...{ running: true, answers: true, pid: 1, version: '1.0.0', started_at: null, store: 'ok', loop_delay_ms: 0 },
  ...{ guardian_pid: null, logs: null, sessions: null, alerts: null },
};

/** Of ten components one is busy, with a stretch for each minute; one crashes twice an hour; one has a probe that fails now and then. */
const isBusy = (n: number) => n % 10 === 0;
const isCrashing = (n: number) => n % 10 === 1;
const isFlapping = (n: number) => n % 10 === 2;

/** Stretches of so many minutes each, one after the other. */
const stretches = <T>(minutes: number, make: (firstAt: WallMs, lastAt: WallMs, n: number) => T): readonly T[] =>
  Array.from({ length: DAY_MINUTES / minutes }, (_, n) =>
    make(at(n * minutes), (at((n + 1) * minutes) - 10_000) as WallMs, n),
  );

const usedBy = (name: string, n: number): Commit => ({
  sampled: stretches(isBusy(n) ? 1 : 60, (firstAt, lastAt) =>
    sampledOf(name, 1, { firstAt, lastAt, cpuPercent: isBusy(n) ? 50 : 0 }),
  ),
});

const probesOf = (name: string, n: number): Commit => ({
  probed: stretches(isFlapping(n) ? 15 : DAY_MINUTES, (firstAt, lastAt, part) =>
    stretchOf(name, 1, { firstAt, lastAt, outcome: isFlapping(n) && part % 8 === 7 ? 'fail' : 'pass' }),
  ),
});

const runsOf = (name: string, n: number): readonly Commit[] =>
  isCrashing(n)
    ? Array.from({ length: 48 }, (_, run): Commit[] => [
        { runBegun: begunOf(name, run, { at: at(run * 30) }) },
        { runEnded: endedOf(name, run, { at: at(run * 30 + 29), uptimeMs: 29 * MINUTE }) },
      ]).flat()
    : [];

const viewOf = (name: string, n: number): ComponentView => ({
  ...component(name),
  started_at: new Date(isCrashing(n) ? at(DAY_MINUTES - 1) : at(0)).toISOString(),
});

test('of a large project with a day behind it is read once; later answers cost a small part of that', async () => {
  using dir = tempDir();
  using opened = await openStore(dir.at('keepwell.db'));
  const { store } = opened;
  const names = Array.from({ length: COMPONENTS }, (_, n) => `part-${n}`);
  for (const [n, name] of names.entries()) store.commit(usedBy(name, n), probesOf(name, n), ...runsOf(name, n));
  let later = 0;
  const overview = new Overview({
    clock: {
      now: () => (systemClock.now() + later) as MonoMs,
      wallNow: () => (systemClock.wallNow() + later) as WallMs,
    },
    ...{ history: store, samples: (query) => store.samples(query), project: () => 'shop', daemon: () => DAEMON },
    ...{ components: () => names.map(viewOf), incidents: () => [], subscribe: () => {} },
  });
  const ask = async () => {
    const began = cpuTimeMs();
    const view = await overview.view();
    return { view, ms: cpuTimeMs() - began };
  };
  const first = await ask();
  const [busy, crashing, flapping, quiet] = first.view.components;
  // A stretch for each minute is a whole day of them, from its first hour on.
  expect(busy!.cpu.slice(1)).toEqual(busy!.cpu.slice(1).map(() => 50));
  expect(busy!.timeline).toMatch(/^u+$/);
  expect(crashing!.timeline).toMatch(/^[ut]+$/);
  expect(crashing!.up_percent).toBeCloseTo(96.6, 0);
  expect(flapping!.timeline.match(/t/g)!.length).toBeGreaterThanOrEqual(11);
  expect(quiet!.cpu.slice(1)).toEqual(quiet!.cpu.slice(1).map(() => 0));
  const costs: number[] = [];
  for (let minute = 0; minute < 4; minute += 1) {
    later += MINUTE;
    const { view, ms } = await ask();
    costs.push(ms);
    expect(view.components[0]!.timeline).toMatch(/^u+$/);
  }
  const median = costs.toSorted((one, other) => one - other)[2]!;
  expect(median, `first ${first.ms} ms, then ${costs}`).toBeLessThan(first.ms / 8);
});
