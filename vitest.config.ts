import { defineConfig } from 'vitest/config';

/** One project per kind of test (CONTRIBUTING says which kind belongs where). Nothing is ever retried. */
const project = (name: string, testTimeout: number, options: Record<string, unknown> = {}) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout, hookTimeout: testTimeout, ...options },
});

/** Only against what would hang for ever: on a machine with five times as much to do as it can, tests take five times as long. */
const GUARD_MS = 300_000;

/** Most tests wait more than they work, and they wait for facts: two files at a time, also where there are only two cores. */
const IN_PAIRS = { maxWorkers: 2 };
/** What tries the whole program waits most of all. */
const IN_THREES = { maxWorkers: 3 };

export default defineConfig({
  test: {
    projects: [
      project('pure', GUARD_MS, IN_PAIRS),
      project('contract', GUARD_MS, IN_PAIRS),
      project('edge', GUARD_MS, IN_PAIRS),
      project('e2e', GUARD_MS, { ...IN_THREES, sequence: { groupOrder: 1 } }),
      project('torture', 900_000, { ...IN_PAIRS, sequence: { groupOrder: 2 } }),
    ],
  },
});
