import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type Moment, partFile, type TimeEntry, timeEntryLine, timesFile } from '../../../src/logs/format.ts';
import { waitFor } from '../../support/wait-for.ts';
import { CliWorld } from './cli-world.ts';

const T = new Date(2026, 0, 2, 3, 4, 5).getTime();
const at = (position: number, second: number): TimeEntry => ({ kind: 'at', position, wallMs: T + second * 1000 });
const run = (position: number, second: number, id: string): TimeEntry => ({
  kind: 'run',
  position,
  wallMs: T + second * 1000,
  run: id,
});

interface Made {
  readonly text: string;
  readonly facts?: readonly TimeEntry[];
}

function world(logs: Readonly<Record<string, Made>>): CliWorld {
  const made = new CliWorld();
  mkdirSync(made.dir.at('.keepwell/logs'));
  for (const [name, { text, facts = [] }] of Object.entries(logs)) {
    writeFileSync(made.dir.at(`.keepwell/logs/${name}.log`), text);
    let last: Moment | null = null;
    for (const fact of facts) {
      appendFileSync(made.dir.at(`.keepwell/logs/${timesFile(name)}`), timeEntryLine(fact, last));
      if (fact.kind === 'at') last = fact;
    }
  }
  return made;
}

const TWO = {
  api: { text: 'a0\na1\na2\n', facts: [run(0, 0, 'api~1'), at(3, 1), run(6, 5, 'api~2'), at(9, 6)] },
  worker: { text: 'w0\nw1\n', facts: [run(0, 0, 'worker~1'), at(3, 2), at(6, 6)] },
};

test('several components in the order of time, with aligned names', async () => {
  await using made = world(TWO);
  expect((await made.run('logs')).out.split('\n')).toEqual([
    'api    | a0',
    'worker | w0',
    'api    | a1',
    'api    | a2',
    'worker | w1',
    '',
  ]);
});

test('-t puts the local time in front, and a dash where it is not known, which is said once', async () => {
  await using made = world({ ...TWO, old: { text: 'o0\no1\n' } });
  expect((await made.run('logs', 'api', '-t', '-n', '2')).out).toBe('2026-01-02 03:04:10 a1\n2026-01-02 03:04:11 a2\n');
  const { out, err } = await made.run('logs', 'old', 'api', '--timestamps');
  expect(out.split('\n').slice(0, 3)).toEqual([
    '-                   old | o0',
    '-                   old | o1',
    '2026-01-02 03:04:06 api | a0',
  ]);
  expect(err).toBe('old: when some of its lines were written is not known\n');
});

