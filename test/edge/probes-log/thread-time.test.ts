import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { afterWork, threadTimeMs } from '../../../src/probes/log/pattern-matcher.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A thread that tells its id and then does this for ever. */
async function thread(forever: string): Promise<AsyncDisposable & { readonly tid: number }> {
  const code = `
    const { parentPort } = require('node:worker_threads');
    parentPort.postMessage(Number(require('node:fs').readlinkSync('/proc/thread-self').split('/').pop()));
    ${forever}`;
  const worker = new Worker(code, { eval: true });
  const [tid] = (await once(worker, 'message')) as [number];
  return { tid, [Symbol.asyncDispose]: async () => void (await worker.terminate()) };
}

test('a thread that works is over its time, one that sleeps through it is not', async () => {
  await using working = await thread('for (;;);');
  await using sleeping = await thread('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);');
  const over: string[] = [];
  const callOff = afterWork(sleeping.tid, 30, () => over.push('sleeping'));
  afterWork(working.tid, 200, () => over.push('working'));
  await waitFor('the one that works', () => over.includes('working'));
  callOff();
  expect(over).toEqual(['working']);
});

test('the time a thread has worked only grows, and nobody knows that of a thread that is not there', async () => {
  await using working = await thread('for (;;);');
  const first = (await threadTimeMs(working.tid))!;
  await waitFor('more of it', async () => (await threadTimeMs(working.tid))! > first + 50);
  expect(await threadTimeMs(0)).toBe(null);
});

test('where the kernel does not tell, time by the clock must do', async () => {
  let isOver = false;
  afterWork(null, 1, () => {
    isOver = true;
  });
  await waitFor('the end', () => isOver);
});

test('what was called off is never over', async () => {
  await using working = await thread('for (;;);');
  const over: string[] = [];
  afterWork(working.tid, 1, () => over.push('early'))();
  afterWork(working.tid, 50, () => over.push('late'));
  await waitFor('the other one', () => over.includes('late'));
  expect(over).toEqual(['late']);
});
