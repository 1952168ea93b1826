/** What `top` may have to show. */
import { firstModel, type Model, step } from '../../../../src/cli/top/model.ts';
import type { AttentionView, OverviewRow } from '../../../../src/dashboard/rules/views.ts';

export const NOW = Date.parse('2026-01-02T12:00:00Z');
const ago = (seconds: number): string => new Date(NOW - seconds * 1_000).toISOString();

export const rowOf = (given: Partial<OverviewRow> & { readonly name: string }): OverviewRow => ({
  ...{ kind: 'process', state: 'running', condition: null, health: 'healthy', ready: true, desired: 'running' },
  ...{ pid: 4711, started_at: ago(7_500), restarts: 0, next_attempt_at: null, depends_on: {}, waiting_for: [] },
  ...{ note: null, cpu_percent: 1.2, memory_bytes: 212 * 1024 * 1024, timeline: `${'u'.repeat(90)}tttddd` },
  ...{
    up_percent: 97,
    up_percent_week: 99,
    restart_limit: null,
    cpu: Array(48).fill(1),
    memory: Array.from({ length: 48 }, (_, at) => at),
  },
  ...given,
});

export const attentionOf = (given: Partial<AttentionView> & { readonly title: string }): AttentionView => ({
  ...{ kind: 'incident', incident: 1, name: null, cause: null, since: ago(240), affects: [], ticket: null },
  ...{ acknowledged: false, silenced_until: null },
  ...given,
});

export function modelOf(
  components: readonly OverviewRow[],
  { attention = [], columns = 80, rows = 24 }: Partial<Model['size']> & { attention?: readonly AttentionView[] } = {},
): Model {
  const view = {
    ...{ schema_version: 1 as const, project: 'shop', daemon: { version: '1', started_at: ago(9_000), pid: 1 } },
    ...{ timeline: { from: ago(86_400), bucket_ms: 900_000, buckets: 96 }, attention, components },
  };
  return step(firstModel(NOW, { columns, rows }), { kind: 'view', view, offline: null }, NOW).model;
}

export const SHOP: readonly OverviewRow[] = [
  rowOf({
    name: 'database',
    state: 'gave-up',
    pid: null,
    started_at: null,
    ready: false,
    restarts: 10,
    note: 'gave up (limit): exit code 1',
  }),
  rowOf({ name: 'api', depends_on: { database: 'ready' } }),
  rowOf({ name: 'worker', condition: 'frozen', health: 'unhealthy', ready: false, note: 'no heartbeat for 2 min' }),
  rowOf({
    ...{
      name: 'mailer',
      state: 'backing-off',
      pid: null,
      started_at: null,
      ready: false,
      restarts: 6,
      health: 'unhealthy',
    },
    ...{
      next_attempt_at: new Date(NOW + 12_000).toISOString(),
      note: 'exit code 7',
      cpu_percent: null,
      memory_bytes: null,
    },
  }),
  rowOf({
    name: '日本語',
    state: 'stopped',
    desired: 'stopped',
    pid: null,
    started_at: null,
    ready: false,
    timeline: 's'.repeat(96),
  }),
  rowOf({ name: 'evil\u001b[2J\u202eeman', note: 'a\tb\u0007\nc' }),
];

export const SHOP_ATTENTION: readonly AttentionView[] = [
  attentionOf({
    name: 'database',
    title: 'database: no space left',
    cause: 'no space left on the disk',
    affects: ['api', 'web'],
    ticket: 'BUG-003',
  }),
  attentionOf({ kind: 'component', name: 'worker', title: 'worker is frozen: no heartbeat', acknowledged: true }),
];
