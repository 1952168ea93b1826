import { appendFileSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import { CliWorld } from './cli-world.ts';

function world(files: Readonly<Record<string, string>>): CliWorld {
  const made = new CliWorld();
  mkdirSync(made.dir.at('.keepwell/logs'));
  for (const [name, text] of Object.entries(files)) writeFileSync(logPath(made, name), text);
  return made;
}

const logPath = (made: CliWorld, name: string) => made.dir.at(`.keepwell/logs/${name}.log`);
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join('');

test('the last hundred lines of everything, with the name in front', async () => {
  await using made = world({ api: numbered(1, 250), db: 'up\n' });
  writeFileSync(made.dir.at('.keepwell/logs/api.log.1'), 'an older one\n');
  const { code, out, err } = await made.run('logs');
  expect([code, err]).toEqual([0, '']);
  const lines = out.trimEnd().split('\n');
  expect(lines).toHaveLength(101);
  expect(lines[0]).toBe('api | line 151');
  expect(lines.at(-1)).toBe('db  | up');
});

test('one of them has no name in front', async () => {
  await using made = world({ api: numbered(1, 5), db: 'up\n' });
  expect((await made.run('logs', 'api', '-n', '2')).out).toBe('line 4\nline 5\n');
  expect((await made.run('logs', 'a*', '--tail', '1')).out).toBe('line 5\n');
  expect((await made.run('logs', 'api', '-n', '0')).out).toBe('');
});

test.each([
  ['no line break at the end', 'a\nb', '2', 'a\nb\n'],
  ['only the last without a break', 'a\nb', '1', 'b\n'],
  ['empty lines count', 'a\n\n\n', '2', '\n\n'],
  ['an empty file', '', '5', ''],
  ['more asked for than there is', 'a\nb\n', '5', 'a\nb\n'],
  [
    'long lines over several reads',
    `${'x'.repeat(50_000)}\n${'y'.repeat(50_000)}\nz\n`,
    '2',
    `${'y'.repeat(50_000)}\nz\n`,
  ],
])('tail: %s', async (_what, text, count, expected) => {
  await using made = world({ api: text });
  expect((await made.run('logs', 'api', '-n', count)).out).toBe(expected);
});

test('--grep gives the last matching lines, not the matches among the last lines', async () => {
  const text = `${numbered(1, 3)}ERROR one\n${numbered(4, 300)}ERROR two\n${numbered(301, 600)}ERROR three\n`;
  await using made = world({ api: text });
  expect((await made.run('logs', 'api', '--grep', 'ERROR', '-n', '2')).out).toBe('ERROR two\nERROR three\n');
  expect((await made.run('logs', 'api', '--grep', 'ERROR')).out).toBe('ERROR one\nERROR two\nERROR three\n');
  expect((await made.run('logs', 'api', '--grep', 'nothing')).out).toBe('');
});

test('escapes are stripped; colours stay on a terminal only', async () => {
  await using made = world({ api: '\u001b[31mred\u001b[0m \u001b]0;title\u0007\u001b[2Jok\n' });
  expect((await made.run('logs', 'api')).out).toBe('red ok\n');
  made.isTty = true;
  expect((await made.run('logs', 'api')).out).toBe('\u001b[31mred\u001b[0m ok\u001b[0m\n');
});

test('JSON lines carry the text as it was', async () => {
  await using made = world({ api: '\u001b[31mred\n', db: `${'x'.repeat(70_000)}\n` });
  const [api, db] = (await made.run('logs', '-o', 'json')).out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const unknown = { at: null, run: null, offset: 0, cut_bytes: 0, lost_bytes: 0 };
  expect(api).toEqual({ component: 'api', line: '\u001b[31mred', ...unknown });
  expect(db).toMatchObject({ component: 'db', cut_bytes: 70_000 - 65_536 });
});

test('a line without end is cut with a mark', async () => {
  await using made = world({ api: `${'x'.repeat(70_000)}\nnext\n` });
  const { out } = await made.run('logs', 'api');
  expect(out).toMatch(/^x{65536} … 4464 bytes cut\nnext\n$/);
});

test('nobody by that name is exit 4, nothing written yet is not', async () => {
  await using made = await CliWorld.served();
  expect((await made.run('logs', 'wroker')).code).toBe(4);
  expect(await made.run('logs', 'worker')).toMatchObject({ code: 0, out: '' });
  const none = await made.run('logs');
  expect(none).toMatchObject({ code: 0, out: '' });
  expect(none.err).toContain('no component has written anything yet');
});

test('-f goes on: new lines, half lines, new files, a cut back file, a replaced file', async () => {
  await using made = world({ api: numbered(1, 3) });
  const following = made.run('logs', '-f', '-n', '1');
  const shows = (text: string) => waitFor(`"${text}"`, () => made.out.includes(text));
  await shows('api | line 3\n');
  expect(made.out).not.toContain('line 2');
  const half = Buffer.from('half é');
  appendFileSync(logPath(made, 'api'), half.subarray(0, half.length - 1));
  appendFileSync(logPath(made, 'api'), Buffer.concat([half.subarray(half.length - 1), Buffer.from(' whole\n')]));
  await shows('api | half é whole\n');
  writeFileSync(logPath(made, 'worker'), 'hello from a new one\n');
  await shows('worker | hello from a new one\n');
  truncateSync(logPath(made, 'api'), 0);
  await waitFor('the truncation to be noticed', () => made.err.includes('api: its log was truncated'));
  appendFileSync(logPath(made, 'api'), 'after truncation\n');
  await shows('api    | after truncation\n');
  renameSync(logPath(made, 'api'), made.dir.at('.keepwell/logs/api.log.1'));
  writeFileSync(logPath(made, 'api'), 'after rotation\n');
  await shows('api    | after rotation\n');
  expect(made.err).toContain('api: its log was replaced');
  made.ctrlC();
  expect((await following).code).toBe(130);
});

test('-f loses nothing that was written to the old file just before it was replaced', async () => {
  await using made = world({ api: '' });
  const following = made.run('logs', 'api', '-f');
  appendFileSync(logPath(made, 'api'), 'first\n');
  await waitFor('the first line', () => made.out.includes('first\n'));
  appendFileSync(logPath(made, 'api'), 'last of the old\nand its rest');
  renameSync(logPath(made, 'api'), made.dir.at('.keepwell/logs/api.log.1'));
  writeFileSync(logPath(made, 'api'), 'new\n');
  await waitFor('the new file', () => made.out.includes('new\n'));
  expect(made.out).toBe('first\nlast of the old\nand its rest\nnew\n');
  made.ctrlC();
  await following;
});

test('-f waits for a file that is not there yet', async () => {
  await using made = world({ api: 'x\n' });
  rmSync(logPath(made, 'api'));
  const following = made.run('logs', '-f');
  writeFileSync(logPath(made, 'api'), 'there\n');
  await waitFor('its first line', () => made.out.includes('there\n'));
  made.ctrlC();
  expect((await following).code).toBe(130);
});
