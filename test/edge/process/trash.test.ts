import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { silentLog } from '../../../src/base/log.ts';
import { Trash } from '../../../src/drivers/process/trash.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';

test('what earlier daemons left is deleted', async () => {
  using dir = tempDir();
  for (const name of ['a', 'b', 'c']) mkdirSync(dir.at(`trash/${name}/inside`), { recursive: true });
  const trash = new Trash(dir.at('trash'), silentLog);
  await waitFor('the trash to be empty', () => readdirSync(dir.at('trash')).length === 0);
  await trash.close();
});

test('more than a call can have arguments are no reason not to start', async () => {
  using dir = tempDir();
  mkdirSync(dir.at('trash'));
  execFileSync('sh', ['-c', 'seq 130000 | xargs touch'], { cwd: dir.at('trash') });
  const trash = new Trash(dir.at('trash'), silentLog);
  await trash.close();
});

test('it stays small, however fast it is filled', async () => {
  using dir = tempDir();
  const trash = new Trash(dir.at('trash'), silentLog);
  for (let n = 0; n < 2_000; n++) {
    mkdirSync(dir.at(`run-${n}`));
    writeFileSync(dir.at(`run-${n}/run.json`), '{}');
    trash.take(dir.at(`run-${n}`));
  }
  expect(readdirSync(dir.at('trash')).length).toBeLessThan(300);
  await waitFor('the trash to be empty', () => readdirSync(dir.at('trash')).length === 0);
  await trash.close();
});
