import { copyFileSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WallMs } from '../../../src/base/pure/ids.ts';
import { setAside } from '../../../src/history/sqlite/disk.ts';
import { openHistory } from '../../../src/history/sqlite/history.ts';
import { begunOf, crashOf, endedOf, eventOf, recordOf, runningOf, stretchOf } from '../../support/history-samples.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { column, integrity } from './inspect.ts';
import { openStore } from './open-store.ts';
import { run } from './program.ts';

const COPIES = 200;

/** The same damage in every run, so that a failure can be looked at. (mulberry32) */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
const SUFFIXES = ['', '-wal', '-shm'];

/** A closed database with something in every table, to be copied and damaged. */
let sound: ReturnType<typeof tempDir>;
beforeAll(async () => {
  sound = tempDir();
  const { store } = await openStore(sound.at('keepwell.db'));
  store.setMeta('key', 'value');
  store.commit({ record: recordOf('db', { desired: 'stopped' }) });
  for (let n = 1; n <= 60; n += 1) {
    const crash = crashOf('api', n, { logTail: Array.from({ length: 20 }, (_, i) => `line ${i} of run ${n}`) });
    const events = [eventOf('api', 'component.exited', { data: { n } })];
    store.commit({
      record: runningOf('api', n),
      runBegun: begunOf('api', n),
      runEnded: endedOf('api', n),
      crash,
      events,
      probed: [stretchOf('api', n)],
    });
  }
  store.close();
});
afterAll(() => sound[Symbol.dispose]());

/** The databases set aside in a directory, without their WAL files. */
const asideIn = (dir: string): readonly string[] => readdirSync(dir).filter((file) => /\.corrupt-.*Z$/.test(file));

/** Whatever was found at the path: this must work on it. */
async function useStore(path: string): Promise<string> {
  using opened = await openStore(path);
  const { store } = opened;
  opened.add(1);
  store.commit({ crash: crashOf('web', 1), runBegun: begunOf('web', 1), runEnded: endedOf('web', 1, { good: true }) });
  store.commit({ crash: crashOf('api', 61), runEnded: endedOf('api', 61) }, { probed: [stretchOf('api', 61)] });
  expect(store.components().find(({ name }) => name === 'api')).toEqual(recordOf('api', { specHash: '1' }));
  expect(store.why({ component: 'web' })?.log_tail).toEqual(['first line', 'last line']);
  expect(store.crashes({ limit: 1_000 }).length).toBeGreaterThanOrEqual(2);
  expect(store.runs({ limit: 1_000 }).length).toBeGreaterThanOrEqual(2);
  expect(store.probes({ component: 'api', limit: 1_000 })).toContainEqual(stretchOf('api', 61));
  expect(store.lastGoodIngredients(begunOf('web').component)).toEqual({});
  const seqs = store.events({ afterSeq: 0, limit: 1_000 }).map(({ seq }) => seq);
  expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
  expect(opened.shown()).toContain(1);
  return store.health();
}

test(`a database with random bytes changed never stops supervision, ${COPIES} times`, async () => {
  using dir = tempDir();
  const random = seeded(7);
  const outcomes = { ok: 0, anew: 0, other: [] as string[] };
  for (let copy = 0; copy < COPIES; copy += 1) {
    mkdirSync(dir.at(`${copy}`));
    const path = dir.at(`${copy}/keepwell.db`);
    const bytes = readFileSync(sound.at('keepwell.db'));
    const flips = 1 + Math.floor(random() * 30);
    for (let flip = 0; flip < flips; flip += 1) {
      // Half of them in the first page: headers and schema are where it hurts.
      const range = random() < 0.5 ? 4096 : bytes.length;
      bytes[Math.floor(random() * range)] = Math.floor(random() * 256);
    }
    writeFileSync(path, bytes);
    const health = await useStore(path);
    if (health === 'ok') outcomes.ok += 1;
    else if (health.includes('begun anew')) outcomes.anew += 1;
    else outcomes.other.push(health);
  }
  // A changed version number looks like a later Keepwell, a changed text like data: both are allowed, an unusable store is not.
  expect(outcomes.other.filter((health) => !health.startsWith('not recording: the database has version'))).toEqual([]);
  expect(outcomes.anew).toBeGreaterThan(COPIES / 4);
});

test.each([100, 4_095, 4_096, 5_000, 20_000])('a database cut off after %i bytes is set aside', async (bytes) => {
  using dir = tempDir();
  copyFileSync(sound.at('keepwell.db'), dir.at('keepwell.db'));
  truncateSync(dir.at('keepwell.db'), bytes);
  expect(await useStore(dir.at('keepwell.db'))).toMatch(
    /^begun anew at .*; the old history is in keepwell\.db\.corrupt-/,
  );
  expect(await integrity(dir.at('keepwell.db'))).toBe('ok');
});

test('a file that is no database is set aside under a name with the time, and stays as it was', async () => {
  using dir = tempDir();
  writeFileSync(dir.at('keepwell.db'), 'my diary\n'.repeat(1_000));
  using opened = await openStore(dir.at('keepwell.db'));
  opened.add(1);
  const [file, ...others] = asideIn(dir.path);
  expect(others).toEqual([]);
  expect(file).toMatch(/^keepwell\.db\.corrupt-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/);
  expect(readFileSync(dir.at(file!), 'utf8')).toBe('my diary\n'.repeat(1_000));
  expect(opened.told).toMatchObject([
    { type: 'store.quarantined', subject: { kind: 'daemon' }, data: { file, problem: 'the file is not a database' } },
  ]);
  expect(opened.durable).toEqual([1]);
  expect(opened.store.health()).toContain(`the old history is in ${file}`);
});

