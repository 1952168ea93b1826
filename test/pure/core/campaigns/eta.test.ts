import { expect, test } from 'vitest';
import type { Experiment } from '../../../../src/campaigns/rules/state.ts';
import { progressOf } from '../../../../src/campaigns/rules/views.ts';
import { newExperiment } from '../../../support/campaign-world.ts';

const done = (service: string, durationMs: number | null): Experiment => ({
  ...newExperiment('x', service),
  state: 'done',
  durationMs,
});
const pending = (service: string): Experiment => newExperiment('x', service);
const running = (service: string): Experiment => ({ ...pending(service), state: 'running' });

test.each([
  { name: 'nothing has ended', experiments: [running('a'), pending('a')], ms: 500, leftMs: null },
  {
    name: 'by the mean of the same service',
    experiments: [done('a', 100), done('a', 300), done('b', 9), pending('a')],
    ms: 0,
    leftMs: 200,
  },
  {
    name: 'by all where the service is new',
    experiments: [done('a', 100), done('a', 300), pending('b')],
    ms: 0,
    leftMs: 200,
  },
  {
    name: 'less what the current one has spent',
    experiments: [done('a', 100), running('a'), pending('a')],
    ms: 40,
    leftMs: 160,
  },
  {
    name: 'one that takes longer than expected is as good as over',
    experiments: [done('a', 100), running('a')],
    ms: 900,
    leftMs: 0,
  },
  { name: 'all has ended', experiments: [done('a', null)], ms: 0, leftMs: 0 },
])('the time left: $name', ({ experiments, ms, leftMs }) => {
  expect(progressOf(experiments, ms).leftMs).toBe(leftMs);
});
