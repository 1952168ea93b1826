import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { componentName } from '../../../src/base/pure/ids.ts';
import { loadSqlite } from '../../../src/base/sqlite.ts';
import { openCampaignBook } from '../../../src/history/sqlite/experiments.ts';
import { openHistory } from '../../../src/history/sqlite/history.ts';
import { LATEST, MIGRATIONS, migrate, schemaVersion } from '../../../src/history/sqlite/migrations.ts';
import { checkedOf, eventOf, NOON, runningOf, runOf, sampledOf, stretchOf } from '../../support/history-samples.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { golden, restoreGolden } from './golden.ts';
import { column, integrity, upTo } from './inspect.ts';
import { openStore } from './open-store.ts';

const fingerprint = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

test('every version that was ever released has its golden database', () => {
  expect(upTo(LATEST).filter((version) => !existsSync(golden(version)))).toEqual([]);
});

test.each(upTo(LATEST))('a database of version %i is read as it was meant, and written on', async (version) => {
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  await restoreGolden(version, path);
  using opened = await openStore(path);
  const { store } = opened;
  expect(store.health()).toBe('ok');
  expect(await column(path, 'PRAGMA user_version')).toEqual([LATEST]);
  expect(store.components()).toMatchObject([runningOf('api', 42), { name: 'db', desired: 'stopped' }]);
  expect(store.why({ component: 'api' })).toMatchObject({
    id: 1,
    error_message: "No module named 'x'",
    log_tail: ['first line', 'last line'],
    rule: { name: 'backoff', counters: { restarts_in_window: 4, failures: 1, spawn_errors: 2, total: 3 } },
  });
  expect(store.runs({ limit: 10 })).toMatchObject([
    { run: runOf('api', 2) },
    { run: runOf('api', 1), pid: 41, planned: true },
  ]);
  expect(store.lastGoodIngredients(componentName('api'))).toEqual({ command: 'aaaa', 'env LOG_LEVEL': 'bbbb' });
  expect(store.meta('project')).toBe('golden');
  const more = {
    events: [eventOf('api', 'next')],
    probed: [stretchOf('web')],
    sampled: [sampledOf('web')],
    checked: [checkedOf('web')],
  };
  expect(store.commit(more)[0]?.seq).toBe(4);
  expect(store.probes({ component: 'web', limit: 10 })).toEqual([stretchOf('web')]);
  expect(store.samples({ component: 'web', limit: 10 })).toEqual([sampledOf('web')]);
  expect(store.checkResults({ check: 'web', limit: 10 })).toEqual([checkedOf('web')]);
  expect(await integrity(path)).toBe('ok');
});

/** What only newer versions know: where a run begins in the log, what the probes said, why we ended a run, what it used. */
const KNOWN = [
  { version: 1, logOffset: null, stretches: 0, samples: 0 },
  { version: 2, logOffset: 4_096, stretches: 2, samples: 0 },
  { version: 3, logOffset: 4_096, stretches: 2, samples: 2 },
  { version: 4, logOffset: 4_096, stretches: 2, samples: 2 },
  { version: 5, logOffset: 4_096, stretches: 2, samples: 2 },
  { version: 6, logOffset: 4_096, stretches: 2, samples: 2 },
  { version: 7, logOffset: 4_096, stretches: 2, samples: 2 },
  { version: 8, logOffset: 4_096, stretches: 2, samples: 2 },
] as const;

test.each(KNOWN)(
  'a database of version $version shows what it knows of runs, probes and samples, and nothing else',
  async (known) => {
    using dir = tempDir();
    const path = dir.at('keepwell.db');
    await restoreGolden(known.version, path);
    const untouched = await openHistory(path);
    using opened = await openStore(path);
    const migrated = await openHistory(path);
    for (const history of [untouched, opened.store, migrated]) {
      expect(history.run(runOf('api', 1))).toMatchObject({ logOffset: known.logOffset });
      expect(history.runs({ limit: 10 }).map(({ logOffset }) => logOffset)).toEqual([null, known.logOffset]);
      expect(history.run(runOf('api', 1))?.exit).toMatchObject({ code: 0, unhealthy: null });
      expect(history.why({ id: 1 })?.exit).toMatchObject({ code: 1, unhealthy: null });
      expect(history.probes({ component: 'api', limit: 10 })).toHaveLength(known.stretches);
      expect(history.probes({ component: 'api', run: runOf('api', 2), limit: 10 })).toHaveLength(known.stretches / 2);
      expect(history.why({ id: 1 })?.probes).toHaveLength(known.stretches / 2);
      expect(history.samples({ component: 'api', limit: 10 })).toHaveLength(known.samples);
      const results = history.checkResults({ check: 'sandbox', limit: 10 }).map(({ status }) => status);
      expect(results).toEqual(known.version < 5 ? [] : ['failed', 'ok']);
      const users = [history.sessions({ which: 'open', limit: 0 }), history.sessions({ which: 'ended', limit: 9 })];
      expect(users.map((sessions) => sessions.map(({ user }) => user))).toEqual(
        known.version < 6 ? [[], []] : [["it's ann"], ["it's ann"]],
      );
      const reason = known.version < 4 ? undefined : 'frozen: no heartbeat for 5 min';
      expect(history.why({ id: 1 })?.freeze?.reason).toBe(reason);
    }
    untouched.close();
    migrated.close();
  },
);

