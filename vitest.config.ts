import { defineConfig } from 'vitest/config';

/** One project per kind of test (CONTRIBUTING says which kind belongs where). Nothing is ever retried. */
const project = (name: string, testTimeout: number, options: Record<string, unknown> = {}) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout, hookTimeout: testTimeout, ...options },
});

/** Most tests wait more than they work, and they wait for facts: two files at a time, also where there are only two cores. */
const IN_PAIRS = { maxWorkers: 2 };

export default defineConfig({
  test: {
    projects: [
      project('pure', 60_000, IN_PAIRS),
      project('contract', 60_000, IN_PAIRS),
      project('edge', 120_000, IN_PAIRS),
      project('e2e', 180_000, { ...IN_PAIRS, sequence: { groupOrder: 1 } }),
      project('torture', 900_000, { fileParallelism: false, sequence: { groupOrder: 2 } }),
    ],
  },
});
