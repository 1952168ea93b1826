import { describe, expect, test } from 'vitest';
import { api, linesOf, oneProblem, only, problemsOf, proc } from './support.ts';

describe('values of the wrong kind or out of range', () => {
  test.each([
    ['min_uptime: 10', 'min_uptime: must be a duration, not "10" | Write 10s, not 10 (units: ms, s, m, h, d).'],
    ['min_uptime: "10"', 'min_uptime: must be a duration, not "10" | Write 10s, not 10 (units: ms, s, m, h, d).'],
    ['min_uptime: 1.5s', 'min_uptime: must be a duration, not "1.5s" | Write 1s500ms.'],
    ['min_uptime: 400d', 'min_uptime: is longer than a year | Use at most 365d.'],
    ['min_uptime: 99999999999999999999d', 'min_uptime: is longer than a year | Use at most 365d.'],
    ['min_uptime: [1s]', 'min_uptime: must be a duration such as 10s, not a list'],
    ['min_uptime:', 'min_uptime: is empty; it must be a duration such as 10s | Give it a value, or remove the line.'],
    ['stop: { signal: TERM }', 'stop.signal: "TERM" is not a signal of Linux | Did you mean SIGTERM?'],
    ['stop: { signal: sigint }', 'stop.signal: "sigint" is not a signal of Linux | Did you mean SIGINT?'],
    ['stop: { signal: SIGTREM }', 'stop.signal: "SIGTREM" is not a signal of Linux | Did you mean SIGTERM?'],
    ['stop: { signal: SIGSTOP }', 'stop.signal: SIGSTOP would freeze the component instead of ending it'],
    ['stop: { signal: 15 }', 'stop.signal: "15" is not a signal of Linux | For example SIGTERM.'],
    ['stop: {}', null],
    ['stop:', 'stop: is empty | Give it content, or remove the line.'],
    ['stop: []', 'stop: must be a map'],
    ['restart: { backoff: { factor: 0.5 } }', 'restart.backoff.factor: must be a number from 1 to 100, not 0.5'],
    ['restart: { backoff: { factor: .inf } }', 'restart.backoff.factor: must be a number from 1 to 100, not .inf'],
    ['restart: { backoff: { factor: .nan } }', 'restart.backoff.factor: must be a number from 1 to 100, not .nan'],
    ['restart: { backoff: { jitter: 1.1 } }', 'restart.backoff.jitter: must be a number from 0 to 1, not 1.1'],
    ['restart: { backoff: { jitter: -0.1 } }', 'restart.backoff.jitter: must be a number from 0 to 1, not -0.1'],
    [
      'restart: { backoff: { jitter: "0.5" } }',
      'restart.backoff.jitter: must be a number from 0 to 1 | Write 0.5, without quotes.',
    ],
    [
      'restart: { backoff: { initial: 2m } }',
      'restart.backoff.initial: max is 1m (the default), which is less than initial, 2m | Raise max, or lower initial.',
    ],
    [
      'restart: { backoff: { max: 500ms } }',
      'restart.backoff.max: max is 500ms, which is less than initial, 1s (the default) | Raise max, or lower initial.',
    ],
    ['restart: { backoff: { initial: 0s, max: 0s } }', null],
    ['restart: { limit: { max: -1 } }', 'restart.limit.max: must be a whole number from 0 to 1000000, not -1'],
    ['restart: { limit: { max: 1.5 } }', 'restart.limit.max: must be a whole number from 0 to 1000000, not 1.5'],
    ['restart: { limit: { max: 0 } }', null],
    ['restart: { limit: { within: 0s } }', 'restart.limit.within: must be longer than 0s'],
    [
      'restart: { limit: { retry: 0s } }',
      'restart.limit.retry: must be longer than 0s | Write "never" for no retry at all.',
    ],
    [
      'restart: { limit: { retry: no } }',
      'restart.limit.retry: must be a duration, not "no" | Write a whole number with its unit, largest unit first: 500ms, 10s, 1m30s, 1h, 7d.',
    ],
    [
      'restart: { never_on: [0] }',
      'restart.never_on[0]: 0 is a clean exit, not a failure | Use "policy: on-failure" to accept a clean exit.',
    ],
    ['restart: { never_on: [256] }', 'restart.never_on[0]: an exit code is a whole number from 1 to 255, not 256'],
    [
      'restart: { never_on: [78, "78"] }',
      'restart.never_on[1]: must be a number, not text | Write 78, without quotes.',
    ],
    ['restart: { never_on: [ILL] }', 'restart.never_on[0]: "ILL" is not a signal of Linux | Did you mean SIGILL?'],
    [
      'restart: { never_on: [SIGIOT] }',
      'restart.never_on[0]: "SIGIOT" is not a signal of Linux | Did you mean SIGABRT?',
    ],
    ['restart: { never_on: [SIGCHLD] }', 'restart.never_on[0]: SIGCHLD never ends a process'],
    ['restart: { never_on: [1, 255, SIGILL, SIGSYS] }', null],
    ['restart: { dependents: yes }', 'restart.dependents: must be true or false | Write true.'],
    ['restart: { dependents: "false" }', 'restart.dependents: must be true or false | Write false, without quotes.'],
  ])('%s', (key, problem) => {
    if (problem === null) expect(problemsOf(api(key))).toEqual([]);
    else expect(oneProblem(api(key))).toBe(`components.api.${problem}`);
  });

  test.each([
    ['command: []', 'command: the command is empty | Write: command: [./bin/server, --port, "7234"]'],
    ['command: ""', 'command: the command is empty | Write: command: [./bin/server, --port, "7234"]'],
    ['command: "  ", shell: true', 'command: the command is empty | Write: command: [./bin/server, --port, "7234"]'],
    ['command: ["", a]', 'command[0]: the name of the program is empty | Name the program to run.'],
    ['command: [a, 7234]', 'command[1]: must be text, not a number | Put it in quotes: "7234".'],
    ['command: [a, 1.10]', 'command[1]: must be text, not a number | Put it in quotes: "1.10".'],
    ['command: [a, true]', 'command[1]: must be text, not true or false | Put it in quotes: "true".'],
    ['command: [a, [b]]', 'command[1]: must be text, not a list'],
    ['command: { a: b }', 'command: must be text, not a map'],
    ['command: [a, ~]', 'command[1]: is empty; it must be text | Give it a value, or remove the line.'],
    ['command: ["a\\0b"]', 'command[0]: contains a NUL byte | Remove it: no program can receive it.'],
    [
      'command: ["\\ud800"]',
      'command[0]: contains half a character (a lone surrogate) | Remove it: no program can receive it.',
    ],
    [
      'command: [a, b c], shell: true',
      'command: with "shell: true" the command is one text, not a list | Remove "shell: true", or write: command: "a b c"',
    ],
    ['command: [a], cwd: ""', 'cwd: is empty; it must be a path | Give it a value, or remove the line.'],
    ['command: [a], cwd: ~/app', 'cwd: "~" is not expanded | Write ${HOME}/app.'],
    ['command: [a], cwd: "x\\0"', 'cwd: contains a NUL byte | Remove it: no program can receive it.'],
    ['command: [a], env: { PORT: 8080 }', 'env.PORT: must be text, not a number | Put it in quotes: "8080".'],
    ['command: [a], env: { DEBUG: false }', 'env.DEBUG: must be text, not true or false | Put it in quotes: "false".'],
    [
      'command: [a], env: { "A=B": x }',
      'env."A=B": "A=B" cannot be the name of a variable | Write "NAME: value", without "=".',
    ],
    ['command: [a], env: { "A\\0": x }', 'env."A\\u0000": contains a NUL byte | Remove it: no program can receive it.'],
    ['command: [a], env: { A: }', 'env.A: is empty; it must be text | Give it a value, or remove the line.'],
    ['command: [a], env_file: [a, 1]', 'env_file[1]: must be text, not a number | Put it in quotes: "1".'],
    ['command: [a], env_file: {}', 'env_file: must be text, not a map'],
  ])('process: { %s }', (keys, problem) => {
    expect(oneProblem(proc(keys))).toBe(`components.api.process.${problem}`);
  });

  test('a shell that is wrong itself says nothing about the command', () => {
    expect(oneProblem(proc('command: a b, shell: yes'))).toBe(
      'components.api.process.shell: must be true or false | Write true.',
    );
  });

  test.each([
    ['version: 1', null],
    ['version: "1"', 'version: must be 1, the only version of this format | Write 1, or remove the line.'],
    ['version: 3.8', 'version: must be 1, the only version of this format | Write 1, or remove the line.'],
    ['name: my-project', null],
    ['name: 5', 'name: must be text, not a number | Put it in quotes: "5".'],
  ])('%s', (key, problem) => {
    const text = `${key}\n${proc('command: [a]')}`;
    if (problem === null) expect(problemsOf(text)).toEqual([]);
    else expect(oneProblem(text)).toBe(problem);
  });
});

