/** What is over is deleted when it is old, what is open never, and a clock that jumps makes nothing old. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { noFailpoints } from '../../../src/base/failpoints.ts';
import { silentLog } from '../../../src/base/log.ts';
import { componentName, type RunId } from '../../../src/base/pure/ids.ts';
import { loadSqlite } from '../../../src/base/sqlite.ts';
import { SLACK_MS } from '../../../src/history/rules/progress.ts';
import { OLD_ROWS_PER_PASS } from '../../../src/history/sqlite/connection.ts';
import { openSqliteStore } from '../../../src/history/sqlite/sqlite-store.ts';
import type { Ticket } from '../../../src/incidents/tickets/rules/ticket.ts';
import { incidentOf } from '../../support/case-samples.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { begunOf, crashOf, endedOf, eventOf, NOON, runOf, wall } from '../../support/history-samples.ts';
import { sessionRecord } from '../../support/session-record.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { ticketSample } from '../../support/ticket-samples.ts';
import { column } from './inspect.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

const ticketOf = (over: Partial<Ticket>): Ticket => ({ ...ticketSample(), trackers: {}, ...over });

async function open(path: string, clock = new FakeClock(1_000_000, NOON)) {
  const store = await openSqliteStore({
    path,
    clock,
    log: silentLog,
    failpoints: noFailpoints,
    retentionMs: () => WEEK,
  });
  /** Time passes, and the store does what it does once a minute, once an hour here. */
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= HOUR) {
      await clock.advance(Math.min(HOUR, left));
      vi.advanceTimersByTime(60_000);
    }
  };
  return { clock, store, pass, [Symbol.dispose]: () => store.close() };
}

const history = (n: number) => ({
  crash: crashOf('api', n, { incident: n }),
  runBegun: begunOf('api', n, { ingredients: { command: `v${n}` } }),
  runEnded: endedOf('api', n),
  events: [eventOf('api', `e${n}`, { at: wall(n * 1_000) })],
});
const resolved = (id: number) => incidentOf(id, { state: 'resolved', resolvedAt: wall(id * 1_000), waiting: [] });

