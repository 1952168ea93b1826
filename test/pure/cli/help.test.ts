import { expect, test } from 'vitest';
import type { World } from '../../../src/cli/call.ts';
import { buildProgram, COMMANDS } from '../../../src/cli/program.ts';

const COLUMNS = 80;

/** What `keepwell COMMAND --help` prints on a narrow terminal, without the examples, which are to be copied as they are. */
function helpOf(name: string): string[] {
  const world = { version: '1.2.3', out: { columns: COLUMNS }, err: {} } as unknown as World;
  const program = buildProgram({ world, began: () => {}, ended: () => {} });
  const command = name === '' ? program : program.commands.find((one) => one.name() === name)!;
  return command.helpInformation().split('\n');
}

const NAMES = COMMANDS.map(({ usage }) => usage.split(' ')[0]!);

test.each(['', ...NAMES])('the help of "%s" is broken where the terminal ends, and nowhere else', (name) => {
  for (const line of helpOf(name)) expect(line.length, line).toBeLessThanOrEqual(COLUMNS);
});

test('no text is broken by hand: a narrow terminal would break it once more', () => {
  for (const { usage, summary, actions = [], description = '' } of COMMANDS) {
    for (const text of [summary, description, ...actions.flat()])
      expect([usage, text.includes('\n')]).toEqual([usage, false]);
  }
});

test('the list begins with what somebody needs who is new here', () => {
  expect(NAMES.slice(0, 5)).toEqual(['up', 'status', 'why', 'logs', 'down']);
  const groups = COMMANDS.map(({ group }) => group);
  expect(groups.filter((group, at) => group !== groups[at - 1])).toEqual([...new Set(groups)]); // each in one piece
});
