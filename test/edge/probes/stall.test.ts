import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import { ask, carriers, finallyDo, http, newMark, runner, sh } from './probe-world.ts';

const TIMEOUT_MS = 3_000;

/** Nothing of ours goes on meanwhile. In this phase of the event loop, since timers are what comes next after it. */
const stall = (ms: number): Promise<void> =>
  new Promise((resolve) =>
    setImmediate(() => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
      resolve();
    }),
  );

test('a command that was done before our own loop stood still is not too late', async () => {
  const mark = newMark();
  const result = sh(runner(), 'sleep 0.2', { timeoutMs: TIMEOUT_MS, mark });
  await waitFor('it to run', () => carriers(mark).length > 0);
  await stall(TIMEOUT_MS + 500);
  expect(await result).toMatchObject({ kind: 'exited', code: 0 });
});

const SERVER = `const server = require('node:http').createServer((_, response) => setTimeout(() => response.end(), 200));
server.on('connection', () => console.log('connected')).listen(0, '127.0.0.1', () => console.log(server.address().port));`;

test('an answer that was there before our own loop stood still is not too late', async () => {
  const server = spawn(process.execPath, ['-e', SERVER], { stdio: ['ignore', 'pipe', 'inherit'] });
  finallyDo(() => void server.kill('SIGKILL'));
  let said = '';
  server.stdout.on('data', (text) => (said += String(text)));
  await once(server.stdout, 'data');
  const answer = ask(http(Number(said)), TIMEOUT_MS);
  await waitFor('the connection', () => said.includes('connected'));
  await stall(TIMEOUT_MS + 500);
  expect(await answer).toEqual({ outcome: 'pass', message: 'HTTP 200' });
});
