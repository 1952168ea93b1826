/** The README tells what there is: that changes, and nobody reads it again. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/program.ts';

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
