import { defineConfig } from 'vitest/config';

/** One project per kind of test (CONTRIBUTING says which kind belongs where). Nothing is ever retried. */
const project = (name: string, testTimeout: number, options: Record<string, unknown> = {}) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout, hookTimeout: testTimeout, ...options },
});

export default defineConfig({
  test: {
    projects: [
      project('pure', 60_000),
      project('contract', 60_000),
      project('edge', 120_000),
      project('e2e', 180_000, { fileParallelism: false }),
      project('torture', 900_000, { fileParallelism: false }),
    ],
  },
});
