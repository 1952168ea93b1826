/** When people are told: given up, frozen again, too many crashes; and when it is over. */
import { describe, expect, test } from 'vitest';
import type { NewCrash } from '../../../src/supervision/ports/store.ts';
import { crashOf } from '../../support/history-samples.ts';
import { monitoredIncidents } from '../../support/monitored-incidents.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const withDatabase = (names: readonly string[]) => ({
  db: [],
  ...Object.fromEntries(names.map((name) => [name, ['db']])),
});
const component = (name: string) => ({ kind: 'component', name }) as const;

describe('recovery', () => {
  test.each([
    ['it was well for 10 s', { upMs: 10_000 }, 'resolved'],
    ['it was well for less', { upMs: 9_999 }, 'open'],
    ['its min_uptime is longer', { upMs: 59_999, minUptimeMs: MINUTE }, 'open'],
    ['its min_uptime is over', { upMs: MINUTE, minUptimeMs: MINUTE }, 'resolved'],
    ['it is not well', { isWell: false, upMs: HOUR }, 'open'],
    ['it has done what it was there for', { state: 'completed', isWell: false, upMs: 0 }, 'resolved'],
    ['it is given up', { state: 'gave-up', isWell: false, upMs: 0 }, 'open'],
  ] as const)('%s', (_, standing, state) => {
    const { crash, stands, looked, store } = monitoredIncidents();
    crash(crashOf('api', 1, { fingerprint: 'v1:a' }));
    stands('api', standing);
    looked();
    expect(store.incident(1)?.state).toBe(state);
  });

  test('what is gone from the configuration is over, and the others of its incident are waited for', () => {
    const { crash, stands, isGone, looked, store } = monitoredIncidents();
    for (const name of ['api', 'web']) {
      crash(crashOf(name, 1, { fingerprint: 'v1:a' }));
      stands(name, { isWell: false });
    }
    isGone('api');
    looked();
    expect(store.incident(1)).toMatchObject({ state: 'open', waiting: ['component web'] });
    stands('web');
    looked();
    expect(store.incident(1)?.state).toBe('resolved');
  });
});

describe('given up', () => {
  const gone = { state: 'gave-up', isWell: false, upMs: 0 } as const;

  test('is told once, however often it is looked at, with its cause; and so is the recovery', async () => {
    const { crash, stands, told, looked, clock } = monitoredIncidents();
    crash(crashOf('db', 1, { fingerprint: 'v1:db', rootCause: 'no space left' }));
    stands('db', gone);
    expect(await told()).toEqual(['[shop] db is down and no longer restarted (no space left)']);
    for (let again = 0; again < 5; again += 1) looked();
    await clock.advance(HOUR);
    expect(await told()).toEqual([]);
    stands('db');
    expect(await told()).toEqual(['[shop] Recovered: db (was: db is down and no longer restarted (no space left))']);
  });

  test.each<[string, (world: ReturnType<typeof monitoredIncidents>) => void]>([
    ['is well again', ({ stands }) => stands('db')],
    ['is gone from the configuration', ({ isGone }) => isGone('db')],
  ])('without an incident it is over as well when it %s', async (_, ends) => {
    const world = monitoredIncidents();
    world.stands('db', gone);
    expect(await world.told()).toEqual(['[shop] db is down and no longer restarted']);
    expect(await world.told()).toEqual([]);
    ends(world);
    expect(await world.told()).toEqual(['[shop] Recovered: db (was: db is down and no longer restarted)']);
  });

  test('a database that took five along is one alert that names it and them', async () => {
    const names = ['api', 'web', 'mail', 'cron', 'worker'];
    const { crash, stands, messages } = monitoredIncidents(withDatabase(names));
    crash(crashOf('db', 1, { fingerprint: 'v1:db', rootCause: 'no space left' }));
    stands('db', gone);
    for (const [n, name] of names.entries()) {
      crash(crashOf(name, n + 2, { fingerprint: `v1:${name}` }));
      stands(name, gone);
    }
    const [first, ...more] = await messages();
    expect(more).toEqual([]);
    expect(first?.alerts).toMatchObject([{ kind: 'gave-up', key: 'incident 1', subject: { name: 'db' }, incident: 1 }]);
    expect(first?.text).toBe(
      `[shop] db is down and no longer restarted (no space left); affected: ${names.join(', ')}`,
    );
  });

  test('more than five that were taken along are counted', async () => {
    const names = Array.from({ length: 7 }, (_, n) => `c${n + 1}`);
    const { crash, stands, told } = monitoredIncidents(withDatabase(names));
    crash(crashOf('db', 1, { fingerprint: 'v1:db', rootCause: 'no space left' }));
    for (const [n, name] of names.entries()) crash(crashOf(name, n + 2, { fingerprint: `v1:${name}` }));
    stands('db', gone);
    expect((await told()).join()).toContain('affected: c1, c2, c3, c4, c5 and 2 more');
  });

  test('a dependent that is given up makes its cause known when people do not know it yet', async () => {
    const { crash, stands, told } = monitoredIncidents({ db: [], web: ['db'] });
    crash(crashOf('db', 1, { fingerprint: 'v1:db', rootCause: 'no space left' }));
    crash(crashOf('web', 2, { fingerprint: 'v1:web' }));
    stands('db', { isWell: false });
    stands('web', gone);
    expect(await told()).toEqual(['[shop] db is down, and others with it (no space left); affected: web']);
    stands('db', gone); // known already
    expect(await told()).toEqual([]);
  });

  test('a dependent that stays down when its cause is over is told by itself, until it is well', async () => {
    const { crash, stands, told } = monitoredIncidents({ db: [], web: ['db'] });
    crash(crashOf('db', 1, { fingerprint: 'v1:db' }));
    crash(crashOf('web', 2, { fingerprint: 'v1:web' }));
    stands('db');
    stands('web', gone);
    const text = 'web is down and no longer restarted; it went down with db (db: exit code 1)';
    expect(await told()).toEqual([`[shop] ${text}`]);
    stands('web', { upMs: 5_000 });
    expect(await told()).toEqual([]);
    stands('web');
    expect(await told()).toEqual([`[shop] Recovered: db, web (was: ${text})`]);
  });
});

