import { expect, test } from 'vitest';
import {
  agentName,
  checkHeartbeatTask,
  checkTask,
  heartbeatWithTask,
  taskInCode,
  withTask,
} from '../../../../src/agents/rules/task.ts';
import { NAME_PATTERN } from '../../../../src/base/pure/ids.ts';
import type { HeartbeatSpec } from '../../../../src/supervision/rules/freeze/heartbeat.ts';
import { agentType } from '../../../support/agent-samples.ts';

const HOSTILE = [
  'a b',
  'two\nlines',
  '"; rm -rf / #',
  "it's",
  '--help',
  '-',
  '{task}',
  '$(id)',
  '`id`',
  '%s',
  '\u202e',
  'ä'.repeat(500),
];

test.each(HOSTILE)('the task %j stays one argument, as it is', (task) => {
  const { process } = agentType();
  expect(withTask({ ...process, command: ['a', '{task}', '--id={task}!'] }, task).command).toEqual([
    'a',
    task,
    `--id=${task}!`,
  ]);
  expect(withTask({ ...process, env: { TASK: '{task}' } }, task).env).toEqual({ TASK: task });
  expect(checkTask(task)).toBe(task);
});

test.each(HOSTILE)('an agent with the task %j has a name that is fit for files', (task) => {
  const name = agentName('architect', task);
  expect(name).toMatch(NAME_PATTERN);
  expect(name).not.toContain('..');
});

test('names are the same for the same task and different for different ones', () => {
  expect(agentName('architect', 'SPEC-111')).toMatch(/^architect-spec-111-[0-9a-f]{16}$/);
  expect(agentName('a', 'SPEC-1')).toBe(agentName('a', 'SPEC-1'));
  const names = [
    ['a', 'SPEC 1'],
    ['a', 'SPEC-1'],
    ['a', 'spec-1'],
    ['b', 'SPEC-1'],
    ['a-spec', '1'],
  ] as const;
  expect(new Set(names.map(([type, task]) => agentName(type, task))).size).toBe(names.length);
  expect(agentName('a'.repeat(63), 'b'.repeat(1_000))).toMatch(NAME_PATTERN);
});

test.each([
  ['', 'It is empty.'],
  ['a\0b', 'NUL'],
  ['x'.repeat(1_025), '1025 bytes'],
  ['ä'.repeat(513), '1026 bytes'],
])('the task %j is refused', (task, why) => {
  expect(() => checkTask(task)).toThrow(why);
});

test.each<[readonly string[], number | null]>([
  [['sh', '-c', 'echo {task}'], 2],
  [['/bin/bash', '-ec', 'x {task}'], 2],
  [['env', 'A=1', 'sh', '-c', '{task}'], 4],
  [['timeout', '10', 'bash', '-lc', 'a; {task}'], 4],
  [['python3', '-c', 'run("{task}")'], 2],
  [['node', '--no-warnings', '-e', 'go(`{task}`)'], 3],
  [['sh', '-c', 'work on "$1"', 'sh', '{task}'], null],
  [['python', '-m', 'agents.architect', '--task', '{task}'], null],
  [['python', 'agent.py', '-c', '{task}'], null],
  [['node', '-r', './hook.js', 'agent.js', '-e', '{task}'], null],
  [['./agent', '-c', '{task}'], null],
  [['sudo', '-u', 'app', 'sh', '-c', '{task}'], 5],
  [['docker', 'exec', 'box', 'sh', '-c', 'run {task}'], 5],
  [['xargs', 'bash', '-c', '{task}'], 3],
  [['sh', '-o', 'errexit', '-c', '{task}'], 4],
  [['bash', '+o', 'posix', '-c', '{task}'], 4],
  [['python', '-X', 'dev', '-c', '{task}'], 4],
  [['python', '-cprint("{task}")'], 1],
  [['node', '--eval={task}'], 1],
  [['python', '-X', 'dev', 'agent.py', '-c', '{task}'], null],
  [['sudo', '-u', 'node', './agent', '-c', '{task}'], null],
  [['sudo', './agent', '{task}'], null],
  [['sh', 'agent.sh', '-c{task}'], null],
])('%j: the task is read as code at %s', (argv, at) => {
  expect(taskInCode(argv)?.at ?? null).toBe(at);
});

const inFile = (path: string): HeartbeatSpec => ({
  source: { kind: 'file', path, field: null },
  ...{ freezeAfterMs: 60_000, dumpSignal: null },
});

test('each task may have a heartbeat file of its own', () => {
  expect(heartbeatWithTask(inFile('/beats/{task}.json'), 'SPEC-111').source).toMatchObject({
    path: '/beats/SPEC-111.json',
  });
  const ping: HeartbeatSpec = { ...inFile(''), source: { kind: 'ping' } };
  expect(heartbeatWithTask(ping, 'A')).toBe(ping);
});

test.each([
  ['/beats/{task}.json', '../../etc/passwd', false],
  ['/beats/{task}/beat', '..', false],
  ['/beats/{task}.json', 'feature/login', true],
  ['/beats/{task}.json', '..', true],
  ['/beats/all.json', '../..', true],
])('with the heartbeat file %s the task %j is taken: %s', (path, task, isTaken) => {
  const check = expect(() => checkHeartbeatTask(inFile(path), task));
  if (isTaken) check.not.toThrow();
  else check.toThrow('out of its folder');
});
