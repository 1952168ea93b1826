import { expect, test } from 'vitest';
import { COMMANDS } from '../../../src/cli/program.ts';
import { CliWorld } from './cli-world.ts';

/** Two neighbours swapped, as near to the end as they differ: what fingers do. */
function mistyped(word: string): string {
  let at = word.length - 1;
  while (word[at] === word[at - 1]) at -= 1;
  return `${word.slice(0, at - 1)}${word[at]}${word[at - 1]}${word.slice(at + 1)}`;
}

const COMMAND_ROWS = COMMANDS.map(({ usage, options = [] }) => ({ name: usage.split(' ')[0]!, usage, options }));
/** These read the configuration, the others ask the daemon or the records. */
const READ_THE_FILE = new Set(['up', 'backoff', 'exec', 'graph']);
/** What else is typed after the name. */
const AFTER_NAME: Readonly<Record<string, readonly string[]>> = { exec: ['true'] };
/** As near to what is typed, and first in the list. */
const AS_NEAR: Readonly<Record<string, string>> = { runs: 'run' };

test.each(COMMAND_ROWS)('a mistyped $name is recognised', async ({ name }) => {
  await using world = new CliWorld();
  const { code, out, err } = await world.run(mistyped(name));
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(new RegExp(`Did you mean [^?]*\\b${AS_NEAR[name] ?? name}\\b[^?]*\\?`));
});

test.each(COMMAND_ROWS)('mistyped options of $name are recognised', async ({ name, options }) => {
  await using world = new CliWorld();
  const visible = options.filter(({ hidden }) => !hidden).map(({ long }) => long!);
  for (const long of [...visible, '--output', '--file', '--no-color']) {
    const { code, err } = await world.run(name, mistyped(long));
    expect([long, code]).toEqual([long, 2]);
    expect(err).toContain(`Did you mean ${long}?`);
  }
});

// `rm` knows only what `run` keeps.
test.each(COMMAND_ROWS.filter(({ usage, name }) => /\bNAME\b/.test(usage) && name !== 'rm'))(
  'mistyped names of components are recognised by $name',
  async ({ name }) => {
    await using world = READ_THE_FILE.has(name) ? new CliWorld() : await CliWorld.served();
    const known = READ_THE_FILE.has(name) ? 'api' : 'worker';
    const { code, out, err } = await world.run(name, mistyped(known), ...(AFTER_NAME[name] ?? []));
    expect([code, out]).toEqual([4, '']);
    expect(err).toContain(`Did you mean "${known}"?`);
  },
);

test.each(COMMAND_ROWS.filter(({ options }) => options.some(({ long }) => long === '--component')))(
  'and after --component by $name',
  async ({ name }) => {
    await using world = await CliWorld.served();
    const { code, err } = await world.run(name, '--component', mistyped('worker'));
    expect(code).toBe(4);
    expect(err).toContain('Did you mean "worker"?');
  },
);

test('"check" is what others call a report of health, and is answered with the commands that give one', async () => {
  await using world = new CliWorld();
  const { code, err } = await world.run('check');
  expect(code).toBe(2);
  expect(err).toContain(
    'Use "keepwell health", of agents "keepwell agents check", of the configuration "keepwell validate".',
  );
});
