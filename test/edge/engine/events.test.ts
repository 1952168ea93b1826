/** The stream of events as it comes over a socket: cut anywhere, in Docker's words and in Podman's. */
import { expect, test } from 'vitest';
import { readEvent } from '../../../src/docker/engine.ts';
import type { EngineEvent } from '../../../src/docker/ports.ts';
import { useEngine } from '../../support/engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { answer, fakeEngine } from './fake-engine.ts';
import { clientOf, never } from './workbench.ts';

const need = useEngine();
const ID = 'f'.repeat(64);

const line = (fields: Readonly<Record<string, unknown>>, nano = '1767225600123456789'): string =>
  `${JSON.stringify({ Type: 'container', time: 1_767_225_600, ...fields }).slice(0, -1)},"timeNano":${nano}}\n`;
const docker = (action: string, attributes: Readonly<Record<string, string>> = {}) => ({
  Action: action,
  Actor: { ID, Attributes: { name: 'web', ...attributes } },
});

test('two events of one container that are a nanosecond apart are two events', () => {
  const keys = ['1767225600123456789', '1767225600123456790'].map((nano) => {
    const event = readEvent(line(docker('die'), nano));
    return typeof event === 'object' ? event?.key : null;
  });
  expect(new Set(keys).size).toBe(2);
});

test('a label cannot pass for the time of an event', () => {
  const event = readEvent(line(docker('die', { trap: '"timeNano":7' })));
  expect(event).toMatchObject({ key: expect.stringMatching(/^1767225600123456789 /) });
});

test.each([
  ['health_status: healthy', {}, {}, { action: 'health_status', health: 'healthy' }],
  ['health_status: unhealthy', {}, {}, { action: 'health_status', health: 'unhealthy' }],
  ['health_status', { health_status: 'starting' }, {}, { action: 'health_status', health: 'starting' }],
  ['health_status', {}, { HealthStatus: 'healthy' }, { action: 'health_status', health: 'healthy' }],
  ['health_status', {}, {}, { action: 'health_status', health: null }],
  ['died', { containerExitCode: '3' }, {}, { action: 'die', health: null }],
  ['remove', {}, {}, { action: 'destroy', health: null }],
])('"%s" with %j is understood, whoever says it', (action, attributes, beside, event) => {
  expect(readEvent(line({ ...docker(action, attributes), ...beside }))).toMatchObject({ ...event, id: ID });
});

test('of images it is told when a name may have come to stand for another one', () => {
  const tag = { Type: 'image', Action: 'tag', Actor: { ID, Attributes: { name: 'web:dev' } } };
  expect(readEvent(line(tag))).toMatchObject({ of: 'image', action: 'tag', attributes: { name: 'web:dev' } });
  expect(readEvent(line({ ...tag, Action: 'loadfromarchive' }))).toMatchObject({ of: 'image', action: 'load' });
  expect(readEvent(line({ ...tag, Action: 'delete' }))).toBeNull();
  expect(readEvent(line(docker('tag')))).toBeNull();
});

test.each([
  ['of another kind', { Type: 'network', Action: 'connect', Actor: { ID } }],
  ['that nobody asked for', docker('exec_start: true')],
  ['without an id', { Action: 'die' }],
])('an event %s is left out', (_what, fields) => {
  expect(readEvent(line(fields))).toBeNull();
});

/** Collects until the stream ends. */
async function told(
  parts: readonly (string | Buffer)[],
): Promise<{ readonly events: EngineEvent[]; readonly why: string }> {
  await using fake = await fakeEngine((socket) => {
    const left = [...parts];
    const next = () => {
      const part = left.shift();
      if (part === undefined) socket.end();
      else socket.write(part, next);
    };
    socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n', next);
  });
  const events: EngineEvent[] = [];
  let isOpen = false;
  const opened = () => {
    isOpen = true;
  };
  const client = clientOf({ env: { DOCKER_HOST: `unix://${fake.socketPath}` } });
  const { why } = await client.events({ since: 5, opened, onEvent: (event) => void events.push(event) }, never);
  expect(isOpen).toBe(true);
  return { events, why };
}

test('events that arrive byte by byte, also within a letter, are told whole', async () => {
  const bytes = Buffer.from(line(docker('start', { motto: 'für immer ✓' })) + line(docker('die')));
  const { events, why } = await told([...bytes].map((byte) => Buffer.from([byte])));
  expect(events.map(({ action }) => action)).toEqual(['start', 'die']);
  expect(events[0]?.attributes['motto']).toBe('für immer ✓');
  expect(why).toBe('the Docker Engine ended the stream of its events');
});

test('half an event at the end is no event', async () => {
  const { events } = await told([line(docker('start')), line(docker('die')).slice(0, 40)]);
  expect(events.map(({ action }) => action)).toEqual(['start']);
});

test.each([
  ['something else than events', '<html>\n'],
  ['a line without end', 'x'.repeat(3 * 2 ** 20)],
])('%s ends the stream with a reason', async (_what, text) => {
  const { events, why } = await told([line(docker('start')), text, line(docker('die'))]);
  expect(events).toHaveLength(1);
  expect(why).toMatch(/gave no usable answer: .*(not an event|longer than)/);
});

test('an Engine that refuses to tell its events is told apart from one that is not there', async () => {
  await using fake = await fakeEngine((socket) => socket.end(answer('403 Forbidden', '{"message":"not for you"}')));
  const client = clientOf({ env: { DOCKER_HOST: `unix://${fake.socketPath}` } });
  const silent = { since: null, opened: () => expect.unreachable(), onEvent: () => {} };
  expect(await client.events(silent, never)).toEqual({
    kind: 'unreachable',
    why: 'the Docker Engine answered with status 403: not for you',
  });
});

test('a real Engine tells no more than was asked for, and again what was told since a time', async ({ skip }) => {
  const engine = need(skip);
  const client = clientOf(engine);
  const name = engine.newName();
  const over = new AbortController();
  const events: EngineEvent[] = [];
  const own = ({ attributes }: EngineEvent) => attributes['name'] === name;
  const opened = { promise: Promise.resolve(), resolve: () => {} };
  opened.promise = new Promise((resolve) => {
    opened.resolve = resolve;
  });
  const stream = client
    .events({ since: null, opened: opened.resolve, onEvent: (event) => void events.push(event) }, over.signal)
    .catch(() => {});
  await opened.promise;
  const id = await engine.create(name, { command: ['sh', '-c', 'exit 5'] });
  await client.start(id, never);
  await client.exec(id, ['true'], never);
  await waitFor('its death', () => events.some((event) => own(event) && event.action === 'die'));
  const mine = events.filter(own);
  expect(mine.map(({ action }) => action)).toEqual(['create', 'start', 'die']);
  expect(mine[2]).toMatchObject({ id, attributes: { exitCode: '5' } });
  const again: EngineEvent[] = [];
  const since = (mine[0]?.time ?? 0) - 1;
  const replay = client
    .events({ since, opened: () => {}, onEvent: (event) => void again.push(event) }, over.signal)
    .catch(() => {});
  await waitFor('the same once more', () => again.filter(own).length === mine.length);
  expect(again.filter(own).map(({ key }) => key)).toEqual(mine.map(({ key }) => key));
  over.abort();
  await Promise.all([stream, replay]);
});
