import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../../src/cli/program.ts';

const PAGE = readFileSync('docs/reference/keepwell.1', 'utf8');
const hasMan = spawnSync('man', ['--version']).status === 0;

test('the manual page has every command with its options', () => {
  const plain = PAGE.replaceAll('\\-', '-').replaceAll('\\e', '\\');
  for (const { usage, options = [], hidden } of COMMANDS) {
    if (hidden) continue;
    expect(plain).toContain(`.SS keepwell ${usage}\n`);
    for (const { flags } of options.filter((option) => !option.hidden))
      expect(plain).toContain(`.TP\n\\fB${flags}\\fR\n`);
  }
});

test.skipIf(!hasMan)('man reads it without a warning', () => {
  const { status, stderr, stdout } = spawnSync('man', ['-l', '--warnings', '-Tutf8', 'docs/reference/keepwell.1'], {
    encoding: 'utf8',
    env: { ...process.env, MANWIDTH: '100', LC_ALL: 'C.UTF-8' },
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('keepwell up');
});

test('npm links it: the manifest has a list, a plain text is ignored at a global installation', () => {
  const { man } = JSON.parse(readFileSync('package.json', 'utf8')) as { man: unknown };
  expect(man).toEqual(['./docs/reference/keepwell.1']);
});
