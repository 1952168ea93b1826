import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { RunId, WallMs } from '../../../src/base/pure/ids.ts';
import { loadSqlite } from '../../../src/base/sqlite.ts';
import type { Write } from '../../../src/campaigns/rules/state.ts';
import { openCampaignBook } from '../../../src/history/sqlite/experiments.ts';
import { LATEST } from '../../../src/history/sqlite/migrations.ts';
import { crashOf } from '../../support/history-samples.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { openStore } from './open-store.ts';

const at = (ms: number) => ms as WallMs;
const NEW = {
  uid: 'u1',
  name: 'night',
  file: '/lab/night.yaml',
  source: 'campaign: night',
  composeFile: '/lab/c.yml',
  projectDir: '/lab',
};
const experiments = [
  { name: 'a', service: 's' },
  { name: 'b', service: 's' },
];
const open = { position: 0, attempt: 'u1-0-1', number: 1, container: 'c1' };

test('an attempt that was begun is open until its end is written, also for the next process', async () => {
  using dir = tempDir();
  const book = await openCampaignBook(dir.at('keepwell.db'));
  const { id, experiments: fresh } = book.create({ ...NEW, experiments }, at(1));
  const running = { ...fresh[0]!, state: 'running', attempts: 1 } as const;
  book.write(
    id,
    [
      { kind: 'attempt-begun', open },
      { kind: 'experiment', position: 0, experiment: running },
    ],
    at(2),
  );
  const other = await openCampaignBook(dir.at('keepwell.db'));
  expect(other.find('night')).toMatchObject({ state: 'running', open, openSince: 2, experiments: [running, fresh[1]] });
  const done = { ...running, state: 'done', exitCode: 0, durationMs: 5.4 } as const;
  const over: Write = { kind: 'attempt-over', open, outcome: 'exited', exitCode: 0, durationMs: 5.4, reason: null };
  other.write(id, [over, { kind: 'experiment', position: 0, experiment: done }], at(3));
  expect(book.find('night')).toMatchObject({ open: null, experiments: [{ state: 'done', durationMs: 5 }, fresh[1]] });
  expect(statSync(dir.at('keepwell.db')).mode & 0o777).toBe(0o600);
  book.close();
  other.close();
});

test('the crash of an attempt is written with its end, once, and everybody can read it', async () => {
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  const book = await openCampaignBook(path);
  const { id } = book.create({ ...NEW, experiments }, at(1));
  using opened = await openStore(path);
  opened.store.commit({ crash: crashOf('api', 1) });
  const over: Write = {
    kind: 'attempt-over',
    open,
    outcome: 'exited',
    exitCode: 1,
    durationMs: 5,
    reason: 'exit code 1',
  };
  const subject = { kind: 'experiment', name: 'night/a' } as const;
  const crash = { ...crashOf('x', 1), subject, run: open.attempt as RunId, rule: 'retries' as const };
  for (const decision of ['tried again (1 of 2)', 'told again']) book.write(id, [over], at(3), { ...crash, decision });
  opened.store.commit({ crash: crashOf('api', 2) });
  expect(opened.store.crashes({}).map(({ id: number, subject: { name } }) => `${number} ${name}`)).toEqual([
    expect.stringMatching(/ api$/),
    '2 night/a',
    '1 api',
  ]);
  expect(opened.store.why({ subject: 'night/a' })).toMatchObject({
    ...{ subject, run_id: 'u1-0-1', decision: 'tried again (1 of 2)', incident: null, rule: { name: 'retries' } },
  });
  book.close();
});

test('a final result is never overwritten', async () => {
  using dir = tempDir();
  const book = await openCampaignBook(dir.at('keepwell.db'));
  const { id, experiments: fresh } = book.create({ ...NEW, experiments }, at(1));
  const result = (state: 'done' | 'failed'): Write => ({
    kind: 'experiment',
    position: 0,
    experiment: { ...fresh[0]!, state },
  });
  book.write(id, [result('done')], at(2));
  book.write(id, [result('failed')], at(3));
  expect(book.find('night')?.experiments[0]?.state).toBe('done');
  book.close();
});

test('a name is taken once, and a campaign that ended can be taken up again', async () => {
  using dir = tempDir();
  const book = await openCampaignBook(dir.at('keepwell.db'));
  const { id } = book.create({ ...NEW, experiments }, at(1));
  expect(() => book.create({ ...NEW, uid: 'u2', experiments }, at(2))).toThrow('unfinished campaign called night');
  book.write(id, [{ kind: 'campaign', state: 'interrupted', reason: 'Ctrl-C' }], at(5));
  expect(book.list()).toMatchObject([{ name: 'night', state: 'interrupted', reason: 'Ctrl-C', endedAt: 5 }]);
  book.mark(id, { state: 'running', mayBeUp: true });
  expect(book.find('night')).toMatchObject({ state: 'running', reason: null, endedAt: null, mayBeUp: true });
  book.close();
});

test('two processes that bring the same old database to this version do not get in each other’s way', async () => {
  using dir = tempDir();
  const books = await Promise.all([1, 2, 3].map(() => openCampaignBook(dir.at('keepwell.db'))));
  expect(books.map((book) => book.list())).toEqual([[], [], []]);
  for (const book of books) book.close();
});

test('a database of a later version is refused with a sentence, and not touched', async () => {
  using dir = tempDir();
  const db = (await loadSqlite()).open(dir.at('keepwell.db'), 'read-write');
  db.exec(`PRAGMA user_version = ${LATEST + 1}`);
  db.close();
  await expect(openCampaignBook(dir.at('keepwell.db'))).rejects.toThrow(
    `the database has version ${LATEST + 1}, this Keepwell knows versions up to ${LATEST}`,
  );
});
