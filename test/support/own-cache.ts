/** What the built program keeps from one start to the next lies in one place for all tests, and is gone after them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const dir = mkdtempSync(join(tmpdir(), 'keepwell-test-'));

export function setup(): void {
  process.env['XDG_CACHE_HOME'] = dir;
}

export function teardown(): void {
  rmSync(dir, { recursive: true, force: true });
}
