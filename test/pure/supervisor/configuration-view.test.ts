import { expect, test } from 'vitest';
import { configurationView } from '../../../src/supervision/rules/configuration-view.ts';
import { spec } from '../../support/builders.ts';

const hide = (text: string): string => text.replaceAll('hunter2', '[redacted]');

test('the configuration of a component has names of variables and no values, and its command without secrets', () => {
  const base = spec('api');
  const view = configurationView(
    {
      ...base,
      driver: {
        ...{ kind: 'process', command: ['./api', '--password=hunter2'], shell: false, cwd: '/srv', envFiles: [] },
        env: { TOKEN: 'abc123abc123', LOG_LEVEL: 'info' },
      },
    },
    hide,
  );
  expect(view).toMatchObject({ command: ['./api', '--password=[redacted]'], env_names: ['LOG_LEVEL', 'TOKEN'] });
  expect(JSON.stringify(view)).not.toMatch(/hunter2|abc123/);
});

test('its schedule is the one of "keepwell backoff"', () => {
  const base = spec('api');
  const backoff = { initialMs: 1_000, factor: 2, maxMs: 60_000, jitterRatio: 0, resetAfterMs: 60_000 };
  const limit = { max: 3, withinMs: 600_000, retryMs: null };
  const view = configurationView({ ...base, restart: { ...base.restart, policy: 'always', backoff, limit } }, hide);
  expect(view.schedule.map(({ wait_ms }) => wait_ms.max)).toEqual([1_000, 2_000, 4_000]);
  expect(view.gives_up_after).toBe(3);
  const never = configurationView({ ...base, restart: { ...base.restart, policy: 'never' } }, hide);
  expect(never.schedule).toEqual([]);
});
