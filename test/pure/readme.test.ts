/** The README tells what there is and what there is not: both change, and nobody reads it again. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/program.ts';
import { UNAVAILABLE } from '../../src/config/words/keys.ts';

const README = readFileSync('README.md', 'utf8');
const section = (title: string): string => README.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? '';
const quoted = (text: string): readonly string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);

test('every command is in its table, and no other', () => {
  const cells = section('Commands')
    .split('\n')
    .map((line) => line.split(/(?<!\\)\|/)[1] ?? '');
  const named = cells.flatMap(quoted).map((code) => code.split(' ')[0]!);
  const commands = COMMANDS.map(({ usage }) => usage.split(' ')[0]!);
  expect([...named].sort()).toEqual([...commands].sort());
});

test('it says which keys are not available in this version, and no other', () => {
  expect(quoted(section('Not in this version'))).toEqual(Object.values(UNAVAILABLE).flat());
});