test('a database whose header forbids writing for no reason is set aside, not waited for', async () => {
  using dir = tempDir();
  const bytes = readFileSync(sound.at('keepwell.db'));
  bytes[18] = 187; // the version of the format for writers
  writeFileSync(dir.at('keepwell.db'), bytes);
  using opened = await openStore(dir.at('keepwell.db'));
  opened.add(1);
  expect(opened.durable).toEqual([1]);
  expect(opened.store.components()).toMatchObject([{ name: 'api' }, { name: 'db', desired: 'stopped' }]);
  expect(opened.store.health()).toMatch(/^begun anew at .*: the database calls itself read-only/);
});

test('what was stopped by hand stays stopped, when its record can still be read from the damaged database', async () => {
  using dir = tempDir();
  const bytes = readFileSync(sound.at('keepwell.db'));
  // The log tails are in pages of their own: destroy the last of them, and leave the components alone.
  bytes.fill(0xff, bytes.length - 4096);
  writeFileSync(dir.at('keepwell.db'), bytes);
  using opened = await openStore(dir.at('keepwell.db'));
  expect(asideIn(dir.path)).toHaveLength(1);
  expect(opened.store.components()).toEqual([runningOf('api', 60), recordOf('db', { desired: 'stopped' })]);
  expect(await column(dir.at('keepwell.db'), 'SELECT desired FROM components ORDER BY name')).toEqual([
    'running',
    'stopped',
  ]);
});

test('damage that shows only later is dealt with in the middle of the work', async () => {
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  using opened = await openStore(path);
  // More than SQLite keeps in memory, so that it has to read from the disk again.
  for (let n = 1; n <= 24; n += 1)
    opened.store.commit({ crash: crashOf('api', n, { logTail: ['x'.repeat(1_000_000)] }) });
  opened.store.commit({ probed: [stretchOf('api', 1)] });
  opened.add(1);
  const overwrite = run([
    'dd',
    'if=/dev/urandom',
    `of=${path}`,
    'bs=64k',
    'seek=1',
    'count=300',
    'conv=notrunc',
    'status=none',
  ]);
  expect(await overwrite.ended).toMatchObject({ code: 0 });
  for (let id = 1; id <= 24; id += 1) expect(() => opened.store.why({ id })).not.toThrow();
  expect(opened.store.crashes({})).toHaveLength(24); // written again, because this daemon had them still at hand
  expect(opened.shown()).toEqual([1]);
  // Probe stretches are not at hand; one that goes on comes again.
  expect(opened.store.probes({ component: 'api', limit: 10 })).toEqual([]);
  opened.store.commit({ probed: [stretchOf('api', 1, { count: 6 })] });
  expect(opened.store.probes({ component: 'api', limit: 10 })).toMatchObject([{ count: 6 }]);
  expect(opened.told.map(({ type }) => type)).toEqual(['store.quarantined']);
  opened.add(2);
  expect(opened.durable).toEqual([1, 2]);
  expect(opened.store.lastSeq()).toBe(3);
  expect(opened.store.health()).toMatch(/^begun anew/);
  expect(await column(path, 'SELECT spec_hash FROM components')).toEqual(['2']);
  expect(await integrity(path)).toBe('ok');
});

test('damaged databases do not pile up', async () => {
  using dir = tempDir();
  for (let n = 0; n < 8; n += 1) {
    for (const suffix of SUFFIXES) writeFileSync(dir.at(`keepwell.db${suffix}`), 'no database');
    (await openStore(dir.at('keepwell.db'))).store.close();
  }
  expect(asideIn(dir.path)).toHaveLength(5);
});

test('a directory in the place of the database is no reason to stop either', async () => {
  using dir = tempDir();
  mkdirSync(dir.at('keepwell.db'));
  using opened = await openStore(dir.at('keepwell.db'));
  opened.add(1);
  expect(opened.shown()).toEqual([1]);
  expect(opened.store.health()).toMatch(/^cannot open \(the database file cannot be opened\), 1 record kept in memory/);
});

test('the CLI says that a history is damaged instead of showing an empty one', async () => {
  using dir = tempDir();
  writeFileSync(dir.at('keepwell.db'), 'no database'.repeat(100));
  await expect(openHistory(dir.at('keepwell.db'))).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    message: 'The history cannot be read: the file is not a database',
  });
  expect(asideIn(dir.path)).toEqual([]);
});

test('the newest is kept also when the clock was set back', () => {
  using dir = tempDir();
  const path = dir.at('keepwell.db');
  const names = Array.from({ length: 8 }, (_, n) => {
    writeFileSync(path, `${n}`);
    return setAside(path, (Date.UTC(2030, 0, 1) - n * 86_400_000) as WallMs);
  });
  const kept = readdirSync(dir.path).map((file) => readFileSync(dir.at(file), 'utf8'));
  expect(kept.sort()).toEqual(['3', '4', '5', '6', '7']);
  expect([...names].sort()).toEqual(names);
});
