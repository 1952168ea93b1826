import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import type { ProbeQuestion } from '../../../src/supervision/rules/health/probe.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ask } from './probe-world.ts';

const unix = (path: string): ProbeQuestion => ({ kind: 'unix', path });

test('a unix probe passes where somebody listens, sends nothing and hangs up', async () => {
  using dir = tempDir();
  const path = dir.at('app.sock');
  let [heard, ended] = ['', 0];
  const server = createServer((socket) => {
    socket.on('data', (chunk) => (heard += String(chunk))).on('close', () => ended++);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  try {
    expect(await ask(unix(path))).toEqual({ outcome: 'pass', message: 'connected' });
    await waitFor('the connection to be gone', () => ended === 1);
    expect(heard).toBe('');
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

test('a unix probe says what is there instead of a listener', async () => {
  using dir = tempDir();
  expect(await ask(unix(dir.at('none.sock')))).toEqual({ outcome: 'fail', message: 'there is no such socket' });
  const file = dir.at('file');
  writeFileSync(file, '');
  expect(await ask(unix(file))).toEqual({ outcome: 'fail', message: 'nobody listens on it' });
});
