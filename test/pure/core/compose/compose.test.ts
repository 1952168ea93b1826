import { expect, test } from 'vitest';
import { knowsJson, parseVersion, projectName } from '../../../../src/compose/rules/project.ts';
import { readinessOf, type ServiceContainer } from '../../../../src/compose/rules/readiness.ts';

test.each([
  ['1.29.2\n', 1, 29, '1.29.2'],
  ['2.26.1-4', 2, 26, '2.26.1-4'],
  ['v2.3.3', 2, 3, '2.3.3'],
  ['2.40.3+ds1-0ubuntu1~24.04.1', 2, 40, '2.40.3+ds1-0ubuntu1~24.04.1'],
  ['a warning of the docker command\n2.30.0', 2, 30, '2.30.0'],
])('the version %j', (printed, major, minor, text) => {
  expect(parseVersion(printed)).toEqual({ major, minor, text });
});

test.each(['', 'Usage:  docker [OPTIONS] COMMAND', 'docker-compose version 1.29.2, build unknown', '2'])(
  'what is no version: %j',
  (printed) => {
    expect(parseVersion(printed)).toBeNull();
  },
);

test('only the newer one prints JSON', () => {
  expect(['1.29.2', '2.0.0'].map((text) => knowsJson(parseVersion(text)!))).toEqual([false, true]);
});

test.each([
  ['', 'My Project.v2', 'myprojectv2'],
  ['', '_hidden-1', 'hidden-1'],
  ['', '...', 'default'],
  ['Given_Name', 'dir', 'given_name'],
])('a project with the variable %j in %j is called %s', (variable, directory, name) => {
  expect(projectName({ variable, directory })).toBe(name);
});

const running: ServiceContainer = {
  status: 'running',
  running: true,
  paused: false,
  restarting: false,
  exitCode: 0,
  oomKilled: false,
  error: '',
  health: null,
  restartPolicy: 'no',
};
const health = { failures: 3, lastEndedAt: 1, lastExitCode: 1, lastOutput: 'first\nrefused\n' };
const exited = { ...running, running: false, status: 'exited' };

test.each<[string, Partial<ServiceContainer>, object]>([
  ['runs, and has no health check', running, { kind: 'running' }],
  ['is healthy', { ...running, health: { ...health, status: 'healthy' } }, { kind: 'ready' }],
  ['is about to be', { ...running, health: { ...health, status: 'starting' } }, { kind: 'starting' }],
  [
    'is not',
    { ...running, health: { ...health, status: 'unhealthy' } },
    { kind: 'failed', why: 'its health check failed 3 times: exit 1: first refused' },
  ],
  ['did its work', exited, { kind: 'completed' }],
  ['failed', { ...exited, exitCode: 3 }, { kind: 'failed', why: 'it ended with code 3' }],
  [
    'failed for want of memory',
    { ...exited, exitCode: 137, oomKilled: true },
    { kind: 'failed', why: 'it ended with code 137, out of memory' },
  ],
  [
    'failed and is started again by the Engine',
    { ...exited, exitCode: 3, restartPolicy: 'always' },
    { kind: 'starting' },
  ],
  ['waits for that', { ...running, restarting: true, exitCode: 3 }, { kind: 'starting' }],
  ['is paused', { ...running, paused: true }, { kind: 'failed' }],
  [
    'could not be started',
    { ...running, running: false, status: 'created', error: 'port is taken' },
    { kind: 'failed', why: 'port is taken' },
  ],
  ['is made', { ...running, running: false, status: 'created' }, { kind: 'starting' }],
  ['is dead', { ...running, running: false, status: 'dead' }, { kind: 'failed', why: 'its container is dead' }],
])('a service that %s', (_, container, readiness) => {
  expect(readinessOf({ ...running, ...container })).toMatchObject(readiness);
});
