import { describe, expect, test } from 'vitest';
import { readLine } from '../../../src/config/starter/command-line.ts';

describe('a line that a shell would only split becomes a list', () => {
  test.each<[string, readonly string[], Record<string, string>?]>([
    ['node server.js', ['node', 'server.js']],
    ['  ./bin/run   --port\t8080 ', ['./bin/run', '--port', '8080']],
    [`node -e "console.log('a|b; *')"`, ['node', '-e', "console.log('a|b; *')"]],
    ["sh -c 'echo $HOME'", ['sh', '-c', 'echo $HOME']],
    [`printf '%s\\n' "it's" a\\ b ''`, ['printf', '%s\\n', "it's", 'a b', '']],
    ['echo "a \\"quoted\\" \\\\ word" b\\"c', ['echo', 'a "quoted" \\ word', 'b"c']],
    ['echo a"b c"d\'e f\'', ['echo', 'ab cde f']],
    ['exec bin/server', ['bin/server']],
    ['echo a#b x=y', ['echo', 'a#b', 'x=y']],
    ['echo {a,b} +x ^ %1 @', ['echo', '{a,b}', '+x', '^', '%1', '@']],
    ['A=1 B="two words" C= node x.js', ['node', 'x.js'], { A: '1', B: 'two words', C: '' }],
    ['"A=1" b', ['A=1', 'b']],
    ["it'='x y", ['it=x', 'y']],
  ])('%s', (line, argv, env = {}) => {
    expect(readLine(line)).toEqual({ command: { argv }, env });
  });
});

test.each([
  'bundle exec puma -p $PORT',
  'echo "${HOME}"',
  'echo "`date`"',
  'a | b',
  'a && b',
  'a; b',
  'a > out.log 2>&1',
  'ls *.js',
  'ls a?',
  'ls [ab]',
  '~/bin/server',
  'cd server && npm start',
  'cd server',
  'if true; then x; fi',
  'test -f x',
  '. ./env',
  'A=~/x node',
  'KEEPWELL_RUN=1 node',
  'A=1',
  "echo 'not closed",
  'echo "not closed',
  'echo back\\',
  '(a)',
  'a # comment',
  '! a',
  'exec -a name node',
])('%s needs a shell', (line) => {
  expect(readLine(line)).toEqual({ command: { shell: line }, env: {} });
});

test.each(['', '   ', '# nothing', 'a\0b', 'half \ud800'])('%j is no command', (line) => {
  expect(readLine(line)).toBeNull();
});
