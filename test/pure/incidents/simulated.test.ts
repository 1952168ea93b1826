/** Rehearsals beside real crashes: neither gets in the way of the other. */
import { expect, test } from 'vitest';
import { agentsReport } from '../../../src/agents/rules/report.ts';
import { openMemoryStore } from '../../../src/history/memory.ts';
import { createFiling } from '../../../src/incidents/filing.ts';
import { markSimulated } from '../../../src/supervision/rules/simulation.ts';
import { run } from '../../support/builders.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { crashOf } from '../../support/history-samples.ts';
import { incidentsWorld } from '../../support/incidents-world.ts';
import { crashSample, HOUR, incidentSample, settings, ticketSample, wall } from '../../support/ticket-samples.ts';

const ASKED = { kind: 'exit', notify: false, memoryBytes: null } as const;

test('a simulated crash has an incident of its own, also while something real is down that it depends on', () => {
  const { crash, store } = incidentsWorld({ api: ['db'], db: [] });
  crash(crashOf('db', 1, { fingerprint: 'v1:db' }));
  crash(markSimulated(crashOf('api', 2, { fingerprint: 'v1:api' }), ASKED));
  expect(store.incident(1)).toMatchObject({ affected: [], count: 1 });
  expect(store.incident(2)).toMatchObject({ subject: { name: 'api' }, title: expect.stringMatching(/^simulated: /) });
  crash(crashOf('api', 3, { fingerprint: 'v1:api' }));
  expect(store.incident(1)).toMatchObject({ affected: ['api'] });
});

test('whoever writes it down, a crash or a problem that somebody asked for is marked on its way, and nothing else is', () => {
  const asked = run('api~2');
  const { crash, incidents, store } = incidentsWorld({}, undefined, undefined, {
    simulated: (of) => (of.run === asked ? ASKED : null),
  });
  crash(crashOf('api', 1, { fingerprint: 'v1:api' }));
  crash(crashOf('api', 2, { fingerprint: 'v1:api', run: asked }));
  const problem = {
    fingerprint: 'v1:frozen',
    title: 'api is frozen',
    rootCause: 'no beat',
    category: 'freeze',
  } as const;
  const about = { priority: null, assignedTo: null, evidence: [], reproduction: [], relatedFiles: [] };
  for (const of of [asked, run('api~1')])
    incidents.problem({ ...problem, ...about, atOnce: true, subject: { kind: 'component', name: 'api' }, run: of });
  const titles = store.incidents({ limit: 9 }).map(({ id, title }) => [id, title.startsWith('simulated: ')]);
  expect(titles.sort()).toEqual([
    [1, false],
    [2, true],
    [3, true],
    [4, false],
  ]);
});

test('a rehearsal does not hold up the ticket of a real crash of the same type', () => {
  const clock = new FakeClock();
  const now = clock.wallNow();
  for (const isRehearsed of [false, true]) {
    const store = openMemoryStore({ clock });
    const { rootCause } = isRehearsed ? markSimulated(crashSample(), ASKED) : crashSample();
    store.commit({ tickets: [{ ...ticketSample(), number: 1, rootCause, told: [{ at: now, what: 'crash' }] }] });
    const filing = createFiling({
      ...{ store, clock, ticketService: { filed: () => {} } },
      settings: () => settings({ rateLimit: { perMs: HOUR, max: 1, by: 'type' } }),
      about: () => ({ command: null, cwd: null, assignedTo: null }),
    });
    const { tickets } = filing.after(incidentSample(3, now), { kind: 'crash', crash: crashSample() });
    expect(tickets).toHaveLength(isRehearsed ? 1 : 0);
  }
});

test('the report of agents says which crash was simulated, and nothing after the type of an error without a message', () => {
  const clock = new FakeClock();
  const { crash, store } = incidentsWorld({}, clock);
  const of = { errorType: 'MemoryError', errorMessage: '' };
  crash(markSimulated(crashOf('architect', 1, of), ASKED));
  crash(crashOf('architect', 2, of));
  const crashes = store.crashes({}).map((view) => ({ pid: 1, resolved: false, crash: view }));
  const { issues } = agentsReport({
    ...{ records: [], active: 0, crashes, issues: [], isLoopFrozen: false, lastPollAgeSeconds: null },
    at: wall(clock.wallNow()),
  });
  expect(issues.map(({ error }) => error).sort()).toEqual(['MemoryError', 'simulated: MemoryError']);
});
