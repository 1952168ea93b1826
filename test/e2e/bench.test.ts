import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';

const dir = mkdtempSync(join(tmpdir(), 'keepwell-test-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

it('the benchmark measures every case with small numbers and leaves nothing behind', { timeout: 180_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['bench/run.mjs', '--quick'], {
    env: { ...process.env, TMPDIR: dir },
  });
  for (const title of [
    'Crash → restart',
    'Start and stop',
    'At rest, from few to many',
    'Log throughput',
    'HTTP probes',
    'A component that does not end when asked',
    "The supervisor's own death",
  ])
    expect(stdout).toContain(title);
  expect(readdirSync(dir)).toEqual([]);
});
