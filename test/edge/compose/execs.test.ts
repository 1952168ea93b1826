/** Commands that go on in a container whoever began them, with the shells that images have. */

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { after } from '../../../src/base/pure/ids.ts';
import { createExecs } from '../../../src/compose/detached/execs.ts';
import { MAX_TOLD_BYTES } from '../../../src/compose/detached/scripts.ts';
import { runExperiment } from '../../../src/compose/open.ts';
import type { Execs } from '../../../src/compose/ports.ts';
import { createEngine } from '../../../src/docker/engine.ts';
import type { EngineClient } from '../../../src/docker/ports.ts';
import { type TestEngine, useEngine, WITHOUT_SHELL } from '../../support/engine.ts';
import { waitFor } from '../../support/wait-for.ts';

const engineOf = useEngine();
const forever = new AbortController().signal;
const client = (engine: TestEngine) => createEngine({ env: engine.env, clock: systemClock });
const execsOf = (engine: TestEngine): Execs => createExecs({ engine: client(engine), clock: systemClock });
const idOf = async (engine: TestEngine, name: string) => {
  const now = await client(engine).inspect(name, forever);
  return now.kind === 'found' ? now.state.id : '';
};
const ended = (execs: Execs, place: Parameters<Execs['look']>[0]) =>
  waitFor('its end', async () => {
    const sight = await execs.look(place, forever);
    return sight.kind === 'running' ? null : sight;
  });