describe('too many crashes', () => {
  const crashes = (count: number, of: (n: number) => Partial<NewCrash> & { name: string }) =>
    Array.from({ length: count }, (_, index) => {
      const { name, ...over } = of(index + 1);
      return crashOf(name, index + 1, over);
    });
  const ofOne = (n: number) => ({ name: 'api', fingerprint: 'v1:a', errorType: `KeyError`, decision: `restart ${n}` });

  test('ten within an hour are not, eleven are, and the incident is named that has most of them', async () => {
    const { crash, told, stands } = monitoredIncidents();
    const all = crashes(11, ofOne);
    stands('api', { isWell: false });
    for (const each of all.slice(0, 10)) crash(each);
    expect(await told()).toEqual([]);
    crash(all[10]!);
    expect(await told()).toEqual(['[shop] 11 crashes within an hour: api: KeyError (11) (BUG-001)']);
    stands('api');
    expect((await told()).join()).toMatch(/^\[shop\] Recovered: api \(was: 1\d crashes within an hour/);
  });

  test('those of more than an hour ago do not count', async () => {
    const { crash, told, clock } = monitoredIncidents();
    const all = crashes(20, ofOne);
    for (const each of all.slice(0, 10)) crash(each);
    await clock.advance(HOUR);
    for (const each of all.slice(10)) crash(each);
    expect(await told()).toEqual([]);
  });

  test('of many incidents they are one alert about all, which is over when the hour is', async () => {
    const { crash, told, clock, messages } = monitoredIncidents();
    for (const each of crashes(12, (n) => ({ name: `c${n}`, fingerprint: `v1:${n}`, errorType: 'KeyError' })))
      crash(each);
    const [first] = await messages();
    expect(first?.text).toBe(
      '[shop] 12 crashes within an hour: c1: KeyError (1); c2: KeyError (1); c3: KeyError (1) and 9 more',
    );
    expect(first?.alerts).toMatchObject([{ kind: 'crash-rate', key: 'crash-rate', subject: { kind: 'daemon' } }]);
    expect(await told()).toEqual([]);
    await clock.advance(HOUR);
    expect((await told()).join()).toMatch(
      /^\[shop\] Recovered: there are fewer crashes again \(was: 12 crashes within an hour/,
    );
  });

  test('crashes that people were told of as given up do not count', async () => {
    const { crash, told, stands } = monitoredIncidents();
    const all = crashes(30, ofOne);
    crash(all[0]!);
    stands('api', { state: 'gave-up', isWell: false });
    expect(await told()).toHaveLength(1);
    for (const each of all.slice(1)) crash(each);
    expect(await told()).toEqual([]);
  });

  test('a daemon that comes back knows those of the one before', async () => {
    const first = monitoredIncidents();
    const now = first.clock.wallNow();
    const all = crashes(11, (n) => ({ ...ofOne(n), at: now }));
    for (const each of all.slice(0, 10)) first.crash(each);
    await first.clock.advance(30 * MINUTE);
    const second = monitoredIncidents({}, first.clock, first.store);
    second.crash(all[10]!);
    expect((await second.told()).join()).toContain('11 crashes within an hour');
    const third = monitoredIncidents({}, first.clock, first.store);
    await third.clock.advance(31 * MINUTE);
    expect(await third.told()).toEqual([]);
  });
});

describe('a freeze', () => {
  const frozen = (n: number, over: Partial<NewCrash> = {}): NewCrash =>
    crashOf('loop', n, {
      fingerprint: 'v1:frozen',
      rootCause: 'frozen: no heartbeat for 5 min',
      freeze: { reason: 'frozen: no heartbeat for 5 min', silent_since: '', steps: [], evidence: [] },
      ...over,
    });
  const AGAIN = '[shop] loop froze again after it was restarted (frozen: no heartbeat for 5 min)';
  /** Restarted, and not heard since. */
  const unheard = { isWell: false, upMs: 0 };

  test('is not told the first time; the second time it is, once, however long it takes to notice', async () => {
    const { crash, stands, told, clock } = monitoredIncidents();
    crash(frozen(1));
    stands('loop', unheard);
    expect(await told()).toEqual([]);
    await clock.advance(90 * MINUTE);
    crash(frozen(2));
    expect(await told()).toEqual([AGAIN]);
    crash(frozen(3));
    expect((await told()).filter((text) => !text.includes('Still'))).toEqual([]);
    stands('loop');
    expect((await told()).join()).toMatch(/^\[shop\] Recovered: loop \(was: loop froze again/);
  });

  test('that helped for a while is not told: it had been well', async () => {
    const { crash, stands, told } = monitoredIncidents();
    crash(frozen(1));
    stands('loop');
    expect(await told()).toEqual([]);
    stands('loop', unheard);
    crash(frozen(2));
    expect(await told()).toEqual([]);
  });

  test('is told also when the same happened and was over some time ago', async () => {
    const { crash, stands, told, store } = monitoredIncidents();
    crash(frozen(1));
    stands('loop');
    await told();
    stands('loop', unheard);
    crash(frozen(2));
    expect(await told()).toEqual([]);
    crash(frozen(3));
    expect(store.incident(1)).toMatchObject({ reopened: 1, count: 3 });
    expect((await told()).join()).toContain('loop froze again after it was restarted');
  });

  test('that shows itself differently each time is told once', async () => {
    const { crash, stands, told, store } = monitoredIncidents();
    stands('loop', unheard);
    for (const n of [1, 2, 3, 4]) crash(frozen(n, { fingerprint: `v1:${n}` }));
    expect(store.incidents({ state: 'open', limit: 10 })).toHaveLength(4);
    expect(await told()).toEqual([AGAIN]);
    stands('loop');
    expect((await told()).join()).toMatch(/^\[shop\] Recovered: /);
  });

  test('after an end of another kind is the first one', async () => {
    const { crash, stands, told } = monitoredIncidents();
    stands('loop', unheard);
    crash(crashOf('loop', 1, { fingerprint: 'v1:frozen' }));
    crash(frozen(2));
    expect(await told()).toEqual([]);
  });

  test('of another one with the same cause is not its own', async () => {
    const { crash, told } = monitoredIncidents();
    crash(frozen(1));
    crash(frozen(2, { subject: component('other') }));
    expect(await told()).toEqual([]);
  });

  test('of a dependent that was taken along is not told', async () => {
    const { crash, stands, told } = monitoredIncidents({ db: [], loop: ['db'] });
    for (const n of [1, 2]) crash(crashOf('db', n, { fingerprint: 'v1:db' }));
    for (const n of [3, 4, 5]) crash(frozen(n));
    stands('db', unheard);
    stands('loop', unheard);
    expect(await told()).toEqual([]);
  });

  test('that the watch over the loop has told of is not told a second time', async () => {
    const { crash, stands, told, alerts } = monitoredIncidents();
    stands('loop', unheard);
    crash(frozen(1));
    const own = {
      kind: 'freeze',
      key: 'freeze:loop',
      subject: component('loop'),
      text: 'loop is frozen, and …',
    } as const;
    alerts.raise({ ...own, incident: null, ticket: null });
    crash(frozen(2));
    expect(await told()).toEqual(['[shop] loop is frozen, and …']);
    crash(frozen(3));
    expect(await told()).toEqual([]);
  });

  test('is known to the next daemon', async () => {
    const first = monitoredIncidents();
    first.crash(frozen(1));
    const second = monitoredIncidents({}, first.clock, first.store);
    second.stands('loop', unheard);
    second.crash(frozen(2));
    expect(await second.told()).toEqual([AGAIN]);
  });
});

describe('what people said about an incident', () => {
  const gone = { state: 'gave-up', isWell: false, upMs: 0 } as const;
  const told = '[shop] db is down and no longer restarted (no space left)';

  function givenUp() {
    const world = monitoredIncidents();
    world.crash(crashOf('db', 1, { fingerprint: 'v1:db', rootCause: 'no space left' }));
    world.stands('db', gone);
    return world;
  }

  test('acknowledged, there are no reminders; that it is over is told', async () => {
    const world = givenUp();
    expect(await world.told()).toEqual([told]);
    world.incidents.acknowledge(1);
    await world.clock.advance(72 * HOUR);
    expect(await world.told()).toEqual([]);
    world.stands('db');
    expect(await world.told()).toEqual([expect.stringContaining('Recovered: db')]);
    expect(world.events).toContain('incident.acknowledged');
  });

  test('acknowledged, who joins it is told', async () => {
    const world = givenUp();
    await world.told();
    world.incidents.acknowledge(1);
    world.crash(crashOf('mail', 1, { fingerprint: 'v1:db', rootCause: 'no space left' }));
    world.stands('mail', gone);
    world.looked();
    await world.clock.advance(2 * MINUTE);
    expect(await world.told()).toEqual([expect.stringContaining('Now also mail')]);
  });

  test('silenced before anybody was told, it is told when the silence ends', async () => {
    const world = givenUp();
    world.incidents.silence(1, HOUR);
    expect(await world.told()).toEqual([]);
    await world.clock.advance(HOUR - MINUTE);
    expect(await world.told()).toEqual([]);
    await world.clock.advance(MINUTE);
    expect(await world.told()).toEqual([told]);
  });

  test('silenced for a while, reminders wait; the end of the silence can come sooner', async () => {
    const world = givenUp();
    await world.told();
    world.incidents.silence(1, 48 * HOUR);
    await world.clock.advance(30 * HOUR);
    expect(await world.told()).toEqual([]);
    world.incidents.silence(1, 0);
    expect(await world.told()).toEqual([`[shop] Still: ${told.slice('[shop] '.length)}`]);
  });

  test('silenced, others are told', async () => {
    const world = givenUp();
    world.incidents.silence(1, HOUR);
    world.crash(crashOf('web', 1, { fingerprint: 'v1:web', rootCause: 'a typo' }));
    world.stands('web', gone);
    expect(await world.told()).toEqual(['[shop] web is down and no longer restarted (a typo)']);
  });

  test('what was silenced and is over before anybody was told was nothing', async () => {
    const world = givenUp();
    world.incidents.silence(1, HOUR);
    await world.told();
    world.stands('db');
    expect(await world.told()).toEqual([]);
    await world.clock.advance(2 * HOUR);
    expect(await world.told()).toEqual([]);
  });

  test('a regression is told, whatever was said before the recovery', async () => {
    const world = givenUp();
    world.incidents.acknowledge(1);
    world.incidents.silence(1, 720 * HOUR);
    world.stands('db');
    await world.told();
    world.crash(crashOf('db', 2, { fingerprint: 'v1:db', rootCause: 'no space left' }));
    world.stands('db', gone);
    expect(await world.told()).toEqual([told]);
    expect(world.store.incident(1)).not.toHaveProperty('acknowledgedAt');
    expect(world.store.incident(1)).not.toHaveProperty('silencedUntil');
  });

  test('what is resolved, or was never there, cannot be dealt with', () => {
    const world = givenUp();
    world.stands('db');
    world.looked();
    for (const act of [
      (id: number) => world.incidents.acknowledge(id),
      (id: number) => world.incidents.silence(id, 1),
    ]) {
      expect(() => act(1)).toThrow('Incident 1 is resolved already.');
      expect(() => act(9)).toThrow('There is no incident 9.');
    }
  });
});
