/** Commands in containers: of a real Docker Engine, and of a fake where no real one can be made to stumble. */
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { createEngine } from '../../../src/docker/engine.ts';
import { MAX_OUTPUT_BYTES } from '../../../src/docker/exec/exec.ts';
import type { ExecResult } from '../../../src/docker/ports.ts';
import { type TestEngine, useEngine, WITHOUT_SHELL } from '../../support/engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { answer, fakeEngine } from './fake-engine.ts';

const need = useEngine();
const never = new AbortController().signal;

const exec = (docker: TestEngine, name: string, command: readonly string[], signal = never): Promise<ExecResult> =>
  createEngine({ env: docker.env, clock: systemClock }).exec(name, command, signal);

test('a command has its exit code and what it said on both outputs', async ({ skip }) => {
  const docker = need(skip);
  const name = await docker.run({ command: ['sleep', '300'] });
  expect(await exec(docker, name, ['sh', '-c', 'echo out; echo err >&2; exit 7'])).toMatchObject({
    kind: 'exited',
    code: 7,
    output: expect.stringMatching(/^(out\nerr\n|err\nout\n)$/),
  });
});

test('a command that says a lot is not held up, and only the beginning is kept', async ({ skip }) => {
  const docker = need(skip);
  const name = await docker.run({ command: ['sleep', '300'] });
  const said = await exec(docker, name, ['sh', '-c', 'yes | head -c 5000000; exit 3']);
  expect(said).toMatchObject({ kind: 'exited', code: 3 });
  expect(said.kind === 'exited' && said.output.length).toBe(MAX_OUTPUT_BYTES);
});

test('a program that is not in the container was not started, whatever its exit code', async ({ skip }) => {
  const docker = need(skip);
  const name = await docker.run({ command: WITHOUT_SHELL });
  await waitFor(
    'the shell to be gone',
    async () => (await exec(docker, name, ['sh', '-c', 'true'])).kind === 'not-started',
  );
  expect(await exec(docker, name, ['test', '-e', '/'])).toMatchObject({
    kind: 'not-started',
    why: expect.stringContaining('test'),
  });
});

test('a container that does not run takes no command', async ({ skip }) => {
  const docker = need(skip);
  const name = docker.newName();
  await docker.create(name, { command: ['true'] });
  expect(await exec(docker, name, ['true'])).toMatchObject({
    kind: 'not-started',
    why: expect.stringContaining('not running'),
  });
  expect(await exec(docker, 'nobody-made-this', ['true'])).toMatchObject({ kind: 'not-started' });
});

test('a command that is called off is ended with all its children, and nothing else in the container is', async ({
  skip,
}) => {
  const docker = need(skip);
  const name = await docker.run({ command: ['sleep', '300'] });
  const processes = async () =>
    JSON.stringify(JSON.parse(await docker.call('GET', `/containers/${name}/top`)).Processes);
  const script = 'trap "" TERM INT HUP; setsid sleep 4241 & (sleep 4242 &); sleep 4243';
  const caller = new AbortController();
  const result = exec(docker, name, ['sh', '-c', script], caller.signal);
  await waitFor('all of it to run', async () => /4241.*4242.*4243/.test((await processes()).split(',').sort().join()));
  caller.abort();
  expect(await result).toEqual({ kind: 'called-off', left: null });
  await waitFor('only the container itself to be there', async () => !/424/.test(await processes()));
  expect(await processes()).toContain('sleep 300');
});

/** A command of a fake Engine, which begins to answer the start of it like this. `onStall`: and then says nothing more. */
async function execOfFake(start: string, { signal = never, onStall = null as (() => void) | null } = {}) {
  const record = answer('200 OK', '{"Running":false,"ExitCode":0,"Pid":7}');
  await using fake = await fakeEngine((socket, request) => {
    if (!request.includes('/start'))
      socket.end(request.startsWith('GET') ? record : answer('201 Created', '{"Id":"abc"}'));
    else if (onStall === null) socket.end(start);
    else socket.write(start, onStall);
  });
  const engine = createEngine({ env: { DOCKER_HOST: `unix://${fake.socketPath}` }, clock: systemClock });
  return await engine.exec('web', ['true'], signal);
}
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\n';
const FRAME = '\x01\0\0\0\0\0\0\x05hello';

test('the fake is believed when it behaves, so that the rest means something', async () => {
  expect(await execOfFake(HEAD + FRAME)).toEqual({ kind: 'exited', code: 0, output: 'hello' });
});

test.each([
  ['in the middle of a frame', HEAD + FRAME.slice(0, -1)],
  ['in the header of a frame', HEAD + FRAME + FRAME.slice(0, 3)],
  ['in its own headers', HEAD.slice(0, 20)],
  ['by something that is no frame', `${HEAD}<html>no Engine</html>`],
])('a stream that is cut off %s is no answer, whatever the record says', async (_where, text) => {
  expect(await execOfFake(text)).toMatchObject({ kind: 'unreachable' });
});

test('a stream that stalls ends when it is called off', async () => {
  const caller = new AbortController();
  const result = execOfFake(HEAD + FRAME.slice(0, 6), { signal: caller.signal, onStall: () => caller.abort() });
  expect(await result).toEqual({ kind: 'called-off', left: null });
});
