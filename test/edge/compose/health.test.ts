/** What Docker's word about a service is worth, and which refusals of the Engine last. */
import { expect, test } from 'vitest';
import type { WallMs } from '../../../src/base/pure/ids.ts';
import type { Inspected } from '../../../src/compose/containers.ts';
import { noShell } from '../../../src/compose/detached/execs.ts';
import { healthOf } from '../../../src/compose/services.ts';

const NOW = Date.parse('2026-01-02T04:00:00Z');
const parts = {
  gpus: { ask: async () => ({ kind: 'none' }) as const },
  firstSeen: new Map<string, number>(),
  clock: { wallNow: () => NOW as WallMs },
};

const checkedAgo = (ms: number) =>
  ({
    state: {
      ...{ running: true, paused: false, restarting: false, error: '', status: 'running', exitCode: 0 },
      startedAt: '2026-01-02T03:00:00Z',
      health: { status: 'healthy', failures: 0, lastEndedAt: NOW - ms, lastExitCode: 0, lastOutput: '' },
    },
    setup: {
      restartPolicy: { name: 'no', maxRetries: 0 },
      healthCheck: { intervalMs: 1_000, timeoutMs: 1_000, startPeriodMs: 0, retries: 1 },
    },
  }) as unknown as Inspected;

test('a health check that the Engine forgot is not believed: a restart is what helps', async () => {
  const ask = (ms: number) => healthOf(parts, 'gpu', [checkedAgo(ms)], 90, new AbortController().signal);
  expect(await ask(2_000)).toMatchObject({ status: 'healthy', healthy: true });
  expect(await ask(60_000)).toMatchObject({ status: 'unknown', healthy: false, isLasting: true, remedy: 'restart' });
});

test('that there is no shell is for good, another failure of the Engine may pass', () => {
  expect(noShell('gpu', 'OCI runtime exec failed: exec: "sh": executable file not found in $PATH: unknown')).toContain(
    'there is no shell',
  );
  expect(noShell('gpu', 'OCI runtime exec failed: exec failed: write init-p: broken pipe: unknown')).toBeNull();
});
