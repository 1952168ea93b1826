/** What hosts that share their memory do together, against a real PostgreSQL. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase, prepareTables } from '../../../src/fleet/store/database.ts';
import { type PrivatePostgres, startPostgres } from '../../support/postgres.ts';
import { missing } from '../../support/real-servers.ts';
import { waitFor } from '../../support/wait-for.ts';
import { addressOf, type HostOptions, openHost, people } from './fleet-world.ts';

const KIND = 'v2:kind';

describe.skipIf(missing('PostgreSQL') !== null)('hosts that share their memory', { timeout: 300_000 }, () => {
  let postgres: PrivatePostgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 120_000);
  afterAll(async () => {
    await postgres?.[Symbol.asyncDispose]();
  });

  let databases = 0;
  /** One of its own for each test. */
  async function database() {
    databases += 1;
    const name = `fleet_${databases}`;
    await postgres.sql(`create database ${name}`);
    return {
      url: postgres.url.replace(/postgres$/, name),
      sql: (text: string) => postgres.sql(text, name),
      number: async (text: string) => Number((await postgres.sql(text, name))[0]),
    };
  }

  async function world(names: readonly string[], over: Partial<HostOptions> = {}) {
    const shared = await database();
    const there = await people();
    const hosts = await Promise.all(
      names.map((name) => openHost({ name, url: shared.url, people: there.url, ...over })),
    );
    await waitFor('the database to know all of them', () => hosts.every((host) => host.fleet().health() === 'ok'));
    return {
      ...{ shared, there, hosts },
      async [Symbol.asyncDispose]() {
        await Promise.all(hosts.map((host) => host[Symbol.asyncDispose]()));
        await there[Symbol.asyncDispose]();
      },
    };
  }

  test('fifty that start at once make the tables once', async () => {
    const { url, number } = await database();
    const address = addressOf(url);
    const prepare = async (n: number) => {
      const one = await openDatabase({ address, timeoutMs: 60_000, name: `host-${n}` });
      await prepareTables(one).finally(() => one.close());
    };
    await Promise.all(Array.from({ length: 50 }, (_, n) => prepare(n)));
    expect(await number('select count(*) from keepwell.meta')).toBe(1);
    expect(await number('select version from keepwell.meta')).toBe(1);
  });

  test('a problem of two hosts is one incident with one ticket and one alert, and over when it is over on both', async () => {
    await using at = await world(['one', 'two']);
    const { shared, there } = at;
    const [one, two] = at.hosts as [(typeof at.hosts)[0], (typeof at.hosts)[0]];
    for (const host of at.hosts) for (let n = 0; n < 4; n++) host.crash(KIND);
    for (const host of at.hosts) host.alarm(KIND);
    await waitFor('the ticket', () => there.actions('create').length > 0);
    await waitFor('the alert', () => there.alerts('raised').length > 0);
    await waitFor(
      'both to be counted',
      async () => (await shared.number('select sum(count) from keepwell.host_incidents')) === 8,
    );
    const isSettled = ({ store }: typeof one) =>
      store
        .tickets({ limit: 10 })
        .every(({ trackers }) => Object.values(trackers).every(({ errands }) => errands.length === 0));
    await waitFor('both to know who tells', () => isSettled(one) && isSettled(two));
    expect(await shared.number('select count(*) from keepwell.incidents')).toBe(1);
    expect(await shared.number('select count(*) from keepwell.tickets')).toBe(1);

    one.well();
    await waitFor(
      'one to be well',
      async () => (await shared.number(`select count(*) from keepwell.host_incidents where state = 'resolved'`)) === 1,
    );
    await waitFor(
      'the next beat',
      async () =>
        (await shared.number(`select count(*) from keepwell.hosts where seen_at > now() - interval '1 second'`)) === 2,
    );
    expect(await shared.sql('select state from keepwell.incidents')).toEqual(['open']);
    expect(there.actions('recovered')).toEqual([]);
    two.well();
    await waitFor('people to know that it is over', () => there.alerts('over').length > 0);
    await waitFor('the tracker to know it, too', () => there.actions('recovered').length > 0);
    expect(await shared.sql('select state from keepwell.incidents')).toEqual(['resolved']);
    expect([there.actions('create').length, there.actions('recovered').length]).toEqual([1, 1]);
    expect([there.alerts('raised').length, there.alerts('over').length]).toEqual([1, 1]);
  });

  test('when the host that alerts is gone, another one alerts, and says that it is silent', async () => {
    await using at = await world(['one', 'two', 'three'], { times: { beatMs: 200, silentMs: 2_000, retryMs: 100 } });
    const { shared, there } = at;
    const holders = () =>
      shared.sql(`select a.application_name from pg_locks l join pg_stat_activity a on a.pid = l.pid
        where l.locktype = 'advisory' and l.granted and a.datname = current_database()
          and ((l.classid::bigint << 32) | l.objid::bigint) = 7311470571403`);
    const [first] = await waitFor('an alerter', async () => {
      const found = await holders();
      return found.length === 1 ? found : null;
    });
    const gone = at.hosts.find(({ name }) => first === `keepwell ${name}`)!;
    await gone.vanish();
    const [next] = await waitFor('another one', async () => {
      const found = await holders();
      return found.length === 1 ? found : null;
    });
    expect(next).not.toBe(first);
    await waitFor('people to know', () => there.alerts('raised').length > 0);
    const [alert] = there.alerts('raised');
    expect(alert).toMatchObject({
      kind: 'host-silent',
      text: expect.stringMatching(`^${gone.name} has been silent since 20`),
    });
    expect(await shared.sql(`select kind, state from keepwell.incidents`)).toEqual(['host-silent|open']);
    gone.join();
    await waitFor('people to know that it is back', () => there.alerts('over').length > 0);
    expect(await shared.sql(`select kind, state from keepwell.incidents`)).toEqual(['host-silent|resolved']);
    expect(there.alerts('raised')).toHaveLength(1);
  });

  test('what is older than the retention goes, on all hosts, and what is open or newer stays', async () => {
    const shared = await database();
    const one = await openDatabase({ address: addressOf(shared.url), timeoutMs: 60_000, name: 'before' });
    await prepareTables(one).finally(() => one.close());
    // Each twice: eight days old, and of an hour ago. The host keeps seven days.
    for (const [name, at] of [
      ['old', "now() - interval '8 days'"],
      ['new', "now() - interval '1 hour'"],
    ] as const) {
      const n = name === 'old' ? 1 : 2;
      await shared.sql(`
        insert into keepwell.hosts (id, name, project, machine, home, version, state, seen_at)
          values ('${name}', '${name}', 'shop', '${name}', '/', '1', 'down', ${at});
        insert into keepwell.events values ('new', ${n}, ${at}, '${name}', 'daemon', 'd', null, '{}');
        insert into keepwell.crashes values ('new', '${name}', 'component', 'api', ${n}, ${at}, null, null, null, '{}');
        insert into keepwell.host_incidents values ('new', ${n}, '${name}', 'resolved', 1, ${at}, '{}');
        insert into keepwell.host_incidents values ('${name}', 1${n}, '${name} open', 'open', 1, ${at}, '{}');
        insert into keepwell.incidents (kind, fingerprint, state, title, opened_at, last_at, resolved_at)
          values ('problem', '${name}', 'resolved', '${name}', ${at}, ${at}, ${at}),
            ('problem', '${name} open', 'open', '${name} open', ${at}, ${at}, null);
        insert into keepwell.tickets (fingerprint, state, host, number, title, links, closed_at)
          values ('${name}', 'closed', 'new', ${n}, '${name}', '[]', ${at}),
            ('${name} open', 'open', 'new', 1${n}, '${name} open', '[]', null)`);
    }
    await using there = await people();
    await using _host = await openHost({
      ...{ name: 'keeper', url: shared.url, people: there.url, times: { beatMs: 100, silentMs: 300 } },
    });
    await waitFor('the old incident to go', async () =>
      (await shared.number(`select count(*) from keepwell.incidents where fingerprint = 'old'`)) === 0 ? true : null,
    );
    expect(await shared.sql("select id from keepwell.hosts where id <> 'keeper'")).toEqual(['new']);
    expect(await shared.sql("select type from keepwell.events where host = 'new'")).toEqual(['new']);
    expect(await shared.sql('select run_id from keepwell.crashes')).toEqual(['new']);
    // That of a host that is gone is gone with it.
    expect(await shared.sql('select fingerprint from keepwell.host_incidents order by 1')).toEqual(['new', 'new open']);
    expect(await shared.sql('select fingerprint from keepwell.tickets order by 1')).toEqual([
      ...['new', 'new open', 'old open'],
    ]);
  });

  test('while the database is away a host works alone and says so; afterwards it tells everything, and nothing twice', async () => {
    await using own = await startPostgres();
    await using there = await people();
    await using host = await openHost({ name: 'one', url: own.url, people: there.url, times: { aloneMs: 300 } });
    await waitFor('it to answer', () => host.fleet().health() === 'ok');
    await own.kill();
    await waitFor('it to be missed', () => host.store.incidentOf('fleet-store')?.state === 'open');
    expect(host.fleet().health()).toMatch(/^the fleet store has not answered since 20\S+: /);
    expect(host.logged.filter((line) => line.startsWith('the fleet store does not answer'))).toHaveLength(1);
    for (let n = 0; n < 4; n++) host.crash(KIND);
    host.alarm(KIND);
    await waitFor('the ticket', () => there.actions('create').length > 0);
    await waitFor('the alert', () => there.alerts('raised').length > 0);
    await own.start();
    await waitFor('it to be back', () => host.store.incidentOf('fleet-store')?.state === 'resolved');
    expect(host.fleet().health()).toBe('ok');
    await waitFor('all crashes', async () => (await own.sql('select count(*) from keepwell.crashes'))[0] === '4');
    await waitFor('the ticket with its address', async () =>
      (await own.sql('select links from keepwell.tickets'))[0]?.includes('https://tracker.example/1'),
    );
    expect([there.actions('create').length, there.alerts('raised').length]).toEqual([1, 1]);
    expect(host.logged.join('\n')).not.toContain('tiger');
  });

  test('what PostgreSQL cannot write is written as nearly as it can, and holds up nothing', async () => {
    await using at = await world(['one']);
    const [host] = at.hosts;
    const subject = { kind: 'component', name: 'api' } as const;
    const event = (data: Record<string, unknown>) => ({
      at: Date.now() as never,
      subject,
      type: 'odd',
      run: null,
      data,
    });
    host!.incidents.record({
      events: [event({ nul: 'a\0b', half: '\ud800', path: 'C:\\u0000' }), event({ 'k\0': 1 })],
    });
    await waitFor(
      'both',
      async () => (await at.shared.number(`select count(*) from keepwell.events where type = 'odd'`)) === 2,
    );
    const [first] = await at.shared.sql(`select data from keepwell.events where type = 'odd' order by seq`);
    expect(JSON.parse(first!)).toEqual({ nul: 'a\ufffdb', half: '\ufffd', path: 'C:\\u0000' });
  });

  test('a database that was emptied is told everything again that is still on record', async () => {
    await using at = await world(['one']);
    at.hosts[0]!.crash(KIND);
    const isThere = async () => (await at.shared.number('select count(*) from keepwell.crashes')) === 1;
    await waitFor('the crash', isThere);
    await at.shared.sql(
      'truncate keepwell.hosts, keepwell.crashes, keepwell.events, keepwell.host_incidents, keepwell.incidents cascade',
    );
    at.hosts[0]!.incidents.record({ events: [] });
    await waitFor('it again', isThere);
    expect(await at.shared.number(`select count(*) from keepwell.incidents where state = 'open'`)).toBe(1);
  });
});