describe('names', () => {
  const named = (name: string) => `components: { ${JSON.stringify(name)}: { process: { command: [a] } } }`;

  test.each(['a', '0', 'api', 'api.v1', 'a-b_c', 'constructor', 'true', 'x'.repeat(63)])('%s is a name', (name) => {
    expect(only(named(name)).name).toBe(name);
  });

  test.each(['A', 'my app', '-a', '.a', '_a', 'a/b', '../x', 'a..b', 'a\nb', 'ä', 'x'.repeat(64), '__proto__', '*'])(
    '%j is not a name',
    (name) => {
      expect(oneProblem(named(name))).toContain('is not a valid name');
    },
  );

  test('a name that could be meant is offered', () => {
    expect(oneProblem(named('My App'))).toMatch(/For example: my-app$/);
  });
});

describe('what is missing', () => {
  test.each([
    ['name: x', '1:1 : there are no components | Write: components: { api: { process: { command: [./bin/server] } } }'],
    ['components: {}', '1:1 components: there are no components | Name at least one.'],
    ['components:', '1:12 components: is empty | Give it content, or remove the line.'],
    [
      'components:\n  api: {}',
      '2:3 components.api: nothing says what to run | Write: process: { command: [./bin/server] }, or: container: { image: name:tag }',
    ],
    ['components:\n  api:', '2:7 components.api: is empty | Give it content, or remove the line.'],
    [
      'components:\n  api:\n    process: {}',
      '3:5 components.api.process: the command is missing | Write: command: [./bin/server, --port, "7234"]',
    ],
  ])('%j', (text, line) => {
    expect(linesOf(text)).toEqual([line]);
  });
});