test.each(upTo(LATEST))(
  'the book of campaigns is read from a database of version %i, and written on',
  async (version) => {
    using dir = tempDir();
    const path = dir.at('keepwell.db');
    await restoreGolden(version, path);
    const book = await openCampaignBook(path);
    const isThere = version >= 7;
    expect(book.list().map(({ name }) => name)).toEqual(isThere ? ['night-run-2', 'night-run'] : []);
    const states = book.find('night-run')?.experiments.map(({ state, exitCode }) => [state, exitCode]);
    expect(states).toEqual(
      isThere
        ? [
            ['done', 0],
            ['failed', 7],
          ]
        : undefined,
    );
    expect(book.find('night-run-2')?.open?.attempt).toBe(isThere ? 'ba9876543210-0-1' : undefined);
    const file = { file: '/f', source: '', composeFile: '/c', projectDir: '/' };
    const made = book.create({ uid: 'u', name: 'next', ...file, experiments: [{ name: 'e', service: 's' }] }, NOON);
    expect(made.id).toBe(isThere ? 3 : 1);
    book.close();
  },
);

test('the history of version 1 can be read before a daemon has brought it to ours, and is not touched by that', async () => {
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  await restoreGolden(1, path);
  const before = fingerprint(path);
  const history = await openHistory(path);
  expect(history.components()).toHaveLength(2);
  expect(history.crashes({})).toHaveLength(1);
  expect(history.events({ afterSeq: 0, limit: 10 })).toHaveLength(3);
  expect(history.probes({ component: 'api', limit: 10 })).toEqual([]);
  history.close();
  expect(fingerprint(path)).toBe(before);
  expect(await column(path, 'PRAGMA user_version')).toEqual([1]);
});

test('a last exit recorded before there were probes is complete', async () => {
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  await restoreGolden(1, path);
  const db = (await loadSqlite()).open(path, 'read-write');
  const lastExit = { at: NOON, exit: { code: 7, signal: null, oom: false, core: false } };
  db.exec(`UPDATE components SET last_exit_json = '${JSON.stringify(lastExit)}'`);
  db.close();
  using opened = await openStore(path);
  const exit = { ...lastExit.exit, unhealthy: null, usage: null };
  expect(opened.store.components().map((record) => record.lastExit)).toEqual([
    { at: NOON, exit },
    { at: NOON, exit },
  ]);
});

test('the newest golden database has exactly the tables that a new one gets', async () => {
  using dir = tempDir();
  await restoreGolden(LATEST, dir.at('golden.db'));
  (await openStore(dir.at('new.db'))).store.close();
  const schema = (path: string) => column(path, 'SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name');
  expect(await schema(dir.at('golden.db'))).toEqual(await schema(dir.at('new.db')));
});

test('a migration that fails half way leaves the database as it was', async () => {
  using dir = tempDir();
  const db = (await loadSqlite()).open(dir.at('keepwell.db'), 'read-write');
  migrate(db);
  const failing = [...MIGRATIONS, 'CREATE TABLE half (done); INSERT INTO nowhere VALUES (1)'];
  expect(() => migrate(db, failing)).toThrow('nowhere');
  expect(schemaVersion(db)).toBe(LATEST);
  expect(db.prepare("SELECT name FROM sqlite_master WHERE name = 'half'").all()).toEqual([]);
  migrate(db, [...MIGRATIONS, 'CREATE TABLE whole (done)']);
  expect(schemaVersion(db, LATEST + 1)).toBe(LATEST + 1);
  db.close();
});

test('a database of a later Keepwell is not touched: supervision goes on in memory and says so', async () => {
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  await restoreGolden(LATEST, path);
  const db = (await loadSqlite()).open(path, 'read-write');
  db.exec(`PRAGMA user_version = ${LATEST + 1}`);
  db.close();
  const before = fingerprint(path);
  using opened = await openStore(path);
  opened.add(1);
  expect(opened.store.health()).toBe(
    `not recording: the database has version ${LATEST + 1}, this Keepwell knows versions up to ${LATEST}`,
  );
  expect(opened.shown()).toEqual([1]);
  expect(opened.durable).toEqual([1]); // so that the directories of runs do not pile up
  expect(fingerprint(path)).toBe(before);
  await expect(openHistory(path)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
});

test('which tickets a pass has filed is a list; a database of version 9 only knew how many', async () => {
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  await restoreGolden(9, path);
  const db = (await loadSqlite()).open(path, 'read-write');
  db.exec("INSERT INTO health_checks VALUES(2,'2025-12-29 09:20:30.000','degraded',1,3,0,1,3.0,'[]',2)");
  db.close();
  using opened = await openStore(path);
  expect(await column(path, 'SELECT bugs_reported FROM health_checks ORDER BY check_id')).toEqual([
    '[]',
    '[null,null]',
  ]);
  expect(opened.store.healthChecks({ limit: 2 }).map(({ bugsReported }) => bugsReported)).toEqual([[], []]);
});

test('a new database is brought to the newest schema in one transaction, so that a start waits for the disk once', async () => {
  using dir = tempDir();
  const db = (await loadSqlite()).open(dir.at('keepwell.db'), 'read-write');
  const statements: string[] = [];
  migrate({
    exec: (sql) => {
      statements.push(sql);
      db.exec(sql);
    },
    prepare: (sql) => db.prepare(sql),
    close: () => db.close(),
  });
  expect(statements.filter((sql) => sql === 'COMMIT')).toHaveLength(1);
  expect(schemaVersion(db)).toBe(LATEST);
  db.close();
});