test('an attempt is found again by another process, with its output, its exit code and its time', async ({ skip }) => {
  const engine = engineOf(skip);
  const name = await engine.run({ command: ['sleep', '1000'] });
  const place = { service: 'svc', container: await idOf(engine, name), attempt: `one-${randomUUID()}` };
  const execs = execsOf(engine);
  expect(await execs.look(place, forever)).toEqual({ kind: 'absent' });
  const script = 'echo "$WORD $1"; echo loud >&2; until test -e /go; do sleep 0.05; done; echo x >> /runs; exit 7';
  const command = ['sh', '-c', script, 'name', 'two words'];
  expect(await execs.begin(place, { command, env: { WORD: "it's" } }, forever)).toEqual({ kind: 'begun' });
  expect(await execs.look(place, forever)).toEqual({ kind: 'running' });

  const later = execsOf(engine);
  await waitFor('the claim', async () => (await later.look(place, forever)).kind === 'running');
  // Begun once more, it does nothing.
  await later.begin(place, { command, env: {} }, forever);
  expect(await later.look(place, forever)).toEqual({ kind: 'running' });
  const said = await waitFor('its words', async () => `${await later.output(place, 0, forever)}`);
  expect(said).toMatch(/^it's two words\n/);
  await engine.tell(name);
  const end = await ended(later, place);
  expect(end).toEqual({ kind: 'ended', exitCode: 7, durationMs: expect.any(Number) });
  expect(`${await later.output(place, 5, forever)}`).toBe('two words\nloud\n');
  await expect(ended(execs, place)).resolves.toEqual(end);
  const ran = await client(engine).exec(place.container, ['cat', '/runs'], forever);
  expect(ran).toMatchObject({ output: 'x\n' });

  // What has ended is told also when its container has.
  await engine.act(name, 'kill');
  expect(await later.look(place, forever)).toEqual(end);
  expect(`${await later.output(place, 5, forever)}`).toBe('two words\nloud\n');
  await engine.act(name, 'start');

  await later.forget(place, forever);
  const next = { ...place, attempt: `next-${randomUUID()}` };
  await later.begin(next, { command: ['true'], env: {} }, forever);
  expect(await ended(later, next)).toMatchObject({ exitCode: 0 });
  expect(await later.look(place, forever)).toEqual({ kind: 'absent' });
});

test('what an attempt started is ended with it, whatever it did to get away', async ({ skip }) => {
  const engine = engineOf(skip);
  const name = await engine.run({ command: ['sleep', '1000'] });
  const place = { service: 'svc', container: await idOf(engine, name), attempt: `two-${randomUUID()}` };
  const execs = execsOf(engine);
  // One that left the session, one that emptied its environment, one that ignores what it can.
  const script = `setsid sleep 901 & env -i sleep 902 & (trap '' TERM HUP INT; sleep 903) & echo up; wait`;
  await execs.begin(place, { command: ['sh', '-c', script], env: {} }, forever);
  await waitFor('all three', async () => `${await execs.output(place, 0, forever)}` === 'up\n');
  const left = async () => {
    const listed = await client(engine).exec(place.container, ['ps'], forever);
    return listed.kind === 'exited' ? listed.output.match(/^ *\d+ \S+ +sleep 90\d$/gm) : ['?'];
  };
  await waitFor('their processes', async () => (await left())?.length === 3);
  expect(await execs.end(place, forever)).toBe(true);
  expect(await left()).toBeNull();
  expect((await execs.look(place, forever)).kind).toMatch(/^(lost|ended)$/);

  // What is ended before it has begun never begins.
  const never = { ...place, attempt: `never-${randomUUID()}` };
  expect(await execs.end(never, forever)).toBe(true);
  await execs.begin(never, { command: ['touch', '/begun'], env: {} }, forever);
  expect(await ended(execs, never)).toMatchObject({ kind: 'lost' });
  expect(await client(engine).lookUp(place.container, '/begun', forever)).toEqual({ kind: 'absent' });

  // A container that was started again has the same pids once more, and they are others.
  const second = { ...place, attempt: `three-${randomUUID()}` };
  await execs.begin(second, { command: ['sleep', '1000'], env: {} }, forever);
  await waitFor('the second', async () => (await execsOf(engine).look(second, forever)).kind === 'running');
  await engine.act(name, 'restart?t=0');
  expect(await execs.look(second, forever)).toMatchObject({ kind: 'lost' });
  await engine.act(name, 'kill');
  expect(await execs.look(second, forever)).toMatchObject({
    kind: 'lost',
    why: expect.stringContaining('does not run'),
  });
  expect(await execs.begin(second, { command: ['true'], env: {} }, forever)).toMatchObject({ kind: 'lost' });
  expect(await execs.end(second, forever)).toBe(true);
});

test('an end that is heard is not asked for, and one that is not heard whole is looked for', async ({ skip }) => {
  const engine = engineOf(skip);
  const container = await idOf(engine, await engine.run({ command: ['sleep', '1000'] }));
  const place = (name: string) => ({ service: 'svc', container, attempt: `${name}-${randomUUID()}` });
  const real = client(engine);
  let asked = 0;
  let lastBytes = Number.POSITIVE_INFINITY;
  const counted: EngineClient = {
    ...real,
    execBytes: (...rest) => {
      asked += 1;
      return real.execBytes(...rest);
    },
    launch: async (...rest) => {
      const launched = await real.launch(...rest);
      if (launched.kind !== 'launched') return launched;
      return { ...launched, said: launched.said.then((bytes) => bytes.subarray(0, lastBytes)) };
    },
  };
  const execs = createExecs({ engine: counted, clock: systemClock });
  const far = () => after(systemClock.now(), 60_000);
  const output = (size: number) => ['sh', '-c', `head -c ${size} /dev/zero | tr '\\0' x; echo; exit 5`];

  const heard = place('heard');
  await execs.begin(heard, { command: ['sh', '-c', 'echo said; echo loud >&2; exit 126'], env: {} }, forever);
  await execs.pause(heard, far(), forever);
  expect(await execs.look(heard, forever)).toMatchObject({ kind: 'ended', exitCode: 126 });
  expect(`${await execs.output(heard, 0, forever)}`).toBe('said\nloud\n');
  expect(`${await execs.output(heard, 10, forever)}`).toBe('');
  expect(asked).toBe(0);

  // More output than is told with the end.
  const long = place('long');
  await execs.begin(long, { command: output(100_000), env: {} }, forever);
  await execs.pause(long, far(), forever);
  expect(await execs.look(long, forever)).toMatchObject({ kind: 'ended', exitCode: 5 });
  const first = await execs.output(long, 0, forever);
  expect(first.length).toBe(MAX_TOLD_BYTES);
  expect((await execs.output(long, first.length, forever)).length).toBe(100_001 - first.length);

  // Cut at every place that matters: before anything, in the output, in the last line.
  for (lastBytes of [0, 3, 5 + 20]) {
    const cut = place('cut');
    await execs.begin(cut, { command: ['sh', '-c', 'echo word; exit 5'], env: {} }, forever);
    expect(await ended(execs, cut)).toMatchObject({ kind: 'ended', exitCode: 5 });
    expect(`${await execs.output(cut, 0, forever)}`).toBe('word\n');
  }
  lastBytes = Number.POSITIVE_INFINITY;

  // Nobody listens any more: it goes on, and its exit code is its own.
  const alone = place('alone');
  const leaving = new AbortController();
  const script = 'until test -e /go; do sleep 0.05; done; exit 5';
  await execs.begin(alone, { command: ['sh', '-c', script], env: {} }, leaving.signal);
  leaving.abort();
  expect(await execs.look(alone, forever)).toEqual({ kind: 'running' });
  await real.exec(container, ['touch', '/go'], forever);
  expect(await ended(execs, alone)).toMatchObject({ kind: 'ended', exitCode: 5 });
});

test('an image without a shell is told in a sentence', async ({ skip }) => {
  const engine = engineOf(skip);
  const name = await engine.run({ command: WITHOUT_SHELL });
  const container = await idOf(engine, name);
  await waitFor('the shell to go', async () => {
    const tried = await client(engine).exec(container, ['sh', '-c', 'true'], forever);
    return tried.kind === 'not-started';
  });
  const place = { service: 'svc', container, attempt: 'four' };
  const begun = await execsOf(engine).begin(place, { command: ['busybox'], env: {} }, forever);
  expect(begun).toMatchObject({
    kind: 'refused',
    why: expect.stringContaining('no shell ("sh") in the image of "svc"'),
  });
});

test('an experiment that is called off leaves nothing of its own in the container', async ({ skip }) => {
  const engine = engineOf(skip);
  const name = await engine.run({ command: ['sleep', '1000'] });
  const container = await idOf(engine, name);
  const execs = execsOf(engine);
  const inside = async (script: string) => {
    const result = await client(engine).exec(container, ['sh', '-c', script], forever);
    return result.kind === 'exited' ? result.output : '';
  };
  const files = () =>
    inside('ls -d /var/tmp/.keepwell-* /tmp/.keepwell-* /.keepwell-* /dev/shm/.keepwell-* 2>/dev/null');
  const calledOff = new AbortController();
  const command = ['sh', '-c', 'echo said; touch /begun; sleep 777'];
  const running = runExperiment(
    { execs, clock: systemClock },
    { service: 'svc', container },
    { command, env: {} },
    60_000,
    calledOff.signal,
  );
  const outcome = expect(running).rejects.toThrow('enough');
  await waitFor('it to have begun', async () => (await inside('ls /begun 2>/dev/null')) !== '');
  expect((await files()).trim().split('\n')).toHaveLength(3);
  calledOff.abort(new Error('enough'));
  await outcome;
  expect(await files()).toBe('');
});
