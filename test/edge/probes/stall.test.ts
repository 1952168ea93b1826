import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ask, carriers, finallyDo, http, newMark, runner, sh } from './probe-world.ts';

const TIMEOUT_MS = 5_000;

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
  using dir = tempDir();
  const end = dir.at('end');
  const result = sh(runner(), `while [ ! -e ${end} ]; do sleep 0.05; done`, { timeoutMs: TIMEOUT_MS, mark });
  await waitFor('it to run', () => carriers(mark).length > 0);
  writeFileSync(end, '');
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
