import { once } from 'node:events';
import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { noFailpoints } from '../../../src/base/failpoints.ts';
import { silentLog } from '../../../src/base/log.ts';
import type { AppError } from '../../../src/base/pure/errors.ts';
import { after, type WallMs } from '../../../src/base/pure/ids.ts';
import type { ContainerWatch } from '../../../src/docker/container-watch.ts';
import type { Healer } from '../../../src/docker/healing/ports.ts';
import type { EngineClient } from '../../../src/docker/ports.ts';
import { createMemoryBook } from '../../../src/sessions/memory-book.ts';
import { newLease } from '../../../src/sessions/rules/lease.ts';
import { createSessions, type SessionsOptions } from '../../../src/sessions/service.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { sessionRecord, template } from '../../support/session-record.ts';
import { waitFor } from '../../support/wait-for.ts';

/** An Engine that lists nothing, answers all who ask in the same turn, and can make no container. */
const engine = {
  list: async () => ({ kind: 'listed', items: [] }),
  networks: async () => ({ kind: 'listed', items: [] }),
  inspect: async () => ({ kind: 'found' }),
  remove: async () => ({ kind: 'done' }),
  create: async () => ({ kind: 'refused', why: 'no luck' }),
} as unknown as EngineClient;

const nothing = { [Symbol.dispose]: () => {} };

function open(
  max: number,
  { clock = systemClock, book = createMemoryBook(), ...given }: Partial<SessionsOptions> = {},
) {
  let count = 0;
  return createSessions({
    engine: given.engine ?? engine,
    watch: { blindness: null, watch: () => nothing } as unknown as ContainerWatch,
    healer: { begin: () => nothing } as unknown as Healer,
    clock,
    book,
    owner: 'test',
    log: silentLog,
    failpoints: noFailpoints,
    spec: { templates: [template({ network: 'none', port: null })], max },
    newId: () => String(count++).padStart(32, '0'),
    environmentOf: () => ({}),
  });
}

const codes = async (spawns: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(spawns)).map((each) => (each.status === 'rejected' ? (each.reason as AppError).code : ''));

test('users who are told at the same moment how many sessions there are do not get more than there may be', async () => {
  const sessions = open(1);
  await sessions.settled;
  const spawns = ['ann', 'bob', 'eve'].map((user) => sessions.spawn({ user, template: 'web' }));
  expect((await codes(spawns)).toSorted()).toEqual(['SESSIONS_FULL', 'SESSIONS_FULL', 'SESSION_SPAWN_FAILED']);
  await sessions.close();
});

test('what is no user id is refused: also half a character, which the Engine would change, and what is no text', async () => {
  const sessions = open(10);
  const users = [
    '',
    'a\nb',
    '\u007f',
    '\u0085',
    'x'.repeat(129),
    'a\ud800',
    '\udc00a',
    42,
    null,
    undefined,
  ] as string[];
  expect(new Set(await codes(users.map((user) => sessions.spawn({ user, template: 'web' }))))).toEqual(
    new Set(['SESSION_INVALID']),
  );
  const text = '60000' as unknown as number;
  expect(await codes([sessions.spawn({ user: 'ann', template: 'web', ttlMs: text })])).toEqual(['SESSION_INVALID']);
  const nameless = sessions.spawn({ user: 'ann' } as Parameters<typeof sessions.spawn>[0]);
  expect(await codes([nameless, sessions.spawn({ user: '😀 "x"=, ü', template: 'web' })])).toEqual([
    'NO_SUCH_TEMPLATE',
    'SESSION_SPAWN_FAILED',
  ]);
  await sessions.close();
});

test('a lease of an earlier boot ends when it is over, also by a wall clock that was wrong at first', async () => {
  const record = sessionRecord();
  const book = createMemoryBook([record]);
  let wallNow = (record.lease.expiresAt - 86_400_000) as WallMs;
  const clock: Clock = {
    wallNow: () => wallNow,
    now: systemClock.now,
    bootId: systemClock.bootId,
    sleepUntil: systemClock.sleepUntil,
  };
  const sessions = open(1, { clock, book });
  await sessions.settled;
  expect(sessions.get(record.id).state).toBe('live');
  wallNow = record.lease.expiresAt;
  sessions.use({ templates: [template()], max: 1 }); // as every sweep does
  await waitFor('its end', () => sessions.get(record.id).state === 'ended');
  expect(sessions.get(record.id).end?.reason).toBe('expired');
  await sessions.close();
});

const live = (count: number, clock: Clock) =>
  Array.from({ length: count }, (_, index) => {
    const record = sessionRecord({ id: String(index).padStart(32, 'f'), state: 'live', containerId: `c${index}` });
    return {
      ...record,
      lease: newLease(86_400_000, { bootId: clock.bootId, now: clock.now(), wallNow: clock.wallNow() }),
    };
  });

test('whoever ends all sessions has ended them when it is told so, however long a busy Engine takes for them together', async () => {
  const clock = new FakeClock();
  const book = createMemoryBook(live(5, clock));
  let last: Promise<void> = Promise.resolve();
  const slowly = (_: string, signal: AbortSignal) => {
    last = last.then(() => clock.sleepUntil(after(clock.now(), 20_000), signal));
    return last.then(
      () => ({ kind: 'done' }),
      () => ({ kind: 'unreachable', why: 'given up' }),
    );
  };
  const sessions = open(10, { clock, book, engine: { ...engine, remove: slowly } as EngineClient });
  await sessions.settled;
  const closed = sessions.close({ stopAll: true });
  await clock.advance(200_000);
  expect(await closed).toEqual([]);
  expect(book.open()).toEqual([]);
});

test('sessions that an Engine does not remove although it was asked are named by whoever ends all of them', async () => {
  const clock = new FakeClock();
  const book = createMemoryBook(live(3, clock));
  const remove = async (id: string, signal: AbortSignal) => {
    if (id !== 'c1') return { kind: 'done' };
    if (!signal.aborted) await once(signal, 'abort');
    return { kind: 'unreachable', why: 'it did not answer' };
  };
  const sessions = open(10, { clock, book, engine: { ...engine, remove } as EngineClient });
  await sessions.settled;
  const closed = sessions.close({ stopAll: true });
  await clock.advance(200_000);
  expect(await closed).toMatchObject([{ containerId: 'c1', state: 'ending' }]);
  expect(book.open()).toHaveLength(1);
});