test('names are coloured on a terminal, the same name always the same', async () => {
  await using made = world(TWO);
  made.isTty = true;
  const { out } = await made.run('logs', '-t');
  expect(out).toMatch(/^\u001b\[2m2026-01-02 03:04:06\u001b\[22m \u001b\[\d+mapi {3}\u001b\[39m \| a0$/m);
  expect((await made.run('logs', '--no-color')).out).not.toContain('\u001b');
});

test('JSON lines say when and by which run', async () => {
  await using made = world(TWO);
  const lines = (await made.run('logs', 'api', '-o', 'json')).out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines[0]).toEqual({
    component: 'api',
    line: 'a0',
    at: new Date(T + 1000).toISOString(),
    run: 'api~1',
    offset: 0,
    cut_bytes: 0,
    lost_bytes: 0,
  });
  expect(lines.map((line) => line.run)).toEqual(['api~1', 'api~1', 'api~2']);
});

test('--since and --until take whole times, and then all lines, not a hundred', async () => {
  const text = Array.from({ length: 500 }, (_, n) => `line ${String(n).padStart(4, '0')}\n`).join('');
  await using made = world({ api: { text, facts: [run(0, 0, 'r'), at(2500, 10), at(5000, 20)] } });
  expect((await made.run('logs', 'api')).out.split('\n')).toHaveLength(101);
  expect((await made.run('logs', 'api', '--since', '2026-01-02')).out.split('\n')).toHaveLength(501);
  expect((await made.run('logs', 'api', '--since', '2026-01-02T03:04:16')).out.split('\n')).toHaveLength(251);
  expect((await made.run('logs', 'api', '--since', '2026-01-02 03:04:16', '-n', '3')).out.split('\n')).toHaveLength(4);
  const { out } = await made.run('logs', 'api', '--since', '2026-01-02T03:04:05', '--until', '2026-01-02T03:04:15');
  expect(out).toMatch(/^line 0000\n(line \d+\n){248}line 0249\n$/);
  expect((await made.run('logs', 'api', '--since', '10m')).out).toBe('');
  expect((await made.run('logs', 'api', '--until', '2026-01-02T03:04:15', '-n', '1')).out).toBe('line 0249\n');
});

test('--previous is the run before; without one it says so', async () => {
  await using made = world(TWO);
  expect((await made.run('logs', 'api', '--previous')).out).toBe('a0\na1\n');
  const none = await made.run('logs', 'worker', '--previous');
  expect(none).toMatchObject({ code: 0, out: '' });
  expect(none.err).toBe('worker: there was only one run so far, so there is no previous one\n');
});

test('what was put aside belongs to the log', async () => {
  await using made = world({ api: { text: 'th\nfour\n', facts: [{ kind: 'base', position: 11 }] } });
  const dir = made.dir.at('.keepwell/logs');
  writeFileSync(`${dir}/${partFile('api', 0, 'gz')}`, gzipSync('one\ntwo\nnin'));
  expect((await made.run('logs', 'api')).out).toBe('one\ntwo\nninth\nfour\n');
  expect((await made.run('logs', '-n', '2')).out).toBe('ninth\nfour\n');
});

test('--grep takes a text or an expression, and -n counts what fits', async () => {
  const text = Array.from({ length: 1000 }, (_, n) => `${n % 10 === 3 ? 'ERROR' : 'fine'} ${n}\n`).join('');
  await using made = world({ api: { text } });
  expect((await made.run('logs', 'api', '--grep', 'ERROR', '-n', '2')).out).toBe('ERROR 983\nERROR 993\n');
  expect((await made.run('logs', 'api', '--grep', '/error 9[89]\\d$/i')).out).toBe('ERROR 983\nERROR 993\n');
  expect((await made.run('logs', 'api', '--grep', 'error')).out).toBe('');
});

test.each([
  [['--since', '10'], 'Write 10s, not 10'],
  [['--since', '10 minutes'], 'Write 10m.'],
  [['--since', 'yesterday'], 'is not a time. Write how long ago (10m'],
  [['--since', '2026-02-30'], 'is not a time'],
  [['--since', '25:00'], 'is not a time'],
  [['--since', '2999-01-01'], 'means 2999-01-01 00:00:00, which is still to come.'],
  [['--since', '10m', '--until', '20m'], 'is before --since'],
  [['--grep', ''], 'the pattern is empty'],
  [['--grep', '/(/'], 'is not a regular expression: unterminated group'],
  [['--grep', '/x/g'], 'there is no flag "g"'],
  [['--daemon', '--previous'], '--previous is for components only'],
  [['--daemon', 'api'], 'not both'],
  [['--previous', '-f'], 'there is nothing to follow'],
  [['-f', '--until', '10m'], '-f follows without end'],
  [['-n', 'x'], 'whole number from 0 to 1000000'],
])('%j is refused with a reason', async (args, words) => {
  await using made = world(TWO);
  const { code, out, err } = await made.run('logs', ...args);
  expect([code, out]).toEqual([2, '']);
  expect(err).toContain(words);
});

test('nobody by that name: the nearest one is suggested', async () => {
  await using made = await CliWorld.served();
  const { code, err } = await made.run('logs', 'wroker');
  expect(code).toBe(4);
  expect(err).toContain('Did you mean "worker"?');
});

test('an expression that runs wild ends the command, not the terminal', async () => {
  await using made = world({ api: { text: `${'a'.repeat(40)}!\n` } });
  const { code, err } = await made.run('logs', 'api', '--grep', '/^(a+)+$/');
  expect(code).toBe(2);
  expect(err).toContain('takes too long');
});

describe('--daemon', () => {
  const entry = (second: number, level: string, message: string, data: object = {}) =>
    `${JSON.stringify({ at: new Date(T + second * 1000).toISOString(), level, pid: 42, message, ...data })}\n`;

  function daemonWorld(): CliWorld {
    const made = new CliWorld();
    writeFileSync(made.dir.at('.keepwell/daemon.log.1'), entry(0, 'info', 'an earlier one'));
    writeFileSync(
      made.dir.at('.keepwell/daemon.log'),
      `${entry(1, 'info', 'the daemon is up', { version: '0.1.0' })}${entry(2, 'warn', 'slow', { problem: 'two words', n: 3 })}plain\n`,
    );
    return made;
  }

  test('is readable for people', async () => {
    await using made = daemonWorld();
    expect((await made.run('logs', '--daemon')).out.split('\n')).toEqual([
      '2026-01-02 03:04:05 info  an earlier one  pid=42',
      '2026-01-02 03:04:06 info  the daemon is up  pid=42  version=0.1.0',
      '2026-01-02 03:04:07 warn  slow  pid=42  problem="two words"  n=3',
      'plain',
      '',
    ]);
    expect((await made.run('logs', '--daemon', '-n', '1')).out).toBe('plain\n');
    expect((await made.run('logs', '--daemon', '-n', '0')).out).toBe('');
  });

  test('is JSON for programs, as it was written', async () => {
    await using made = daemonWorld();
    const lines = (await made.run('logs', '--daemon', '-o', 'json')).out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[1]).toEqual({
      at: new Date(T + 1000).toISOString(),
      level: 'info',
      pid: 42,
      message: 'the daemon is up',
      version: '0.1.0',
    });
    expect(lines[3]).toEqual({ message: 'plain' });
  });

  test('takes times and patterns', async () => {
    await using made = daemonWorld();
    expect((await made.run('logs', '--daemon', '--since', '2026-01-02T03:04:07')).out).toMatch(/^.*slow.*\n$/);
    expect((await made.run('logs', '--daemon', '--until', '2026-01-02T03:04:05')).out).toMatch(
      /^.*an earlier one.*\n$/,
    );
    expect((await made.run('logs', '--daemon', '--grep', '/warn +slow/')).out).toMatch(/^.*slow.*\n$/);
  });

  test('goes on with -f, also when it is rotated', async () => {
    await using made = daemonWorld();
    const following = made.run('logs', '--daemon', '-f', '-n', '1');
    await waitFor('the last line', () => made.out === 'plain\n');
    appendFileSync(made.dir.at('.keepwell/daemon.log'), entry(3, 'info', 'going on'));
    await waitFor('the next line', () => made.out.includes('going on'));
    made.ctrlC();
    expect((await following).code).toBe(130);
  });
});
