/** Everybody who shares a cause is named: in the incident, its ticket and its alert; also who comes later. */
import { describe, expect, test } from 'vitest';
import type { NewCrash } from '../../../src/supervision/ports/store.ts';
import { crashOf } from '../../support/history-samples.ts';
import { LOOK_MS, monitoredIncidents } from '../../support/monitored-incidents.ts';

const MINUTE = 60_000;
const gone = { state: 'gave-up', isWell: false, upMs: 0 } as const;
const missing = {
  fingerprint: 'v1:missing',
  errorType: 'ModuleNotFoundError',
  rootCause: 'there is no module "stripe"',
};
const giveUp = { ...missing, rule: 'limit' } as const;

async function passes(world: ReturnType<typeof monitoredIncidents>, ms: number): Promise<void> {
  for (let at = 0; at < ms; at += LOOK_MS) {
    world.looked();
    await world.clock.advance(LOOK_MS);
  }
}

describe('components that share a cause', () => {
  test('are all told of when they are given up, those after the first in a second message', async () => {
    const world = monitoredIncidents();
    world.crash(crashOf('api', 1, giveUp));
    world.stands('api', gone);
    expect(await world.told()).toEqual([
      '[shop] api is down and no longer restarted (there is no module "stripe") (BUG-001)',
    ]);
    for (const [n, name] of ['billing', 'mail'].entries()) {
      world.crash(crashOf(name, n + 2, giveUp));
      world.stands(name, gone);
      await passes(world, 12_000);
    }
    await passes(world, MINUTE);
    const [second, ...more] = await world.messages();
    expect(more).toEqual([]);
    expect(second?.text).toBe(
      '[shop] Now also billing, mail: api, billing, mail are down and no longer restarted (there is no module "stripe") (BUG-001)',
    );
    expect(second?.alerts).toMatchObject([
      { state: 'raised', key: 'incident 1', who: ['api', 'billing', 'mail'], joined: ['billing', 'mail'] },
    ]);
    await passes(world, 10 * MINUTE);
    expect(await world.told()).toEqual([]);
    for (const name of ['api', 'billing', 'mail']) world.stands(name);
    expect((await world.told()).join()).toMatch(/^\[shop\] Recovered: api, billing, mail \(was: /);
  });

  test('are all in the incident and in the ticket', async () => {
    const world = monitoredIncidents();
    for (const [n, name] of ['api', 'billing', 'mail'].entries()) world.crash(crashOf(name, n + 1, giveUp));
    const subjects = ['api', 'billing', 'mail'].map((name) => ({ kind: 'component', name }));
    expect(world.store.incident(1)).toMatchObject({ subjects });
    expect(world.store.ticket(1)).toMatchObject({ subjects, news: ['billing (given up)', 'mail (given up)'] });
  });

  test('that crash are told of once more when they are given up', async () => {
    const world = monitoredIncidents();
    world.crash(crashOf('billing', 1, missing));
    world.crash(crashOf('api', 2, giveUp));
    world.stands('billing', { isWell: false });
    world.stands('api', gone);
    expect((await world.told()).join()).toContain('api is down and no longer restarted; it also happens to billing');
    world.stands('billing', gone);
    await passes(world, MINUTE);
    expect((await world.told()).join()).toMatch(/^\[shop\] Now also billing: billing, api are down/);
  });

  test('that join one after the other for hours are told of less and less often', async () => {
    const world = monitoredIncidents();
    world.crash(crashOf('c0', 1, giveUp));
    world.stands('c0', gone);
    expect(await world.told()).toHaveLength(1);
    let messages = 0;
    for (let n = 1; n <= 60; n += 1) {
      world.crash(crashOf(`c${n}`, n + 1, giveUp));
      world.stands(`c${n}`, gone);
      await passes(world, MINUTE);
      messages += (await world.told()).length;
    }
    expect(messages).toBeGreaterThan(0);
    expect(messages).toBeLessThanOrEqual(6);
  });

  test('a dependent that goes down later is told of, too', async () => {
    const world = monitoredIncidents({ db: [], api: ['db'], web: ['db'] });
    world.crash(crashOf('db', 1, { fingerprint: 'v1:db', rootCause: 'no space left' }));
    world.crash(crashOf('api', 2, { fingerprint: 'v1:api' }));
    world.stands('db', gone);
    expect((await world.told()).join()).toContain('affected: api');
    world.crash(crashOf('web', 3, { fingerprint: 'v1:web' }));
    await passes(world, MINUTE);
    expect((await world.told()).join()).toMatch(/^\[shop\] Now also web: db is down.*; affected: api, web$/);
  });
});

describe('thirty tasks with one broken import', () => {
  const agent = { kind: 'agent', name: 'architect' } as const;
  const tasks = Array.from({ length: 30 }, (_, n) => `T-${n + 1}`);
  const dies = (task: string, n: number, over: Partial<NewCrash> = {}) =>
    crashOf('a', n, { subject: agent, agentType: 'architect', taskId: task, ...missing, ...over });

  test('are one incident and one ticket that lists them, told in a handful of notes', async () => {
    const world = monitoredIncidents();
    for (const [round, over] of ([{}, {}, { rule: 'limit' }] as const).entries())
      for (const [n, task] of tasks.entries()) world.crash(dies(task, round * tasks.length + n + 1, over));
    expect(world.store.incidents({ limit: 100 })).toMatchObject([{ tasks, count: 90, ticket: 1 }]);
    await passes(world, 2 * MINUTE);
    const [ticket, ...more] = world.store.tickets({ limit: 100 });
    expect(more).toEqual([]);
    expect(ticket).toMatchObject({ tasks, count: 90, news: [] });
    expect(ticket?.told.map(({ what }) => what)).toEqual(['crash', 'crash', 'news']);
  });

  test('are named in the alert about too many crashes', async () => {
    const world = monitoredIncidents();
    for (const [n, task] of tasks.slice(0, 12).entries()) world.crash(dies(task, n + 1));
    expect(await world.told()).toEqual([
      '[shop] 12 crashes within an hour: architect: ModuleNotFoundError (12: task T-1, task T-2, task T-3 and 9 more) (BUG-001)',
    ]);
  });
});

describe('a freeze that people know of', () => {
  const freeze = { reason: 'frozen: no heartbeat for 5 min', silent_since: '', steps: [], evidence: [] };
  const { exit } = crashOf('loop', 1);
  const frozen = (n: number) =>
    crashOf('loop', n, { freeze, exit: { ...exit, unhealthy: freeze.reason }, rootCause: freeze.reason });

  test('is told once: neither its ends nor that it is given up are told again', async () => {
    const world = monitoredIncidents();
    world.stands('loop', { isWell: false, upMs: 0 });
    world.crash(frozen(1));
    const about = { kind: 'freeze', key: 'freeze:loop', subject: { kind: 'component', name: 'loop' } } as const;
    world.alerts.raise({ ...about, text: 'loop is frozen, and …', incident: 1, ticket: null });
    expect(await world.told()).toEqual(['[shop] loop is frozen, and …']);
    for (let n = 2; n <= 15; n += 1) world.crash(frozen(n));
    expect(await world.told()).toEqual([]);
    world.stands('loop', gone);
    await passes(world, 2 * MINUTE);
    expect(await world.told()).toEqual([]);
  });
});
