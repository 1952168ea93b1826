import { expect, test } from 'vitest';
import { restartLog } from '../../../src/supervision/journal.ts';
import type { EventView } from '../../../src/supervision/rules/views.ts';

function told(...events: readonly Pick<EventView, 'type' | 'data'>[]): readonly string[] {
  const lines: string[] = [];
  const say = (level: string) => (message: string) => lines.push(`${level} ${message}`);
  const tell = restartLog({ info: say('info'), warn: say('warn'), error: say('error') });
  for (const event of events)
    tell({ ...event, seq: 1, at: '', subject: { kind: 'component', name: 'api' }, run_id: 'api~1' });
  return lines;
}

const exited = (more: EventView['data']) => ({
  type: 'component.exited',
  data: {
    exit: 'exit code 7',
    uptime_ms: 2_000,
    decision: 'restart in 1 s (1 of 10 in 10 min)',
    rule: 'backoff',
    ...more,
  },
});

test('a restart is told with its reason, the wait, and which attempt it is', () => {
  const lines = told(
    exited({ crash: true }),
    { type: 'component.starting', data: { attempt: 'restart' } },
    exited({ crash: true, rule: 'limit', decision: 'gave up: 10 restarts in 10 min, next quiet try in 15 min' }),
    { type: 'component.starting', data: { attempt: 'quiet' } },
  );
  expect(lines).toEqual([
    'warn api: exit code 7; ran for 2 s; restart in 1 s (1 of 10 in 10 min)',
    'info api: restart',
    'warn api: exit code 7; ran for 2 s; gave up: 10 restarts in 10 min, next quiet try in 15 min',
    'info api: quiet retry',
  ]);
});

test('what somebody asked for, and what completed, is not', () => {
  expect(
    told(
      exited({ crash: false, rule: 'planned-stop' }),
      exited({ crash: false, rule: 'clean-exit' }),
      { type: 'component.starting', data: { attempt: 'first' } },
      { type: 'component.ready', data: {} },
    ),
  ).toEqual([]);
});
