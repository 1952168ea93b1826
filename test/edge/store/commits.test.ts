import { expect, test } from 'vitest';
import type { Failpoints } from '../../../src/base/failpoints.ts';
import { eventOf, recordOf, stretchOf } from '../../support/history-samples.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { column, upTo } from './inspect.ts';
import { fullDisk, openStore } from './open-store.ts';

/** A disk that takes so many transactions and is full then, until the test frees it. */
function fullAfter(transactions: number): Failpoints & { written: number; isFull: boolean } {
  return {
    written: 0,
    isFull: true,
    hit(point) {
      if (point !== 'store.write') return;
      if (this.isFull && this.written >= transactions)
        throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      this.written += 1;
    },
  };
}

const commitsOf = (count: number, durable: number[]) =>
  upTo(count).map((n) => ({
    record: recordOf(`c${n % 7}`),
    events: [eventOf('api', 'added', { data: { n } })],
    probed: [stretchOf('api', n)],
    onDurable: () => void durable.push(n),
  }));

test('several commits are one transaction', async () => {
  using dir = tempDir();
  const disk = fullAfter(Infinity);
  using opened = await openStore(dir.at('keepwell.db'), disk);
  const durable: number[] = [];
  opened.store.commit(...commitsOf(200, durable));
  expect(disk.written).toBe(1);
  expect(durable).toEqual(upTo(200));
});

test('a commit of five hundred probe stretches is one transaction', async () => {
  using dir = tempDir();
  const disk = fullAfter(Infinity);
  using opened = await openStore(dir.at('keepwell.db'), disk);
  opened.store.commit({ probed: upTo(500).map((n) => stretchOf('api', n)) });
  expect(disk.written).toBe(1);
  expect(await column(dir.at('keepwell.db'), 'SELECT count(*) FROM probe_results')).toEqual([500]);
});

test('a disk that is full takes none of several commits, and later all of them in order', async () => {
  using dir = tempDir();
  const disk = fullDisk('store.write');
  using opened = await openStore(dir.at('keepwell.db'), disk);
  const durable: number[] = [];
  expect(opened.store.commit(...commitsOf(3, durable)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(await column(dir.at('keepwell.db'), 'SELECT count(*) FROM events')).toEqual([0]);
  expect(opened.shown()).toEqual([1, 2, 3]);
  disk.isFull = false;
  expect(opened.store.commit({ events: [eventOf('api', 'next')] })[0]?.seq).toBe(4);
  expect(durable).toEqual([1, 2, 3]);
  expect(await column(dir.at('keepwell.db'), 'SELECT seq FROM events ORDER BY rowid')).toEqual([1, 2, 3, 4]);
});

test('a disk that gets full in the middle of very many: the first are safe, the rest is kept, and nothing changes places', async () => {
  using dir = tempDir();
  const disk = fullAfter(1);
  using opened = await openStore(dir.at('keepwell.db'), disk);
  const durable: number[] = [];
  const told = opened.store.commit(...commitsOf(450, durable));
  expect(told.map(({ seq }) => seq)).toEqual(upTo(450));
  expect(durable).toEqual(upTo(200));
  expect(await column(dir.at('keepwell.db'), 'SELECT seq FROM events ORDER BY rowid')).toEqual(upTo(200));
  expect(opened.store.health()).toMatch(/^cannot write \(disk full\), 250 records kept in memory/);
  expect(opened.shown()).toEqual(upTo(450));
  expect(opened.store.components()).toHaveLength(7);
  expect(opened.store.probes({ component: 'api', limit: 1_000 })).toHaveLength(450);
  disk.isFull = false;
  await waitFor('the rest to be written', () => durable.length === 450);
  expect(durable).toEqual(upTo(450));
  expect(await column(dir.at('keepwell.db'), 'SELECT seq FROM events ORDER BY rowid')).toEqual(upTo(450));
  expect(await column(dir.at('keepwell.db'), 'SELECT count(*) FROM probe_results')).toEqual([450]);
});

test('one of several that can never be stored does not take the others with it', async () => {
  using dir = tempDir();
  using opened = await openStore(dir.at('keepwell.db'));
  const durable: number[] = [];
  const [first, second] = commitsOf(2, durable);
  opened.store.commit(first!, { probed: [stretchOf('api', 9, { outcome: { not: 'a word' } as never })] }, second!);
  expect(durable).toEqual([1, 2]);
  expect(opened.shown()).toEqual([1, 2]);
  expect(opened.store.health()).toBe('1 record could not be stored, see daemon.log');
});
