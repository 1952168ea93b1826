/** What a real Docker Engine says about real containers. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { createEngine } from '../../../src/docker/engine.ts';
import type { ContainerState, Engine } from '../../../src/docker/ports.ts';
import { readProcStat } from '../../../src/drivers/process/proc.ts';
import { OUT_OF_MEMORY, startEngine, TestEngine, useEngine } from '../../support/engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { fastClock, isThere } from '../process/workshop.ts';

const need = useEngine();
const never = new AbortController().signal;
const clientOf = ({ env }: TestEngine): Engine => createEngine({ env, clock: systemClock });

async function found(docker: TestEngine, name: string): Promise<ContainerState> {
  const inspection = await clientOf(docker).inspect(name, never);
  if (inspection.kind !== 'found') throw new Error(JSON.stringify(inspection));
  return inspection.state;
}
const over = (docker: TestEngine, name: string) =>
  waitFor('the container to end', async () => {
    const state = await found(docker, name);
    return state.running ? null : state;
  });

test('a running container has a process', async ({ skip }) => {
  const docker = need(skip);
  const name = await docker.run({ command: ['sleep', '300'] });
  const state = await found(docker, name);
  expect(state).toMatchObject({ status: 'running', running: true, paused: false, restarting: false, error: '' });
  expect(isThere(state.pid ?? 0)).toBe(true);
  expect(Date.parse(state.startedAt)).toBeGreaterThan(0);
});

test('a container is found by the digits of its id that "docker ps" prints, and by more, but not by less: that may be a name', async ({
  skip,
}) => {
  const docker = need(skip);
  const { id } = await found(docker, await docker.run({ command: ['sleep', '300'] }));
  for (const digits of [12, 13, 40, 64]) expect((await found(docker, id.slice(0, digits))).id).toBe(id);
  for (const digits of [2, 4, 11])
    expect(await clientOf(docker).inspect(id.slice(0, digits), never)).toEqual({ kind: 'missing' });
});

test('a paused container is running and paused', async ({ skip }) => {
  const docker = need(skip);
  const name = await docker.run({ command: ['sleep', '300'] });
  await docker.act(name, 'pause');
  expect(await found(docker, name)).toMatchObject({ running: true, paused: true });
});

test('an ended container has its code and no process', async ({ skip }) => {
  const docker = need(skip);
  const name = await docker.run({ command: ['sh', '-c', 'exit 3'] });
  expect(await over(docker, name)).toMatchObject({ status: 'exited', exitCode: 3, pid: null, oomKilled: false });
});

test('a container that was killed for want of memory says so', async ({ skip }) => {
  const docker = need(skip);
  const name = await docker.run(OUT_OF_MEMORY);
  await docker.starve(name);
  expect(await over(docker, name)).toMatchObject({ exitCode: 137, oomKilled: true });
});

test('a container whose program is not there tells why it could not start', async ({ skip }) => {
  const docker = need(skip);
  const name = docker.newName();
  await docker.create(name, { command: ['no-such-program'] });
  await expect(docker.act(name, 'start')).rejects.toThrow();
  expect(await found(docker, name)).toMatchObject({
    running: false,
    error: expect.stringContaining('no-such-program'),
  });
});

test('a container that nobody made is missing', async ({ skip }) => {
  expect(await clientOf(need(skip)).inspect('nobody-made-this', never)).toEqual({ kind: 'missing' });
});

test('a name cannot climb to another path of the Engine', async ({ skip }) => {
  const answer = await clientOf(need(skip)).inspect('../version?', never);
  expect(answer.kind).not.toBe('found');
});

test('hundreds of questions at once are answered', async ({ skip }) => {
  const docker = need(skip);
  const name = await docker.run({ command: ['sleep', '300'] });
  const engine = clientOf(docker);
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => engine.inspect(name, new AbortController().signal)),
  );
  expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(['found']));
});

const threadStates = (pid: number): readonly (string | undefined)[] =>
  readdirSync(`/proc/${pid}/task`).map((thread) => readProcStat(Number(thread))?.state);

test('an Engine that is stopped is unreachable, and fine again once it goes on', async ({ skip }) => {
  need(skip);
  // Another Engine than the one the other tests use, so that they do not notice.
  await using mine = await startEngine();
  const docker = new TestEngine(mine.socketPath);
  const name = await docker.run({ command: ['sleep', '300'] });
  process.kill(mine.pid, 'SIGSTOP');
  await waitFor('all its threads to stop', () => threadStates(mine.pid).every((state) => state === 'T'));
  const hasty = createEngine({ env: docker.env, clock: fastClock(20) });
  expect(await hasty.inspect(name, never)).toMatchObject({
    kind: 'unreachable',
    why: expect.stringMatching(/hangs or is overloaded, no complete answer within 5 s: see/),
  });
  process.kill(mine.pid, 'SIGCONT');
  expect(await found(docker, name)).toMatchObject({ running: true });
});
