/** From crashes to incidents and tickets: counting, folding, recovery, regression. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exitView, type SignalName } from '../../../src/base/pure/exit.ts';
import { fromRecord } from '../../../src/incidents/rules/incident.ts';
import type { ProblemEvidence } from '../../../src/incidents/tickets/rules/evidence.ts';
import type { NewCrash } from '../../../src/supervision/ports/store.ts';
import { freezeFingerprint } from '../../../src/supervision/rules/unwell.ts';
import { incidentOf } from '../../support/case-samples.ts';
import { crashOf, exited, wall } from '../../support/history-samples.ts';
import { incidentsWorld } from '../../support/incidents-world.ts';

const component = (name: string) => ({ kind: 'component', name }) as const;
const refused = { errorType: 'ConnectionError', errorMessage: 'connection refused (127.0.0.1:5432)' };

describe('one incident for one cause', () => {
  test('500 crashes of 30 kinds in random order are 30 incidents, and at most 30 tickets', () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat(29)), fc.infiniteStream(fc.nat(9)), (kinds, recoveries) => {
        const { incidents: incidentService, crash, store } = incidentsWorld();
        const seen = new Set<number>();
        for (let n = 1; n <= 500; n += 1) {
          const kind = n <= 30 ? n - 1 : kinds.next().value!;
          seen.add(kind);
          crash(crashOf(`c${kind % 7}`, n, { fingerprint: `v1:${kind}`, errorType: `Error${kind}` }));
          if (recoveries.next().value === 0) incidentService.recovered(component(`c${n % 7}`));
        }
        const incidents = store.incidents({ limit: Infinity });
        expect(incidents).toHaveLength(seen.size);
        expect(incidents.reduce((sum, { count }) => sum + count, 0)).toBe(500);
        const tickets = store.tickets({ limit: Infinity });
        expect(tickets.length).toBeLessThanOrEqual(30);
        expect(new Set(tickets.map(({ fingerprint }) => fingerprint)).size).toBe(tickets.length);
      }),
      { numRuns: 10 },
    );
  });

  test('a crash has its incident in the same commit, and the ticket of the third is that of all', () => {
    const { crash, store, filed } = incidentsWorld();
    for (const n of [1, 2, 3, 4]) crash(crashOf('api', n, { fingerprint: 'v1:a', errorType: 'ImportError' }));
    expect(store.crashes({}).map(({ incident, ticket }) => [incident, ticket])).toEqual(
      Array.from({ length: 4 }, () => [1, 'BUG-001']),
    );
    expect(store.incident(1)).toMatchObject({ count: 4, state: 'open', ticket: 1 });
    expect(filed).toEqual([]); // not before the commit is safe
  });

  test('the ticket service is told of a ticket after the crash is on disk', async () => {
    const { crash, filed } = incidentsWorld();
    for (const n of [1, 2, 3]) crash(crashOf('api', n, { fingerprint: 'v1:a' }));
    await Promise.resolve();
    expect(filed).toEqual([1]);
  });

  test('a crash that is found again counts once', () => {
    const { crash, store } = incidentsWorld();
    for (let again = 0; again < 3; again += 1) crash(crashOf('api', 1, { fingerprint: 'v1:a' }));
    expect(store.incident(1)).toMatchObject({ count: 1 });
    expect(store.crashes({})).toHaveLength(1);
  });

  test('two tasks that die alike are one incident that names both, and so are two components', () => {
    const { crash, store } = incidentsWorld();
    const agent = { subject: { kind: 'agent', name: 'architect' }, fingerprint: 'v1:a' } as const;
    crash(crashOf('a', 1, { ...agent, taskId: 'T-1' }));
    crash(crashOf('a', 2, { ...agent, taskId: 'T-2' }));
    crash(crashOf('web', 3, { fingerprint: 'v1:b' }));
    crash(crashOf('api', 4, { fingerprint: 'v1:b' }));
    const all = store.incidents({ limit: 10 });
    expect(all.map(({ tasks, subjects }) => [tasks, subjects.map(({ name }) => name)])).toEqual([
      [[], ['web', 'api']],
      [['T-1', 'T-2'], ['architect']],
    ]);
  });

  test('crashes that say nothing are told apart by whose they are', () => {
    const { crash, store } = incidentsWorld();
    for (const name of ['web', 'api']) crash(crashOf(name, 1));
    expect(store.incidents({ limit: 10 })).toHaveLength(2);
  });
});

describe('recovery and regression', () => {
  test('an incident is resolved when all that crashed with it are well, and reopened under the same number', () => {
    const { crash, incidents: incidentService, store, events, resolved } = incidentsWorld();
    crash(crashOf('web', 1, { fingerprint: 'v1:b' }));
    crash(crashOf('api', 2, { fingerprint: 'v1:b' }));
    incidentService.recovered(component('web'));
    expect(store.incident(1)).toMatchObject({ state: 'open', waiting: ['component api'] });
    incidentService.recovered(component('api'));
    expect(store.incident(1)).toMatchObject({ state: 'resolved', count: 2 });
    expect(resolved.map(({ id }) => id)).toEqual([1]);
    crash(crashOf('api', 3, { fingerprint: 'v1:b' }));
    expect(store.incident(1)).toMatchObject({ state: 'open', reopened: 1, count: 3, waiting: ['component api'] });
    expect(events).toEqual(['incident.opened', 'incident.resolved', 'incident.reopened', 'ticket.opened']);
  });

  test('the recovery of one task leaves the other one open', () => {
    const { crash, incidents: incidentService, store } = incidentsWorld();
    const subject = { kind: 'agent', name: 'architect' } as const;
    for (const n of [1, 2]) crash(crashOf('a', n, { subject, fingerprint: 'v1:a', taskId: `T-${n}` }));
    incidentService.recovered(subject, 'T-1');
    expect(store.incident(1)).toMatchObject({ state: 'open', waiting: ['agent architect T-2'] });
    incidentService.recovered(subject, 'T-2');
    expect(store.incident(1)).toMatchObject({ state: 'resolved', waiting: [] });
  });

  test('the recovery is told on the ticket', () => {
    const { crash, incidents: incidentService, store } = incidentsWorld();
    for (const n of [1, 2, 3]) crash(crashOf('api', n, { fingerprint: 'v1:a' }));
    incidentService.recovered(component('api'));
    expect(store.ticket(1)?.told.at(-1)).toMatchObject({ what: 'recovery' });
  });

  test('what is open is known to the next daemon', () => {
    const first = incidentsWorld();
    first.crash(crashOf('api', 1, { fingerprint: 'v1:a' }));
    const second = incidentsWorld({}, first.clock, first.store);
    second.incidents.recovered(component('api'));
    expect(second.store.incident(1)?.state).toBe('resolved');
  });
});

describe('dependents', () => {
  const down = { db: [], cache: [], api: ['db'], web: ['api'], worker: ['db', 'cache'], mail: ['db'], cron: ['db'] };
  const dependents = ['api', 'web', 'worker', 'mail', 'cron'];

  test('a database that takes five dependents with it is one incident, with them as affected', () => {
    const { crash, store, events } = incidentsWorld(down);
    crash(crashOf('db', 1, { fingerprint: 'v1:db', rootCause: 'no space left' }));
    for (const [n, name] of dependents.entries())
      crash(crashOf(name, n + 2, { ...refused, fingerprint: `v1:${name}` }));
    expect(store.incidents({ limit: 10 })).toMatchObject([{ id: 1, count: 1, affected: dependents }]);
    expect(store.crashes({}).map(({ incident }) => incident)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(events.filter((type) => type === 'incident.opened')).toHaveLength(1);
  });

  test('a dependent that notices first is folded in when the cause is seen', () => {
    const { crash, store } = incidentsWorld(down);
    crash(crashOf('api', 1, { ...refused, fingerprint: 'v1:api' }));
    crash(crashOf('db', 2, { fingerprint: 'v1:db' }));
    expect(store.incidents({ state: 'open', limit: 10 })).toMatchObject([{ id: 2, affected: ['api'] }]);
    expect(store.incident(1)).toMatchObject({ state: 'resolved', foldedInto: 2 });
  });

  test('a crash of its own shortly before is not folded in', () => {
    const { crash, store } = incidentsWorld(down);
    crash(crashOf('api', 1, { fingerprint: 'v1:api', errorType: 'KeyError', errorMessage: "'name'" }));
    crash(crashOf('db', 2, { fingerprint: 'v1:db' }));
    expect(store.incidents({ state: 'open', limit: 10 })).toHaveLength(2);
  });

  test('what was known as its own problem stays so, and what does not depend on it has its own', () => {
    const { crash, store } = incidentsWorld(down);
    const own = { fingerprint: 'v1:api', errorType: 'KeyError' };
    crash(crashOf('api', 1, { ...own, at: wall(-3_600_000) }));
    crash(crashOf('db', 2, { fingerprint: 'v1:db' }));
    crash(crashOf('api', 3, own));
    crash(crashOf('cache', 4, { fingerprint: 'v1:cache' }));
    expect(store.incidents({ limit: 10 })).toMatchObject([{ id: 3 }, { id: 2, affected: [] }, { id: 1, count: 2 }]);
  });

  test('after the recovery of the cause a dependent that goes on crashing has an incident of its own', () => {
    const { crash, incidents: incidentService, store } = incidentsWorld(down);
    crash(crashOf('db', 1, { fingerprint: 'v1:db' }));
    crash(crashOf('api', 2, { fingerprint: 'v1:api' }));
    incidentService.recovered(component('db'));
    crash(crashOf('api', 3, { fingerprint: 'v1:api' }));
    expect(store.incident(2)).toMatchObject({ state: 'open', fingerprint: 'v1:api', count: 1 });
  });

  test('an incident is not over before those are well that went down with it', () => {
    const { crash, incidents: incidentService, store } = incidentsWorld(down);
    crash(crashOf('db', 1, { fingerprint: 'v1:db' }));
    crash(crashOf('api', 2, { ...refused, fingerprint: 'v1:api' }));
    incidentService.recovered(component('db'));
    expect(store.incident(1)).toMatchObject({ state: 'open', waiting: ['component api'] });
    incidentService.recovered(component('api'));
    expect(store.incident(1)?.state).toBe('resolved');
  });

  test('one that somebody stopped by hand is not waited for, unless it crashed by itself', () => {
    const { crash, incidents: incidentService, store } = incidentsWorld(down);
    crash(crashOf('db', 1, { fingerprint: 'v1:db' }));
    crash(crashOf('api', 2, { ...refused, fingerprint: 'v1:api' }));
    incidentService.unwanted(component('api'));
    incidentService.unwanted(component('db'));
    expect(store.incident(1)).toMatchObject({ state: 'open', waiting: ['component db'] });
  });

  const killed = (signal: SignalName, over: { oom?: boolean; unhealthy?: string } = {}) =>
    exitView({ kind: 'signal', signal, core: false, oom: over.oom ?? false }, over.unhealthy ?? null);

  test.each([
    ['killed with SIGKILL by somebody', killed('SIGKILL'), false],
    ['killed with SIGTERM by somebody', killed('SIGTERM'), false],
    ['ended with the code of a killed child', exited(137), false],
    ['killed because there is no memory left', killed('SIGKILL', { oom: true }), true],
    ['ended by us because a check fails', killed('SIGTERM', { unhealthy: 'liveness tcp :80 failed 3 times' }), true],
    ['ended by an abort of its own', killed('SIGABRT'), true],
    ['ended with an error', exited(1), true],
  ])('one that is %s while the database is down', (_, exit, isFolded) => {
    const { crash, store } = incidentsWorld(down);
    crash(crashOf('db', 1, { fingerprint: 'v1:db' }));
    crash(crashOf('api', 2, { fingerprint: 'v1:api', exit }));
    expect(store.incident(1)?.affected).toEqual(isFolded ? ['api'] : []);
    expect(store.incidents({ limit: 10 })).toHaveLength(isFolded ? 1 : 2);
  });
});

test('nothing is thrown into supervision, whatever the store does', () => {
  const world = incidentsWorld();
  const broken = new Proxy(world.store, {
    get: (target, key) => {
      if (key === 'incidentOf') throw new Error('broken');
      return Reflect.get(target, key) as unknown;
    },
  });
  const { incidents: incidentService } = incidentsWorld({}, world.clock, broken);
  const crash: NewCrash = crashOf('api', 1);
  expect(incidentService.noted({ crash })).toEqual({ crash, events: [] });
});

describe('one outage', () => {
  const still = { counters: { restarts: [], failures: 2, unhelped: 2, spawnErrors: 0, total: 1 } };
  const panic = { fingerprint: 'v1:panic', errorMessage: 'PANIC: could not write to file' };
  const fatal = { fingerprint: 'v1:fatal', errorMessage: 'FATAL: could not create lock file' };

  test('is one incident, with its affected and its ticket, although it cannot start for another reason than it died of', () => {
    const { crash, store } = incidentsWorld({ db: [], api: ['db'] });
    crash(crashOf('db', 1, panic));
    crash(crashOf('api', 2, { ...refused, fingerprint: 'v1:api' }));
    crash(crashOf('db', 3, { ...fatal, ...still }));
    crash(crashOf('db', 4, { ...fatal, ...still, rule: 'limit' }));
    expect(store.incidents({ limit: 10 })).toMatchObject([{ id: 1, count: 3, ticket: 1, affected: ['api'] }]);
    expect(store.crashes({}).map(({ incident }) => incident)).toEqual([1, 1, 1, 1]);
    expect(store.ticket(1)).toMatchObject({ affected: ['api'] });
  });

  test.each([
    ['it was well in between', { ...still.counters, unhelped: 1 }],
    ['somebody started it by hand', { restarts: [], failures: 0, spawnErrors: 0, total: 0 }],
  ])('is over when %s: another error is another incident', (_, counters) => {
    const { crash, store } = incidentsWorld();
    crash(crashOf('db', 1, panic));
    crash(crashOf('db', 2, { ...fatal, counters }));
    expect(store.incidents({ limit: 10 })).toHaveLength(2);
  });

  test('of something that could not even be started is part of it', () => {
    const { crash, store } = incidentsWorld();
    const problem = { code: 'command-not-found', message: 'no such command', heals: false } as const;
    crash(crashOf('db', 1, panic));
    crash(
      crashOf('db', 2, {
        fingerprint: 'v1:none',
        exit: exitView({ kind: 'spawn-failed', problem }),
        rule: 'spawn-retry',
      }),
    );
    expect(store.incidents({ limit: 10 })).toMatchObject([{ count: 2 }]);
  });
});

describe('a death by our own signal', () => {
  const freeze = { reason: 'frozen: no heartbeat for 7 s', silent_since: '', steps: [], evidence: ['state S'] };
  const interrupt = { errorType: 'KeyboardInterrupt', errorMessage: null, fingerprint: 'v1:keyboard-interrupt' };
  const ended = (name: string, unhealthy: string, over: Partial<NewCrash> = {}) =>
    crashOf(name, 1, {
      ...interrupt,
      exit: exitView({ kind: 'code', code: 1, ambiguous: false }, unhealthy),
      rootCause: unhealthy,
      ...over,
    });

  test('has our reason as its title and its key: freezes of two components are two incidents', () => {
    const { crash, store } = incidentsWorld();
    for (const name of ['thread', 'garbage']) crash(ended(name, freeze.reason, { freeze }));
    expect(store.incidents({ limit: 10 }).map(({ title, fingerprint }) => [title, fingerprint])).toEqual([
      ['garbage: frozen: no heartbeat for 7 s', freezeFingerprint('garbage')],
      ['thread: frozen: no heartbeat for 7 s', freezeFingerprint('thread')],
    ]);
  });

  test.each(['liveness http :80/healthz failed 3 times: HTTP 503', 'soft_memory: 412 MiB, more than 400 MiB'])(
    '%s is an incident of each component, and numbers make no other one',
    (reason) => {
      const { crash, store } = incidentsWorld();
      crash(ended('a', reason));
      crash(ended('b', reason));
      crash(ended('a', reason.replace('412', '499').replace('503', '500'), { run: crashOf('a', 9).run }));
      expect(store.incidents({ limit: 10 }).map(({ count, title }) => [count, title])).toEqual([
        [1, `b: ${reason}`],
        [2, `a: ${reason}`],
      ]);
    },
  );

  test('has a ticket that says so, not what the program said to our signal', () => {
    const { crash, store } = incidentsWorld();
    crash(ended('thread', freeze.reason, { freeze, rule: 'limit' }));
    expect(store.ticket(1)).toMatchObject({ title: `thread: ${freeze.reason}`, errorType: null, category: 'freeze' });
    expect(store.ticket(1)?.reproductionSteps.join()).not.toContain('KeyboardInterrupt');
  });
});

test('incidents and tickets of one task each, as they were written before, go on', () => {
  const { store, incidents: incidentService } = incidentsWorld();
  const subject = { kind: 'agent', name: 'architect' } as const;
  const { tasks: _, ...written } = incidentOf(1, { subject, subjects: [subject], waiting: ['agent architect'] });
  const old = fromRecord({ ...written, taskId: 'T-1' });
  expect(old).toMatchObject({ tasks: ['T-1'], waiting: ['agent architect T-1'] });
  expect(old).not.toHaveProperty('taskId');
  store.commit({ incidents: [old] });
  const second = incidentsWorld({}, undefined, store);
  second.crash(crashOf('a', 2, { subject, fingerprint: old.fingerprint, taskId: 'T-2' }));
  expect(store.incident(1)).toMatchObject({ tasks: ['T-1', 'T-2'], count: 2 });
  second.incidents.recovered(subject, 'T-1');
  second.incidents.recovered(subject, 'T-2');
  expect(store.incident(1)?.state).toBe('resolved');
  expect([...incidentService.open()]).toEqual([]);
});

describe('a loop that is frozen', () => {
  const freeze = { reason: 'no heartbeat', silent_since: '2026-01-02T03:04:05.678Z', steps: [], evidence: [] };
  const frozen = (run: string): ProblemEvidence => ({
    ...{ subject: component('loop'), fingerprint: freezeFingerprint('loop'), title: 'loop is frozen', run },
    ...{ rootCause: 'it waits', category: 'freeze', priority: 'critical', assignedTo: null, atOnce: true },
    ...{ evidence: [], reproduction: [], relatedFiles: [] },
  });
  const ends = (n: number, more: Partial<NewCrash> = {}) =>
    crashOf('loop', n, { freeze, fingerprint: 'v1:e', ...more });

  test('is one incident with one ticket, however often it is ended and started again', () => {
    const seen: string[] = [];
    const {
      incidents: incidentService,
      crash,
      store,
    } = incidentsWorld({}, undefined, undefined, {
      crashSeen: ({ run }, { id }) => void seen.push(`${run} ${id}`),
    });
    const runs = [1, 2, 3, 4].map((n) => ends(n).run);
    incidentService.problem(frozen(runs[0]!));
    for (const n of [1, 2, 3, 4]) crash(ends(n));
    expect(store.incidents({ limit: 10 })).toMatchObject([{ id: 1, count: 4, ticket: 1 }]);
    expect(store.tickets({ limit: 10 })).toMatchObject([{ number: 1, priority: 'critical', count: 4 }]);
    expect(store.crashes({}).map(({ incident, ticket }) => [incident, ticket])).toEqual(runs.map(() => [1, 'BUG-001']));
    expect(seen).toEqual(runs.map((run) => `${run} 1`));
  });

  test('that freezes again in the same run has its incident opened again', () => {
    const { incidents: incidentService, store } = incidentsWorld();
    incidentService.problem(frozen(ends(1).run));
    incidentService.recovered(component('loop'));
    incidentService.problem(frozen(ends(1).run));
    expect(store.incident(1)).toMatchObject({ state: 'open', count: 2, reopened: 1 });
  });

  test('is another matter than what it dies of otherwise, and than a rehearsal', () => {
    const { incidents: incidentService, crash, store } = incidentsWorld();
    incidentService.problem(frozen(ends(1).run));
    crash(crashOf('loop', 2, { fingerprint: 'v1:e' }));
    crash(ends(3, { fingerprint: 'v1:s', simulated: { kind: 'hang', notify: false } }));
    incidentService.recovered(component('loop'));
    crash(ends(4));
    expect(store.crashes({}).map(({ incident }) => incident)).toEqual([2, 3, 2]);
  });
});

test('a problem without a crash has an incident and a ticket at once, and the second time the same ones', () => {
  const { incidents: incidentService, store } = incidentsWorld();
  const problem: ProblemEvidence = {
    ...{ subject: component('loop'), fingerprint: 'v1:frozen', title: 'loop is frozen', rootCause: 'no heartbeat' },
    category: 'freeze',
    priority: 'critical',
    assignedTo: null,
    atOnce: true,
    ...{ evidence: ['state T'], reproduction: [], relatedFiles: [] },
  };
  expect(incidentService.problem(problem)).toEqual({ incident: 1, ticket: 1 });
  expect(incidentService.problem(problem)).toEqual({ incident: 1, ticket: 1 });
  expect(store.ticket(1)).toMatchObject({ priority: 'critical', category: 'freeze', count: 2 });
});

test('thousands that are over at the same moment are written together, not one by one', () => {
  const { incidents: incidentService, crash, store, resolved, batches } = incidentsWorld();
  for (let n = 1; n <= 900; n += 1) crash(crashOf('api', n, { fingerprint: `v1:${n}`, errorType: `Error${n}` }));
  incidentService.recovered(component('api'));
  expect(batches).toEqual([500, 400]);
  expect(resolved).toHaveLength(900);
  expect(store.incidents({ state: 'open', limit: Infinity })).toEqual([]);
});
