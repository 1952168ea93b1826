/** Fifty hosts and one database that is killed again and again: nothing is lost, nothing is doubled, and people hear of each problem once. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startPostgres } from '../../support/postgres.ts';
import { missing } from '../../support/real-servers.ts';
import { waitFor } from '../../support/wait-for.ts';
import { openHost, people, type SimulatedHost } from './fleet-world.ts';

const HOSTS = 50;
const CRASHES = 10_000;
const KINDS = 30;
const KILLS = 10;
const lack = missing('PostgreSQL');

test.skipIf(lack !== null)(
  `${HOSTS} hosts, ${CRASHES} crashes of ${KINDS} kinds, the database killed ${KILLS} times: nothing lost or doubled, one ticket and one alert each`,
  async () => {
    await using postgres = await startPostgres();
    await using there = await people();
    const hosts: SimulatedHost[] = [];
    await using _ = {
      [Symbol.asyncDispose]: async () => void (await Promise.all(hosts.map((one) => one[Symbol.asyncDispose]()))),
    };
    for (let n = 0; n < HOSTS; n++)
      hosts.push(await openHost({ name: `host-${n}`, url: postgres.url, people: there.url }));

    const kinds = Array.from({ length: KINDS }, (_, n) => `v2:kind-${n}`);
    let made = 0;
    const crashing = (async () => {
      for (; made < CRASHES; made++) {
        hosts[made % HOSTS]!.crash(kinds[Math.floor(made / HOSTS) % KINDS]!);
        if (made % 20 === 0) await pause(1); // crashes come over time, and the hosts get their turns in between
      }
    })();
    for (let kill = 1; kill <= KILLS; kill++) {
      await waitFor(`crash ${kill}`, () => made >= (kill * CRASHES) / (KILLS + 1));
      await postgres.kill();
      await postgres.start();
    }
    await crashing;
    for (const host of hosts) for (const kind of kinds) host.alarm(kind);

    const number = async (sql: string) => Number((await postgres.sql(sql))[0]);
    await waitFor('all crashes', async () => (await number('select count(*) from keepwell.crashes')) === CRASHES);
    const events = () =>
      hosts.reduce((sum, { store }) => sum + store.events({ afterSeq: 0, limit: 100_000 }).length, 0);
    await waitFor('people to be told of all', () => there.alerts('raised').length >= KINDS);
    await waitFor('all tickets', () => there.actions('create').length >= KINDS);
    const pending = () =>
      hosts.some(({ store }) =>
        store
          .tickets({ limit: 1_000 })
          .some(({ trackers }) => Object.values(trackers).some(({ errands }) => errands.length > 0)),
      );
    await waitFor('all updates of tickets to be settled', () => !pending());
    await waitFor('all events', async () => (await number('select count(*) from keepwell.events')) === events());
    await waitFor(
      'all counts',
      async () => (await number('select sum(count) from keepwell.host_incidents')) === CRASHES,
    );

    expect(await number('select count(distinct (host, run_id)) from keepwell.crashes')).toBe(CRASHES);
    expect(await number(`select count(*) from keepwell.incidents where state = 'open'`)).toBe(KINDS);
    expect(await number('select count(*) from keepwell.incidents')).toBe(KINDS);
    expect(await number(`select count(*) from keepwell.tickets where state = 'open'`)).toBe(KINDS);
    expect(await number('select count(*) from keepwell.alerts')).toBe(KINDS);
    const created = there.actions('create').map(({ body }) => body.ticket!.fingerprint);
    expect(created.toSorted()).toEqual(kinds.toSorted());
    const texts = there.alerts('raised').map(({ text }) => text);
    expect(texts.toSorted()).toEqual(kinds.map((kind) => `${kind} is down`).toSorted());
    expect(hosts.map((host) => host.fleet().health())).toEqual(hosts.map(() => 'ok'));
  },
  300_000,
);
