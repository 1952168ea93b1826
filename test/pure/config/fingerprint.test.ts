import { describe, expect, test } from 'vitest';
import { ingredients, specHash } from '../../../src/config/fingerprint.ts';
import { api, only, proc } from './support.ts';

const base = proc('command: [server], env: { LOG_LEVEL: info, TOKEN: hunter2 }, env_file: [.env, /etc/x.env]');

test('the hash of a specification depends on its content and not on the order of its keys', () => {
  const reordered = proc('env_file: [.env, /etc/x.env], env: { TOKEN: hunter2, LOG_LEVEL: info }, command: [server]');
  expect(specHash(only(base))).toMatch(/^[0-9a-f]{16}$/);
  expect(specHash(only(base))).toBe(specHash(only(reordered)));
  expect(specHash(only(base))).toBe(specHash(structuredClone(only(base))));
});

test.each([
  ['the command', 'command: [server, -v]'],
  ['an argument moved into another', 'command: ["server "]'],
  ['the working directory', 'command: [server], cwd: x'],
  ['a variable', 'command: [server], env: { A: b }'],
  ['an env file', 'command: [server], env_file: x'],
])('%s changes the hash', (_, keys) => {
  expect(specHash(only(proc(keys)))).not.toBe(specHash(only(proc('command: [server]'))));
});

test('the same words split differently are different commands', () => {
  expect(specHash(only(proc('command: [a, b c]')))).not.toBe(specHash(only(proc('command: [a b, c]'))));
});

test.each([
  ['a probe', api('liveness: { tcp: 1 }')],
  ['an exec probe with a directory of its own', api('readiness: { exec: { command: [a], cwd: x } }')],
  ['a crash pattern', api('crash_patterns: [panic]')],
  ['the restart policy', api('restart: { policy: never }')],
  ['how much memory is too much', api('limits: { soft_memory: 1GiB }')],
  ['how much of its log is kept', api('logs: { keep: 1 }')],
])('%s is no reason to restart', (_, text) => {
  expect(specHash(only(text))).toBe(specHash(only(api(''))));
});

test.each([
  ['user', proc('command: [a], user: app')],
  ['umask', proc('command: [a], umask: "027"')],
  ['memory', api('limits: { memory: 1GiB }').replace('[server]', '[a]')],
  ['nofile', api('limits: { nofile: 64 }').replace('[server]', '[a]')],
])('another %s is another run', (_, text) => {
  expect(specHash(only(text))).not.toBe(specHash(only(proc('command: [a]'))));
});

describe('something that others start', () => {
  const external = (keys: string): string => `components: { legacy: { ${keys} } }`;
  const legacy = external('external: { pid_file: a.pid }, restart: { command: [systemctl, restart, legacy] }');

  test('is another one when it is found elsewhere', () => {
    expect(specHash(only(legacy))).not.toBe(specHash(only(legacy.replace('a.pid', 'b.pid'))));
    expect(specHash(only(legacy))).not.toBe(specHash(only(external('external: { container: a.pid }'))));
  });

  test('is the same one when it is brought back in another way', () => {
    expect(specHash(only(legacy))).toBe(specHash(only(legacy.replace('systemctl', 'service'))));
    expect(specHash(only(legacy))).toBe(specHash(only(external('external: { pid_file: a.pid }'))));
  });

  test('has ingredients of its own', () => {
    expect(Object.keys(ingredients(only(legacy))).slice(0, 3)).toEqual(['external', 'command', 'cwd']);
  });
});

test('ingredients name every part and show no value', () => {
  const parts = ingredients(only(base));
  expect(Object.keys(parts)).toEqual([
    'command',
    'cwd',
    'env LOG_LEVEL',
    'env TOKEN',
    'env_file .env',
    'env_file /etc/x.env',
    'depends_on',
    'stop',
    'restart',
    'min_uptime',
    'startup',
    'liveness',
    'readiness',
    'crash_patterns',
    'limits',
  ]);
  for (const hash of Object.values(parts)) expect(hash).toMatch(/^[0-9a-f]{8}$/);
  expect(JSON.stringify(parts)).not.toContain('hunter2');
});

test('a change shows under its own name only', () => {
  const changed = (before: string, after: string): readonly string[] => {
    const [old, now] = [ingredients(only(before)), ingredients(only(after))];
    return [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((name) => old[name] !== now[name]);
  };
  expect(changed(base, base.replace('info', 'debug'))).toEqual(['env LOG_LEVEL']);
  expect(changed(base, base.replace('LOG_LEVEL: info, ', ''))).toEqual(['env LOG_LEVEL']);
  expect(changed(api('stop: { grace: 1s }'), api('stop: { grace: 2s }'))).toEqual(['stop']);
  expect(changed(api('restart: { limit: { max: 1 } }'), api(''))).toEqual(['restart']);
  expect(changed(api('liveness: { tcp: 1 }'), api('liveness: { tcp: 2 }'))).toEqual(['liveness']);
  expect(changed(api('crash_patterns: [a]'), api('crash_patterns: [b]'))).toEqual(['crash_patterns']);
  expect(changed(api('limits: { pids: 5 }'), api(''))).toEqual(['limits']);
  expect(changed(proc('command: [a], user: app'), proc('command: [a]'))).toEqual(['user']);
});

test('the text of an env file counts when it is given', () => {
  const spec = only(base);
  const path = '/project/.env';
  expect(ingredients(spec, { [path]: 'A=1' })['env_file .env']).not.toBe(
    ingredients(spec, { [path]: 'A=2' })['env_file .env'],
  );
  expect(ingredients(spec, { [path]: 'A=1' })['env_file /etc/x.env']).toBe(ingredients(spec)['env_file /etc/x.env']);
});
