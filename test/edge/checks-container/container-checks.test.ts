/** Checks about containers, put to a real Docker Engine. */
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { containerRunning } from '../../../src/checks/kinds/container-running.ts';
import { envSetIn } from '../../../src/checks/kinds/env-set.ts';
import { fileExistsIn } from '../../../src/checks/kinds/file-exists.ts';
import type { CheckResult } from '../../../src/checks/spec.ts';
import { createEngine } from '../../../src/docker/engine.ts';
import type { ContainerEngine } from '../../../src/docker/ports.ts';
import { OUT_OF_MEMORY, type TestEngine, useEngine, WITHOUT_SHELL } from '../../support/engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const need = useEngine();
const never = new AbortController().signal;
const clientOf = ({ env }: TestEngine): ContainerEngine => createEngine({ env, clock: systemClock });

const running = (docker: TestEngine, container: string) => containerRunning({ container }, clientOf(docker), never);
const exists = (docker: TestEngine, container: string, ...anyOf: readonly string[]) =>
  fileExistsIn({ in: container, anyOf }, clientOf(docker), never);
const isSet = (docker: TestEngine, container: string, name: string) =>
  envSetIn({ in: container, name }, clientOf(docker), never);
const failing = (docker: TestEngine, container: string) =>
  waitFor('the check to fail', async () => {
    const { status, message } = await running(docker, container);
    return status === 'failed' ? message : null;
  });

const OK = (message: string): CheckResult => ({ status: 'ok', message });
const FAILED = (message: unknown): CheckResult => ({ status: 'failed', message }) as CheckResult;
const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;

test('a container that runs, is paused, goes on, is stopped, and is gone', async ({ skip }) => {
  const docker = need(skip);
  const name = await docker.run({ command: ['sleep', '300'] });
  expect(await running(docker, name)).toEqual(OK('container running'));
  await docker.act(name, 'pause');
  const paused = `container "${name}" is paused: let it go on with "docker unpause ${name}"`;
  expect(await running(docker, name)).toEqual(FAILED(paused));
  // The other kinds do not look into a container that nothing can use.
  expect(await exists(docker, name, '/bin')).toEqual(FAILED(paused));
  expect(await isSet(docker, name, 'PATH')).toEqual(FAILED(paused));
  await docker.act(name, 'unpause');
  expect(await running(docker, name)).toEqual(OK('container running'));
  await docker.act(name, 'stop?t=0');
  expect((await running(docker, name)).message).toMatch(
    new RegExp(
      `^container "${name}" is stopped \\(exit code 137, at ${TIME}\\): start it with "docker start ${name}"$`,
    ),
  );
  await docker.remove(name);
  expect((await running(docker, name)).message).toMatch(`there is no container "${name}"`);
});