describe('the retention', () => {
  test('takes crashes, runs, events, resolved incidents, closed tickets and ended sessions that are old', async () => {
    using dir = tempDir();
    using world = await open(dir.at('keepwell.db'));
    const { store, pass } = world;
    vi.advanceTimersByTime(60_000);
    store.commit({
      ...history(1),
      incidents: [resolved(1)],
      tickets: [ticketOf({ number: 1, incident: 1, state: 'closed', closedAt: wall(1_000) })],
    });
    const end = { reason: 'stopped', why: '', at: wall(1_000) } as const;
    store.commit({ session: sessionRecord({ id: 's1', state: 'ended', end }) });
    store.commit({ session: sessionRecord({ id: 's2' }) });
    await pass(WEEK - 2 * HOUR);
    expect([store.crashes({}), store.incident(1), store.ticket(1), store.session('s1')]).not.toContain(null);
    expect(store.crashes({})).toHaveLength(1);
    await pass(SLACK_MS + 5 * HOUR);
    expect(store.crashes({})).toEqual([]);
    expect([store.incident(1), store.ticket(1), store.session('s1'), store.run(runOf('api', 1))]).toEqual([
      null,
      null,
      null,
      null,
    ]);
    expect(store.events({ afterSeq: 0, limit: 10 })).toEqual([]);
    expect(store.session('s2')).not.toBeNull();
    expect([store.lastNumber('incident'), store.lastNumber('ticket')]).toEqual([1, 1]);
    expect(store.commit({ crash: crashOf('api', 2) })).toEqual([]);
    expect(store.crashes({})).toMatchObject([{ id: 2 }]);
  });

  test('leaves what is open, its crashes and their runs', async () => {
    using dir = tempDir();
    using world = await open(dir.at('keepwell.db'));
    const { store, pass } = world;
    vi.advanceTimersByTime(60_000);
    store.commit({ ...history(1), incidents: [incidentOf(1)] });
    store.commit({ ...history(2), incidents: [resolved(2)], tickets: [ticketOf({ number: 1, incident: 2 })] });
    store.commit({ ...history(3), incidents: [resolved(3)] });
    store.commit({ tickets: [ticketOf({ number: 2, incident: 1, state: 'closed', closedAt: wall(0) })] });
    await pass(30 * DAY);
    expect(store.crashes({}).map(({ id }) => id)).toEqual([2, 1]);
    expect(store.incidents({ limit: 10 }).map(({ id }) => id)).toEqual([2, 1]);
    expect(store.tickets({ limit: 10 }).map(({ number }) => number)).toEqual([2, 1]);
    expect(store.runs({ limit: 10 }).map(({ run }) => run)).toEqual([runOf('api', 2), runOf('api', 1)]);
  });

  test('leaves a ticket that a tracker has not heard of yet, the last good run, and a run that goes on', async () => {
    using dir = tempDir();
    using world = await open(dir.at('keepwell.db'));
    const { store, pass } = world;
    vi.advanceTimersByTime(60_000);
    store.commit({ tickets: [{ ...ticketSample(), number: 1, incident: 9, state: 'closed', closedAt: wall(0) }] });
    for (const n of [1, 2])
      store.commit({
        runBegun: begunOf('api', n, { ingredients: { command: `v${n}` } }),
        runEnded: endedOf('api', n, { good: true }),
      });
    store.commit({ runBegun: begunOf('web', 3) });
    await pass(30 * DAY);
    expect(store.ticket(1)).not.toBeNull();
    expect(store.runs({ limit: 10 }).map(({ run }) => run)).toEqual([runOf('web', 3), runOf('api', 2)]);
    expect(store.lastGoodIngredients(componentName('api'))).toEqual({ command: 'v2' });
  });

  test('a ticket that cannot be read holds nothing up', async () => {
    using dir = tempDir();
    using world = await open(dir.at('keepwell.db'));
    const { store, pass } = world;
    vi.advanceTimersByTime(60_000);
    const closed = { state: 'closed', closedAt: wall(0), incident: 9 } as const;
    store.commit({ tickets: [1, 2].map((number) => ({ ...ticketSample(), ...closed, number })) });
    const db = (await loadSqlite()).open(dir.at('keepwell.db'), 'read-write');
    db.exec("UPDATE tickets SET record_json = '{' WHERE number = 1");
    db.close();
    await pass(30 * DAY);
    expect(await column(dir.at('keepwell.db'), 'SELECT number FROM tickets')).toEqual([2]);
  });

  test.each([365 * DAY, -365 * DAY])('deletes nothing young when the clock jumps by %d ms and back', async (jump) => {
    using dir = tempDir();
    using world = await open(dir.at('keepwell.db'));
    const { store, pass, clock } = world;
    vi.advanceTimersByTime(60_000);
    await pass(20 * DAY);
    const commitNow = (n: number) =>
      store.commit({
        ...history(n),
        crash: crashOf('api', n, { at: clock.wallNow() }),
        runEnded: endedOf('api', n, { at: clock.wallNow() }),
        events: [eventOf('api', `e${n}`, { at: clock.wallNow() })],
      });
    commitNow(1);
    clock.jumpWall(jump);
    vi.advanceTimersByTime(60_000);
    commitNow(2);
    await pass(2 * DAY);
    clock.jumpWall(-jump);
    vi.advanceTimersByTime(60_000);
    commitNow(3);
    await pass(2 * DAY);
    expect(store.crashes({}).map(({ id }) => id)).toEqual([3, 2, 1]);
    expect(store.events({ afterSeq: 0, limit: 10 })).toHaveLength(3);
  });

  test('what was counted so far is not forgotten by a restart', async () => {
    using dir = tempDir();
    const path = dir.at('keepwell.db');
    const first = await open(path);
    vi.advanceTimersByTime(60_000);
    first.store.commit({ crash: crashOf('api', 1) });
    await first.pass(WEEK - 3 * HOUR);
    first.store.close();
    using second = await open(path, first.clock);
    await second.clock.advance(6 * HOUR);
    vi.advanceTimersByTime(60_000);
    expect(second.store.crashes({})).toEqual([]);
  });

  test('much is deleted in parts', async () => {
    using dir = tempDir();
    using world = await open(dir.at('keepwell.db'));
    const { store, pass, clock } = world;
    vi.advanceTimersByTime(60_000);
    const events = Array.from({ length: OLD_ROWS_PER_PASS * 3 + 5 }, (_, n) => eventOf('api', `e${n}`));
    store.commit({ events });
    await pass(WEEK);
    await clock.advance(3 * HOUR);
    const left = () => store.events({ afterSeq: 0, limit: 100_000 }).length;
    vi.advanceTimersByTime(60_000);
    expect(left()).toBe(OLD_ROWS_PER_PASS * 2 + 5);
    vi.advanceTimersByTime(1_000);
    expect(left()).toBe(OLD_ROWS_PER_PASS + 5);
    vi.advanceTimersByTime(3_000);
    expect(left()).toBe(0);
  });
});

test('a run whose end was recorded only is deleted as well', async () => {
  using dir = tempDir();
  using world = await open(dir.at('keepwell.db'));
  vi.advanceTimersByTime(60_000);
  world.store.commit({ runEnded: endedOf('api', 1) });
  await world.pass(10 * DAY);
  expect(world.store.run(runOf('api', 1) as RunId)).toBeNull();
});
