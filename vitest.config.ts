import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Those whose files take longest come first, so that none of them is left alone at the end with one worker. */
const KINDS = ['torture', 'browser', 'e2e', 'edge', 'contract', 'pure'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project }: TestSpecification): number => KINDS.indexOf(project.name.replace(/-sh$/, ''));
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

/** Only against what would hang for ever: on a machine with five times as much to do as it can, tests take five times as long. */
const GUARD_MS = 300_000;

/** One project per kind of test (CONTRIBUTING says which kind belongs where). Nothing is ever retried. */
const project = (name: string, testTimeout: number) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], testTimeout, hookTimeout: testTimeout },
});

/** The tests of the process driver use the native shim; here they are run once more with that of sh. */
const withShimOfSh = {
  test: {
    name: 'edge-sh',
    include: ['process', 'usage'].map((room) => `test/edge/${room}/**/*.test.ts`),
    exclude: ['native', 'port-holder', 'precheck', 'protocol', 'system-clock', 'trash', 'zombie-status'].map(
      (name) => `test/edge/process/${name}.test.ts`,
    ),
    env: { KEEPWELL_TEST_SHIM: 'sh' },
    testTimeout: GUARD_MS,
    hookTimeout: GUARD_MS,
  },
};

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    /** Most tests wait more than they work, and they wait for facts: four files at a time, also where there are only two cores. */
    maxWorkers: 4,
    globalSetup: 'test/support/own-cache.ts',
    projects: [...KINDS.map((kind) => project(kind, kind === 'torture' ? 900_000 : GUARD_MS)), withShimOfSh],
  },
});
