import { describe, expect, test } from 'vitest';
import type { World } from '../../../src/cli/call.ts';
import { wanted } from '../../../src/cli/complete/answer.ts';
import { buildProgram, COMMANDS } from '../../../src/cli/program.ts';
import { componentNames } from '../../../src/config/names.ts';

const SILENT = { write: () => {}, isTty: false, columns: 80, rows: 24 };
const WORLD: World = {
  cwd: '/',
  env: {},
  uid: 0,
  entry: '',
  version: '0.1.0',
  node: '20.19.0',
  execPath: '/usr/bin/node',
  platform: 'linux',
  out: SILENT,
  err: SILENT,
  interrupt: () => new AbortController().signal,
  inIsTty: false,
  interruptAgain: () => new AbortController().signal,
};
const program = buildProgram({ world: WORLD, began: () => {}, ended: () => {} });
const ask = (...words: readonly string[]) => wanted(program, words);
const values = (...words: readonly string[]) => {
  const { from } = ask(...words);
  return typeof from === 'string' ? from : from.map(({ value }) => value);
};

test('commands and their aliases, with what they do, but not the hidden one', () => {
  const offered = values('');
  for (const { usage } of COMMANDS) expect(offered).toContain(usage.split(' ')[0]);
  expect(offered).toEqual(expect.arrayContaining(['ps', 'ls', 'help']));
  expect(offered).not.toContain('__complete');
  expect(ask('').from).toContainEqual({ value: 'graph', what: 'what depends on what, in start order' });
});

describe('what stands where', () => {
  test.each<[readonly string[], ReturnType<typeof values>]>([
    [['status', ''], 'components'],
    [['ps', ''], 'components'],
    [['why', ''], 'components'],
    [['stop', 'api', 'wor'], 'components'],
    [['backoff', ''], 'components'],
    [['backoff', 'api', ''], []],
    [['down', ''], []],
    [['crashes', '--component', ''], 'components'],
    [['crashes', '--component=a'], 'components'],
    [['crashes', '--limit', ''], []],
    [['logs', '-f', ''], 'components'],
    [['status', '-f', ''], 'files'],
    [['--file', 'x.yaml', 'status', '--file', ''], 'files'],
    [
      ['-o', ''],
      ['text', 'json'],
    ],
    [
      ['status', '--output=j'],
      ['text', 'json'],
    ],
    [
      ['-o', 'json', 'graph', '--format', ''],
      ['text', 'mermaid', 'dot'],
    ],
    [['backoff', '--retry', ''], ['never']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['status', '--', '-'], 'components'],
    [['status', '--nonsense=x'], []],
    [['nonsense', ''], []],
    [['nonsense', '-'], []],
  ])('%j', (words, expected) => {
    expect(values(...words)).toEqual(expected);
  });

  test('options: of the program before a command, of the command after it', () => {
    expect(values('-')).toEqual(['--version', '--file', '--host', '--output', '--no-color', '--help']);
    expect(values('status', '--')).toEqual(
      expect.arrayContaining(['--verbose', '--exit-code', '--watch', '--file', '--output', '--help']),
    );
    expect(values('daemon', '-')).not.toContain('--on-demand');
  });

  test('every command after help', () => {
    expect(values('help', '')).toEqual(values(''));
  });
});

test('what is typed already is kept apart from what it stands behind', () => {
  expect(ask('graph', '--format=me')).toMatchObject({ prefix: '--format=', partial: 'me' });
  expect(ask('graph', '--format', 'me')).toMatchObject({ prefix: '', partial: 'me' });
  expect(ask('-f', 'a.yaml', 'stop', '--file="b c.yaml"', 'x', '--all', '')).toMatchObject({
    files: ['a.yaml', 'b c.yaml'],
    taken: ['x'],
  });
});

test('names come from the files as they are, with mistakes and missing variables in them', () => {
  const file = (text: string) => ({ path: '/keepwell.yaml', text });
  const text = 'components:\n  api: { proces: "$MISSING" }\n  1: {}\n  "bad name": {}\n  "\\e[2J": {}\n';
  expect(componentNames([file(text), file('components: { api: {}, more: {} }')])).toEqual(['api', '1', 'more']);
  expect(componentNames([file('{'), file(''), file('components: []')])).toEqual([]);
});
