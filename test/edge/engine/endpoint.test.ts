/** Where the Engine is looked for, in which order, and what is refused. */
import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type EngineEnv, findEndpoint } from '../../../src/docker/endpoint.ts';
import { tempDir } from '../../support/temp-dir.ts';

let dir: ReturnType<typeof tempDir>;
beforeEach(() => {
  dir = tempDir();
});
afterEach(() => dir[Symbol.dispose]());

const find = (env: EngineEnv) =>
  findEndpoint(
    { HOME: dir.path, ...env },
    { systemSocket: dir.at('system.sock'), podmanSocket: dir.at('podman.sock'), programDirs: [] },
  );
const socket = (path: string) => ({ kind: 'socket', path });

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
  expect(find({})).toEqual({ address: socket(dir.at('system.sock')), namedBy: null });
});

test('a rootless Engine of the same user goes before that of the system', () => {
  writeFileSync(dir.at('docker.sock'), '');
  expect(find({ XDG_RUNTIME_DIR: dir.path })).toEqual({ address: socket(dir.at('docker.sock')), namedBy: null });
  expect(find({ XDG_RUNTIME_DIR: dir.at('elsewhere') })).toMatchObject({ address: socket(dir.at('system.sock')) });
});

test('the current context goes before the usual places', () => {
  writeFileSync(dir.at('docker.sock'), '');
  useContext('mine');
  writeContext('mine', at('unix:///mine.sock'));
  expect(find({ XDG_RUNTIME_DIR: dir.path })).toEqual({
    address: socket('/mine.sock'),
    namedBy: 'the Docker context "mine"',
  });
});

test('DOCKER_CONTEXT goes before the current context, and DOCKER_HOST before both', () => {
  useContext('mine');
  writeContext('mine', at('unix:///mine.sock'));
  writeContext('other', at('unix:///other.sock'));
  expect(find({ DOCKER_CONTEXT: 'other' })).toMatchObject({ address: socket('/other.sock') });
  expect(find({ DOCKER_CONTEXT: 'other', DOCKER_HOST: 'unix:///host.sock' })).toEqual({
    address: socket('/host.sock'),
    namedBy: 'DOCKER_HOST',
  });
  expect(find({ DOCKER_HOST: '' })).toMatchObject({ address: socket('/mine.sock') });
});

test('DOCKER_CONFIG says where contexts are kept', () => {
  useContext('mine', dir.at('cfg'));
  writeContext('mine', at('unix:///mine.sock'), dir.at('cfg'));
  expect(find({ DOCKER_CONFIG: dir.at('cfg') })).toMatchObject({ address: socket('/mine.sock') });
  expect(find({})).toMatchObject({ address: socket(dir.at('system.sock')) });
});

describe('the built-in context is meant', () => {
  test.each([
    ['when it is named', () => useContext('default')],
    ['when the file is not JSON', () => useRaw('{')],
    ['when the file names none', () => useRaw('{"auths":{}}')],
    ['when the file holds something else', () => useRaw('[]')],
  ])('%s', (_when, write) => {
    write();
    expect(find({})).toMatchObject({ address: socket(dir.at('system.sock')) });
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

test("Podman's sockets are taken where there is none of Docker", () => {
  mkdirSync(dir.at('podman'));
  writeFileSync(dir.at('podman.sock'), '');
  expect(find({})).toMatchObject({ address: socket(dir.at('podman.sock')) });
  writeFileSync(dir.at('podman/podman.sock'), '');
  expect(find({ XDG_RUNTIME_DIR: dir.path })).toMatchObject({ address: socket(dir.at('podman/podman.sock')) });
  writeFileSync(dir.at('system.sock'), '');
  expect(find({ XDG_RUNTIME_DIR: dir.path })).toMatchObject({ address: socket(dir.at('system.sock')) });
});

const tcp = (host: string, port: number) => ({ kind: 'tcp', host, port, tls: null });

test('an address of the network is taken as it is written, in the clear', () => {
  expect(find({ DOCKER_HOST: 'tcp://10.0.0.1:4243' })).toEqual({
    address: tcp('10.0.0.1', 4243),
    namedBy: 'DOCKER_HOST',
  });
  expect(find({ DOCKER_HOST: 'tcp://engine.example' })).toMatchObject({ address: tcp('engine.example', 2375) });
  expect(find({ DOCKER_HOST: 'tcp://[::1]:2375' })).toMatchObject({ address: tcp('::1', 2375) });
});

describe('an encrypted connection', () => {
  beforeEach(() => {
    mkdirSync(dir.at('certs'));
    for (const name of ['ca', 'cert', 'key']) writeFileSync(dir.at(`certs/${name}.pem`), name.toUpperCase());
  });

  test('is asked for by DOCKER_CERT_PATH or DOCKER_TLS_VERIFY', () => {
    const tls = { ca: 'CA', cert: 'CERT', key: 'KEY', verify: true };
    const DOCKER_HOST = 'tcp://engine.example';
    expect(find({ DOCKER_HOST, DOCKER_CERT_PATH: dir.at('certs') })).toMatchObject({ address: { port: 2376, tls } });
    expect(find({ DOCKER_HOST, DOCKER_TLS_VERIFY: '1', DOCKER_CONFIG: dir.at('certs') })).toMatchObject({
      address: { port: 2376, tls },
    });
    expect(find({ DOCKER_HOST, DOCKER_TLS_VERIFY: '1' })).toMatchObject({ address: { tls: { verify: true } } });
  });

  test('is made with the files of the context', () => {
    useContext('mine');
    writeContext('mine', at('tcp://engine.example:2376'));
    expect(find({})).toMatchObject({ address: { tls: null } });
    const folder = join(dir.at('.docker/contexts/tls'), createHash('sha256').update('mine').digest('hex'));
    mkdirSync(folder, { recursive: true });
    renameSync(dir.at('certs'), join(folder, 'docker'));
    expect(find({})).toMatchObject({ address: { tls: { ca: 'CA', cert: 'CERT', key: 'KEY', verify: true } } });
    writeContext('mine', { Endpoints: { docker: { Host: 'tcp://engine.example', SkipTLSVerify: true } } });
    expect(find({})).toMatchObject({ address: { tls: { verify: false } } });
  });

  test('is not begun with half of what it needs', () => {
    rmSync(dir.at('certs/key.pem'));
    expect(find({ DOCKER_HOST: 'tcp://engine.example', DOCKER_CERT_PATH: dir.at('certs') })).toEqual({
      why: expect.stringMatching(/^DOCKER_HOST is "tcp:.*", but of cert\.pem and key\.pem in .*, only one is there$/),
    });
  });
});

test.each(['npipe:////./pipe/docker', 'unix://relative.sock', 'tcp://', 'tcp://host:port', 'nonsense'])(
  '%s is refused, saying what is supported',
  (host) => {
    expect(find({ DOCKER_HOST: host })).toEqual({
      why: expect.stringMatching(/^DOCKER_HOST is ".*"; what is supported is a unix socket, written as unix:\/\/\//),
    });
  },
);

test('ssh is refused, saying what can be done instead', () => {
  expect(find({ DOCKER_HOST: 'ssh://me@host' })).toEqual({
    why: expect.stringMatching(/^DOCKER_HOST is "ssh:.*", and ssh is not spoken here: .*ssh -NL/),
  });
});

test('a password in the address is not repeated', () => {
  expect(JSON.stringify(find({ DOCKER_HOST: 'ssh://me:secret@host' }))).not.toContain('secret');
});
