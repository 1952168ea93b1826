import { expect, test } from 'vitest';
import { findHomeCgroup, removeEmpty, tryHomeCgroup } from '../../../src/drivers/process/tree/cgroup.ts';
import { tempDir } from '../../support/temp-dir.ts';

const NO_SHELL = '/nowhere/sh';

test('whether cgroups can be used is found out ahead of the question, which then starts no shell', async ({ skip }) => {
  using dir = tempDir();
  await tryHomeCgroup(dir.path, '/bin/sh');
  const found = findHomeCgroup(dir.path, '/bin/sh');
  if (found === null) skip('cgroup v2 is not usable here (not root, or no delegated cgroup)');
  expect(findHomeCgroup(dir.path, NO_SHELL)).toBe(found);
  removeEmpty(found as string);
});

test('what could not be found out ahead is left to the question', async () => {
  using dir = tempDir();
  await tryHomeCgroup(dir.path, NO_SHELL);
  expect(findHomeCgroup(dir.path, NO_SHELL)).toBeNull();
  const found = findHomeCgroup(dir.path, '/bin/sh');
  if (found !== null) removeEmpty(found);
});