test('a container that was never started, one that cannot be, and one that was out of memory', async ({ skip }) => {
  const docker = need(skip);
  const [fresh, broken] = [docker.newName(), docker.newName()];
  await docker.create(fresh, { command: ['true'] });
  expect(await running(docker, fresh)).toEqual(
    FAILED(`container "${fresh}" was created and never started: start it with "docker start ${fresh}"`),
  );
  await docker.create(broken, { command: ['no-such-program'] });
  await docker.act(broken, 'start').catch(() => {});
  expect(await failing(docker, broken)).toMatch(/could not be started: .*no-such-program/);
  const hungry = await docker.run(OUT_OF_MEMORY);
  await docker.starve(hungry);
  expect(await failing(docker, hungry)).toMatch(/is stopped \(exit code 137, out of memory, at /);
});

test('a container that does not stay up is not taken for one that runs', async ({ skip }) => {
  const docker = need(skip);
  const name = await docker.run({ command: ['sh', '-c', 'exit 4'], restartPolicy: 'always' });
  expect(await failing(docker, name)).toMatch(
    /does not stay up, Docker is about to restart it \(exit code 4, at .*\): see "docker logs |is stopped \(exit code 4/,
  );
});

test('a name that is nearly right is answered with the right one', async ({ skip }) => {
  const docker = need(skip);
  const name = docker.newName();
  await docker.create(name, { command: ['true'] });
  const swapped = `${name.slice(0, -2)}${name.at(-1)}${name.at(-2)}x`;
  expect(await running(docker, swapped)).toEqual(FAILED(`there is no container "${swapped}". Did you mean "${name}"?`));
  const service = name.slice('test-'.length);
  expect((await running(docker, service)).message).toMatch(`Did you mean "${name}"?`);
});

/** Of everything that a path may be. */
const FILES = [
  'mkdir -p /d /root; echo 1 >/d/file; touch /d/private; chmod 0 /d/private; echo 2 >/memory/file',
  'ln -s file /d/link; ln -s /d/link /d/link-to-link; ln -s nowhere /d/dangling; ln -s loop /d/loop',
  'ln -s /d /short; ln -s /memory/file /d/into-memory; ln -s /memory /short-memory; echo >/memory/made; sleep 300',
].join('; ');

test('a file in a container is found whatever leads to it, and links to nowhere are no files', async ({ skip }) => {
  const docker = need(skip);
  const name = await docker.run({ command: ['sh', '-c', FILES], tmpfs: ['/memory'] });
  await waitFor('the files', async () => (await exists(docker, name, '/memory/made')).status === 'ok');
  const there = ['/d/file', '/d/private', '/d', '/d/link', '/d/link-to-link', '/short/file', '/etc/hostname'];
  const hidden = ['/memory/file', '/d/into-memory', '/short-memory/file', '/proc/1/status', '/dev/null'];
  for (const path of [...there, ...hidden]) expect(await exists(docker, name, path)).toEqual(OK(`${path} exists`));
  for (const path of ['/nope', '/d/dangling', '/d/loop', '/d/file/below', '/memory/nope', `/${'x'.repeat(300)}`])
    expect(await exists(docker, name, path)).toEqual(FAILED(`in container "${name}" there is no ${path}`));
  expect(await exists(docker, name, '/nope', '/d/file')).toEqual(OK('/d/file exists'));
  expect(await exists(docker, name, '/nope', '/neither')).toEqual(
    FAILED(`in container "${name}" there is no /nope; there is no /neither`),
  );
});

test('without a shell in the image, files are found, and what cannot be seen is not called missing', async ({
  skip,
}) => {
  const docker = need(skip);
  const name = await docker.run({ command: WITHOUT_SHELL, tmpfs: ['/memory'], env: ['GH_TOKEN=s3cret'] });
  await waitFor('the shell to be gone', async () => (await exists(docker, name, '/bin/sh')).status === 'failed');
  expect(await exists(docker, name, '/bin/busybox')).toEqual(OK('/bin/busybox exists'));
  expect(await exists(docker, name, '/bin/sh')).toEqual(FAILED(`in container "${name}" there is no /bin/sh`));
  expect(await exists(docker, name, '/memory/file')).toEqual(
    FAILED(expect.stringMatching(/\/memory\/file could not be checked: it is mounted in memory, .* no program "test"/)),
  );
  expect(await isSet(docker, name, 'GH_TOKEN')).toEqual(OK('GH_TOKEN is set'));
});

test('variables are what every program in the container gets, and their values stay there', async ({ skip }) => {
  const docker = need(skip);
  const env = ['GH_TOKEN=s3cret=', 'NOTHING=', 'TWICE=1', 'TWICE=', 'BACK=', 'BACK=2', '__proto__=x'];
  const name = await docker.run({ command: ['sh', '-c', 'export LATER=1; sleep 300'], env });
  for (const each of ['GH_TOKEN', 'BACK', '__proto__', 'PATH', 'HOME', 'HOSTNAME'])
    expect(await isSet(docker, name, each)).toEqual(OK(`${each} is set`));
  for (const each of ['NOTHING', 'TWICE'])
    expect((await isSet(docker, name, each)).message).toMatch(`${each} is empty in container "${name}"`);
  for (const each of ['LATER', 'constructor', 'GH_TOKEN=', 's3cret'])
    expect((await isSet(docker, name, each)).message).toMatch(`${each} is not set in container "${name}"`);
  expect(JSON.stringify([...(await found(docker, name)).variables])).not.toContain('s3cret');
});

async function found(docker: TestEngine, name: string) {
  const inspection = await clientOf(docker).inspect(name, never);
  if (inspection.kind !== 'found') throw new Error(JSON.stringify(inspection));
  return inspection.setup;
}

test('a question whose time is over says who was slow', async ({ skip }) => {
  const docker = need(skip);
  const name = await docker.run({ command: ['sleep', '300'] });
  const over = AbortSignal.abort(new DOMException('no answer within 5 s', 'TimeoutError'));
  expect((await containerRunning({ container: name }, clientOf(docker), over)).message).toMatch(
    /^no answer within 5 s from the Docker Engine: it hangs or is overloaded; see whether "docker ps" answers/,
  );
});
