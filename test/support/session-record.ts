/** A session that lives and is well, and what such a one is made from. */
import type { BootId, MonoMs, WallMs } from '../../src/base/pure/ids.ts';
import { newLease } from '../../src/sessions/rules/lease.ts';
import type { SessionTemplate } from '../../src/sessions/rules/template.ts';
import type { SessionRecord } from '../../src/sessions/spec.ts';

export const at = (ms: number) => ({ bootId: 'boot' as BootId, now: ms as MonoMs, wallNow: (1e12 + ms) as WallMs });

export const sessionRecord = (more: Partial<SessionRecord> = {}): SessionRecord => ({
  id: '5f0c6d1e9b7a4c02a3d4e5f60718293a',
  user: 'ann',
  template: 'web',
  state: 'live',
  lease: newLease(60_000, at(0)),
  containerId: 'c1',
  port: 49_153,
  health: { status: 'healthy', reason: '' },
  restarts: 0,
  terms: {
    maxTtlMs: 120_000,
    restart: {
      backoff: { initialMs: 1_000, factor: 2, maxMs: 60_000, jitterRatio: 0, resetAfterMs: 600_000 },
      limit: { max: 5, withinMs: 600_000, retryMs: null },
    },
    isPublished: true,
  },
  end: null,
  ...more,
});

const FOREVER = ['sh', '-c', 'while :; do echo here | nc -l -p 8080; done'];

export const template = (change: Partial<SessionTemplate> = {}): SessionTemplate => ({
  name: 'web',
  image: 'keepwell-test',
  port: 8080,
  ttlMs: 600_000,
  maxTtlMs: 1_200_000,
  perUser: 1,
  command: FOREVER,
  entrypoint: null,
  env: {},
  envFiles: [],
  user: null,
  workdir: null,
  healthcheck: null,
  readOnly: true,
  tmpfs: ['/tmp'],
  addCapabilities: [],
  noNewPrivileges: true,
  network: 'isolated',
  limits: { memoryBytes: 32 * 2 ** 20, cpus: 0.5, pids: 32 },
  restart: {
    backoff: { initialMs: 0, factor: 1, maxMs: 0, jitterRatio: 0, resetAfterMs: 600_000 },
    limit: { max: 2, withinMs: 600_000, retryMs: null },
  },
  readyTimeoutMs: 60_000,
  ...change,
});
