/** People who ask for crashes are told of each cause once, whoever is taken along, and of its end. */
import { describe, expect, test } from 'vitest';
import type { AlertTopic } from '../../../src/incidents/alerts/rules/book.ts';
import { crashOf } from '../../support/history-samples.ts';
import { LOOK_MS, monitoredIncidents } from '../../support/monitored-incidents.ts';

const EVERYTHING: readonly AlertTopic[] = ['crash', 'unhealthy', 'gave-up', 'freeze', 'crash-rate', 'recovered'];
const worldOn = (on: readonly AlertTopic[], dependsOn: Readonly<Record<string, readonly string[]>> = {}) =>
  monitoredIncidents(dependsOn, undefined, undefined, on);
const down = { state: 'backing-off', isWell: false, upMs: 0 } as const;

describe('a crash', () => {
  test('whose restart helps is told once, and that it is over', async () => {
    const world = worldOn(EVERYTHING);
    world.crash(crashOf('db', 1, { fingerprint: 'v1:a', rootCause: 'the disk is full' }));
    world.stands('db', down);
    expect(await world.told()).toEqual(['[shop] db crashed (the disk is full)']);
    world.crash(crashOf('db', 2, { fingerprint: 'v1:a' }));
    expect(await world.told()).toEqual([]);
    world.stands('db');
    expect(await world.told()).toEqual(['[shop] Recovered: db (was: db crashed (the disk is full))']);
  });

  test('takes its dependents into the one message', async () => {
    const world = worldOn(EVERYTHING, { db: [], api: ['db'], web: ['db'] });
    world.crash(crashOf('db', 1, { fingerprint: 'v1:a', rootCause: 'the disk is full' }));
    world.stands('db', down);
    for (const [n, name] of ['api', 'web'].entries()) {
      world.crash(crashOf(name, n + 2, { fingerprint: `v1:${name}`, rootCause: 'connection refused' }));
      world.stands(name, down);
    }
    expect(await world.told()).toEqual(['[shop] db crashed (the disk is full); affected: api, web']);
  });

  test('is told once more when it is given up, and never again as a crash', async () => {
    const world = worldOn(EVERYTHING);
    world.crash(crashOf('db', 1, { fingerprint: 'v1:a', rootCause: 'the disk is full' }));
    world.stands('db', down);
    await world.told();
    world.crash(crashOf('db', 2, { fingerprint: 'v1:a', rule: 'limit' }));
    world.stands('db', { ...down, state: 'gave-up' });
    expect((await world.told()).join()).toMatch(/^\[shop\] db is down and no longer restarted \(the disk is full\)/);
    world.crash(crashOf('db', 3, { fingerprint: 'v1:a' }));
    expect(await world.told()).toEqual([]);
  });

  test('is no news to those who did not ask for it, nor is its end', async () => {
    for (const on of [['gave-up', 'recovered'], ['crash']] as const) {
      const world = worldOn(on);
      world.crash(crashOf('db', 1, { fingerprint: 'v1:a', rootCause: 'the disk is full' }));
      world.stands('db', down);
      expect(await world.told()).toHaveLength(on.length === 1 ? 1 : 0);
      world.stands('db');
      expect(await world.told()).toEqual([]);
    }
  });
});

describe('what is not well', () => {
  test('is told after a minute with its reason, and that it is well again', async () => {
    const world = worldOn(EVERYTHING, { api: [] });
    const title = 'api is not ready: readiness http :8080: HTTP 503';
    const unwell = { name: 'api', kind: 'not-ready', title, why: 'readiness http :8080: HTTP 503' } as const;
    world.stands('api', { isWell: false, unwell });
    for (let ms = 0; ms < 60_000; ms += LOOK_MS) {
      world.looked();
      await world.clock.advance(LOOK_MS);
    }
    expect(await world.told()).toEqual([`[shop] ${title}`]);
    world.stands('api');
    expect(await world.told()).toEqual([`[shop] Recovered: api (was: ${title})`]);
  });
});
