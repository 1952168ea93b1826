/** Commands that go on in a container whoever began them, with the shells that images have. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createExecs } from '../../../src/compose/detached/execs.ts';
import { createEngine } from '../../../src/engine/engine.ts';
import type { Execs } from '../../../src/ports/campaigns.ts';
import { systemClock } from '../../../src/supervisor/system-clock.ts';
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
  expect(await client(engine).look(place.container, '/begun', forever)).toEqual({ kind: 'absent' });

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
