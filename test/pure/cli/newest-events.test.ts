import { expect, test } from 'vitest';
import { newestEvents } from '../../../src/cli/commands/events.ts';
import type { EventView } from '../../../src/supervision/rules/views.ts';

const all: EventView[] = Array.from({ length: 5000 }, (_, index) => ({
  seq: index + 1,
  at: '',
  subject: { kind: 'component', name: index % 1000 === 0 ? 'rare' : 'common' },
  type: 't',
  run_id: null,
  data: {},
}));

const records = {
  listEvents: async ({
    after = 0,
    component,
    limit,
  }: {
    after?: number | undefined;
    component?: string | undefined;
    limit: number;
  }) => ({
    schema_version: 1 as const,
    last_seq: all.length,
    events: all
      .filter(({ seq, subject }) => seq > after && (component === undefined || subject.name === component))
      .slice(0, limit),
  }),
};

const seqs = async (wanted: Parameters<typeof newestEvents>[1]) =>
  (await newestEvents(records, wanted)).events.map(({ seq }) => seq);

test('the newest ones, oldest of them first', async () => {
  expect(await seqs({ limit: 3 })).toEqual([4998, 4999, 5000]);
  expect(await seqs({})).toHaveLength(100);
});

test('a rare component is found however far back its events lie', async () => {
  expect(await seqs({ component: 'rare', limit: 3 })).toEqual([2001, 3001, 4001]);
  expect(await seqs({ component: 'rare', limit: 100 })).toEqual([1, 1001, 2001, 3001, 4001]);
  expect(await seqs({ component: 'nobody' })).toEqual([]);
});

test('with a number: what follows it', async () => {
  expect(await seqs({ after: 10, limit: 2 })).toEqual([11, 12]);
});
