/** From crashes to incidents and tickets: counting, folding, recovery, regression. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { freezeFingerprint } from '../../../src/core/agents/loop.ts';
import type { ProblemEvidence } from '../../../src/core/tickets/evidence.ts';
import type { NewCrash } from '../../../src/ports/store.ts';
import { caseworkWorld } from '../../support/casework-world.ts';
import { crashOf, wall } from '../../support/history-samples.ts';

const component = (name: string) => ({ kind: 'component', name }) as const;
const refused = { errorType: 'ConnectionError', errorMessage: 'connection refused (127.0.0.1:5432)' };

describe('one incident for one cause', () => {
  test('500 crashes of 30 kinds in random order are 30 incidents, and at most 30 tickets', () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.nat(29)), fc.infiniteStream(fc.nat(9)), (kinds, recoveries) => {
        const { casework, crash, store } = caseworkWorld();
        const seen = new Set<number>();
        for (let n = 1; n <= 500; n += 1) {
          const kind = n <= 30 ? n - 1 : kinds.next().value!;
          seen.add(kind);
          crash(crashOf(`c${kind % 7}`, n, { fingerprint: `v1:${kind}`, errorType: `Error${kind}` }));
          if (recoveries.next().value === 0) casework.recovered(component(`c${n % 7}`));
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
    const { crash, store, filed } = caseworkWorld();
    for (const n of [1, 2, 3, 4]) crash(crashOf('api', n, { fingerprint: 'v1:a', errorType: 'ImportError' }));
    expect(store.crashes({}).map(({ incident, ticket }) => [incident, ticket])).toEqual(
      Array.from({ length: 4 }, () => [1, 'BUG-001']),
    );
    expect(store.incident(1)).toMatchObject({ count: 4, state: 'open', ticket: 1 });
    expect(filed).toEqual([]); // not before the commit is safe
  });

  test('the desk is told of a ticket after the crash is on disk', async () => {
    const { crash, filed } = caseworkWorld();
    for (const n of [1, 2, 3]) crash(crashOf('api', n, { fingerprint: 'v1:a' }));
    await Promise.resolve();
    expect(filed).toEqual([1]);
  });

  test('a crash that is found again counts once', () => {
    const { crash, store } = caseworkWorld();
    for (let again = 0; again < 3; again += 1) crash(crashOf('api', 1, { fingerprint: 'v1:a' }));
    expect(store.incident(1)).toMatchObject({ count: 1 });
    expect(store.crashes({})).toHaveLength(1);
  });

  test('two tasks that die alike are two incidents; two components that die alike are one', () => {
    const { crash, store } = caseworkWorld();
    const agent = { subject: { kind: 'agent', name: 'architect' }, fingerprint: 'v1:a' } as const;
    crash(crashOf('a', 1, { ...agent, taskId: 'T-1' }));
    crash(crashOf('a', 2, { ...agent, taskId: 'T-2' }));
    crash(crashOf('web', 3, { fingerprint: 'v1:b' }));
    crash(crashOf('api', 4, { fingerprint: 'v1:b' }));
    const all = store.incidents({ limit: 10 });
    expect(all.map(({ taskId, subjects }) => [taskId, subjects.map(({ name }) => name)])).toEqual([
      [null, ['web', 'api']],
      ['T-2', ['architect']],
      ['T-1', ['architect']],
    ]);
  });

  test('crashes that say nothing are told apart by whose they are', () => {
    const { crash, store } = caseworkWorld();
    for (const name of ['web', 'api']) crash(crashOf(name, 1));
    expect(store.incidents({ limit: 10 })).toHaveLength(2);
  });
});

describe('recovery and regression', () => {
  test('an incident is resolved when all that crashed with it are well, and reopened under the same number', () => {
    const { crash, casework, store, events, resolved } = caseworkWorld();
    crash(crashOf('web', 1, { fingerprint: 'v1:b' }));
    crash(crashOf('api', 2, { fingerprint: 'v1:b' }));
    casework.recovered(component('web'));
    expect(store.incident(1)).toMatchObject({ state: 'open', waiting: ['component api'] });
    casework.recovered(component('api'));
    expect(store.incident(1)).toMatchObject({ state: 'resolved', count: 2 });
    expect(resolved.map(({ id }) => id)).toEqual([1]);
    crash(crashOf('api', 3, { fingerprint: 'v1:b' }));
    expect(store.incident(1)).toMatchObject({ state: 'open', reopened: 1, count: 3, waiting: ['component api'] });
    expect(events).toEqual(['incident.opened', 'incident.resolved', 'incident.reopened', 'ticket.opened']);
  });

  test('the recovery of one task leaves the other one open', () => {
    const { crash, casework, store } = caseworkWorld();
    const subject = { kind: 'agent', name: 'architect' } as const;
    for (const n of [1, 2]) crash(crashOf('a', n, { subject, fingerprint: 'v1:a', taskId: `T-${n}` }));
    casework.recovered(subject, 'T-1');
    expect(store.incidents({ state: 'open', limit: 10 }).map(({ taskId }) => taskId)).toEqual(['T-2']);
  });

  test('the recovery is told on the ticket', () => {
    const { crash, casework, store } = caseworkWorld();
    for (const n of [1, 2, 3]) crash(crashOf('api', n, { fingerprint: 'v1:a' }));
    casework.recovered(component('api'));
    expect(store.ticket(1)?.told.at(-1)).toMatchObject({ what: 'recovery' });
  });

  test('what is open is known to the next daemon', () => {
    const first = caseworkWorld();
    first.crash(crashOf('api', 1, { fingerprint: 'v1:a' }));
    const second = caseworkWorld({}, first.clock, first.store);
    second.casework.recovered(component('api'));
    expect(second.store.incident(1)?.state).toBe('resolved');
  });
});

describe('dependents', () => {
  const down = { db: [], cache: [], api: ['db'], web: ['api'], worker: ['db', 'cache'], mail: ['db'], cron: ['db'] };
  const dependents = ['api', 'web', 'worker', 'mail', 'cron'];

  test('a database that takes five dependents with it is one incident, with them as affected', () => {
    const { crash, store, events } = caseworkWorld(down);
    crash(crashOf('db', 1, { fingerprint: 'v1:db', rootCause: 'no space left' }));
    for (const [n, name] of dependents.entries())
      crash(crashOf(name, n + 2, { ...refused, fingerprint: `v1:${name}` }));
    expect(store.incidents({ limit: 10 })).toMatchObject([{ id: 1, count: 1, affected: dependents }]);
    expect(store.crashes({}).map(({ incident }) => incident)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(events.filter((type) => type === 'incident.opened')).toHaveLength(1);
  });

  test('a dependent that notices first is folded in when the cause is seen', () => {
    const { crash, store } = caseworkWorld(down);
    crash(crashOf('api', 1, { ...refused, fingerprint: 'v1:api' }));
    crash(crashOf('db', 2, { fingerprint: 'v1:db' }));
    expect(store.incidents({ state: 'open', limit: 10 })).toMatchObject([{ id: 2, affected: ['api'] }]);
    expect(store.incident(1)).toMatchObject({ state: 'resolved', foldedInto: 2 });
  });

  test('a crash of its own shortly before is not folded in', () => {
    const { crash, store } = caseworkWorld(down);
    crash(crashOf('api', 1, { fingerprint: 'v1:api', errorType: 'KeyError', errorMessage: "'name'" }));
    crash(crashOf('db', 2, { fingerprint: 'v1:db' }));
    expect(store.incidents({ state: 'open', limit: 10 })).toHaveLength(2);
  });

  test('what was known as its own problem stays so, and what does not depend on it has its own', () => {
    const { crash, store } = caseworkWorld(down);
    const own = { fingerprint: 'v1:api', errorType: 'KeyError' };
    crash(crashOf('api', 1, { ...own, at: wall(-3_600_000) }));
    crash(crashOf('db', 2, { fingerprint: 'v1:db' }));
    crash(crashOf('api', 3, own));
    crash(crashOf('cache', 4, { fingerprint: 'v1:cache' }));
    expect(store.incidents({ limit: 10 })).toMatchObject([{ id: 3 }, { id: 2, affected: [] }, { id: 1, count: 2 }]);
  });

  test('after the recovery of the cause a dependent that goes on crashing has an incident of its own', () => {
    const { crash, casework, store } = caseworkWorld(down);
    crash(crashOf('db', 1, { fingerprint: 'v1:db' }));
    crash(crashOf('api', 2, { fingerprint: 'v1:api' }));
    casework.recovered(component('db'));
    crash(crashOf('api', 3, { fingerprint: 'v1:api' }));
    expect(store.incidents({ state: 'open', limit: 10 })).toMatchObject([{ id: 2, fingerprint: 'v1:api', count: 1 }]);
  });
});

test('nothing is thrown into supervision, whatever the store does', () => {
  const world = caseworkWorld();
  const broken = new Proxy(world.store, {
    get: (target, key) => {
      if (key === 'incidentOf') throw new Error('broken');
      return Reflect.get(target, key) as unknown;
    },
  });
  const { casework } = caseworkWorld({}, world.clock, broken);
  const crash: NewCrash = crashOf('api', 1);
  expect(casework.crashed(crash)).toEqual({ crash, also: { events: [] } });
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
    const { casework, crash, store } = caseworkWorld({}, undefined, undefined, {
      crashSeen: ({ run }, { id }) => void seen.push(`${run} ${id}`),
    });
    const runs = [1, 2, 3, 4].map((n) => ends(n).run);
    casework.problem(frozen(runs[0]!));
    for (const n of [1, 2, 3, 4]) crash(ends(n));
    expect(store.incidents({ limit: 10 })).toMatchObject([{ id: 1, count: 4, ticket: 1 }]);
    expect(store.tickets({ limit: 10 })).toMatchObject([{ number: 1, priority: 'critical', count: 4 }]);
    expect(store.crashes({}).map(({ incident, ticket }) => [incident, ticket])).toEqual(runs.map(() => [1, 'BUG-001']));
    expect(seen).toEqual(runs.map((run) => `${run} 1`));
  });

  test('that freezes again in the same run has its incident opened again', () => {
    const { casework, store } = caseworkWorld();
    casework.problem(frozen(ends(1).run));
    casework.recovered(component('loop'));
    casework.problem(frozen(ends(1).run));
    expect(store.incident(1)).toMatchObject({ state: 'open', count: 2, reopened: 1 });
  });

  test('is another matter than what it dies of otherwise, and than a rehearsal', () => {
    const { casework, crash, store } = caseworkWorld();
    casework.problem(frozen(ends(1).run));
    crash(crashOf('loop', 2, { fingerprint: 'v1:e' }));
    crash(ends(3, { fingerprint: 'v1:s', simulated: { kind: 'hang', notify: false } }));
    casework.recovered(component('loop'));
    crash(ends(4));
    expect(store.crashes({}).map(({ incident }) => incident)).toEqual([2, 3, 2]);
  });
});

test('a problem without a crash has an incident and a ticket at once, and the second time the same ones', () => {
  const { casework, store } = caseworkWorld();
  const problem: ProblemEvidence = {
    ...{ subject: component('loop'), fingerprint: 'v1:frozen', title: 'loop is frozen', rootCause: 'no heartbeat' },
    category: 'freeze',
    priority: 'critical',
    assignedTo: null,
    atOnce: true,
    ...{ evidence: ['state T'], reproduction: [], relatedFiles: [] },
  };
  expect(casework.problem(problem)).toEqual({ incident: 1, ticket: 1 });
  expect(casework.problem(problem)).toEqual({ incident: 1, ticket: 1 });
  expect(store.ticket(1)).toMatchObject({ priority: 'critical', category: 'freeze', count: 2 });
});
