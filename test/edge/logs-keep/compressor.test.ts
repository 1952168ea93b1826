import { existsSync, writeFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { noFailpoints } from '../../../src/base/failpoints.ts';
import { silentLog } from '../../../src/base/log.ts';
import { partFile } from '../../../src/logs/format.ts';
import { Compressor } from '../../../src/logs/keep/compressor.ts';
import { ManagedLog } from '../../../src/logs/keep/managed-log.ts';
import type { Part } from '../../../src/logs/keep/parts.ts';
import { tempDir } from '../../support/temp-dir.ts';

const BYTES = 10_000;

test('a part that was compressed is known by its new name at once: who removes it then leaves nothing of it', async () => {
  using dir = tempDir();
  const log = new ManagedLog(dir.path, 'api', systemClock);
  log.parts = Array.from({ length: 20 }, (_, at): Part => {
    const base = at * BYTES;
    const path = dir.at(partFile('api', base, 'plain'));
    writeFileSync(path, 'x'.repeat(BYTES));
    return { path, base, form: 'plain', bytes: BYTES, length: BYTES, atMs: Date.now() };
  });
  const compressor = new Compressor({
    ...{ clock: systemClock, failpoints: noFailpoints, log: silentLog, logs: new Map([['api', log]]) },
    ...{ signal: new AbortController().signal, spared: () => 0 },
    keeping: () => ({ maxBytes: BYTES, keep: 20, compress: true }),
  });
  compressor.wake();
  let isOver = false;
  const rest = compressor.rest().then(() => {
    isOver = true;
  });
  const unknown = new Set<string>();
  while (!isOver) {
    for (const { path } of log.parts) if (!existsSync(path)) unknown.add(path);
    await nextTurn();
  }
  await rest;
  expect([...unknown]).toEqual([]);
  expect(log.parts.map(({ form }) => form)).toEqual(Array(20).fill('gz'));
});
