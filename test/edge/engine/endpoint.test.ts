/** Where the Engine is looked for, in which order, and what is refused. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type EngineEnv, findEndpoint } from '../../../src/engine/endpoint.ts';
import { tempDir } from '../../support/temp-dir.ts';

let dir: ReturnType<typeof tempDir>;
beforeEach(() => {
  dir = tempDir();
});
afterEach(() => dir[Symbol.dispose]());

const find = (env: EngineEnv) =>
  findEndpoint({ HOME: dir.path, ...env }, { systemSocket: '/system.sock', programDirs: [] });

function writeContext(name: string, meta: unknown, configDir = dir.at('.docker')): void {
  const folder = join(configDir, 'contexts/meta', createHash('sha256').update(name).digest('hex'));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'meta.json'), typeof meta === 'string' ? meta : JSON.stringify(meta));
}
function useContext(name: string, configDir = dir.at('.docker')): void {
  mkdirSync(configDir, { recursive: true });
  writeFileSync(join(configDir, 'config.json'), JSON.stringify({ auths: {}, currentContext: name }));
}
const at = (host: string) => ({ Name: 'x', Metadata: {}, Endpoints: { docker: { Host: host } } });

test('with nothing said, it is the socket of the system', () => {
  expect(find({})).toEqual({ socketPath: '/system.sock', namedBy: null });
});

test('a rootless Engine of the same user goes before that of the system', () => {
  writeFileSync(dir.at('docker.sock'), '');
  expect(find({ XDG_RUNTIME_DIR: dir.path })).toEqual({ socketPath: dir.at('docker.sock'), namedBy: null });
  expect(find({ XDG_RUNTIME_DIR: dir.at('elsewhere') })).toMatchObject({ socketPath: '/system.sock' });
});

test('the current context goes before the usual places', () => {
  writeFileSync(dir.at('docker.sock'), '');
  useContext('mine');
  writeContext('mine', at('unix:///mine.sock'));
  expect(find({ XDG_RUNTIME_DIR: dir.path })).toEqual({
    socketPath: '/mine.sock',
    namedBy: 'the Docker context "mine"',
  });
});

test('DOCKER_CONTEXT goes before the current context, and DOCKER_HOST before both', () => {
  useContext('mine');
  writeContext('mine', at('unix:///mine.sock'));
  writeContext('other', at('unix:///other.sock'));
  expect(find({ DOCKER_CONTEXT: 'other' })).toMatchObject({ socketPath: '/other.sock' });
  expect(find({ DOCKER_CONTEXT: 'other', DOCKER_HOST: 'unix:///host.sock' })).toEqual({
    socketPath: '/host.sock',
    namedBy: 'DOCKER_HOST',
  });
  expect(find({ DOCKER_HOST: '' })).toMatchObject({ socketPath: '/mine.sock' });
});

test('DOCKER_CONFIG says where contexts are kept', () => {
  useContext('mine', dir.at('cfg'));
  writeContext('mine', at('unix:///mine.sock'), dir.at('cfg'));
  expect(find({ DOCKER_CONFIG: dir.at('cfg') })).toMatchObject({ socketPath: '/mine.sock' });
  expect(find({})).toMatchObject({ socketPath: '/system.sock' });
});

describe('the built-in context is meant', () => {
  test.each([
    ['when it is named', () => useContext('default')],
    ['when the file is not JSON', () => useRaw('{')],
    ['when the file names none', () => useRaw('{"auths":{}}')],
    ['when the file holds something else', () => useRaw('[]')],
  ])('%s', (_when, write) => {
    write();
    expect(find({})).toMatchObject({ socketPath: '/system.sock' });
  });

  function useRaw(text: string): void {
    mkdirSync(dir.at('.docker'));
    writeFileSync(dir.at('.docker/config.json'), text);
  }
});

test.each([
  ['has no files', undefined],
  ['has files that are not JSON', '{'],
  ['names no address', { Endpoints: {} }],
])('a context that %s is not silently replaced by another Engine', (_what, meta) => {
  useContext('mine');
  if (meta !== undefined) writeContext('mine', meta);
  expect(find({})).toEqual({ why: expect.stringContaining('the Docker context "mine" is in use, but its files in ') });
});

test.each(['tcp://10.0.0.1:2375', 'ssh://me@host', 'npipe:////./pipe/docker', 'unix://relative.sock', 'nonsense'])(
  '%s is refused, saying what is supported',
  (host) => {
    expect(find({ DOCKER_HOST: host })).toEqual({
      why: expect.stringMatching(/^DOCKER_HOST is ".*"; only unix sockets are supported, written as unix:\/\/\//),
    });
  },
);

test('a password in the address is not repeated', () => {
  expect(JSON.stringify(find({ DOCKER_HOST: 'ssh://me:secret@host' }))).not.toContain('secret');
});
