/** What every store promises about incidents and tickets, and about crashes that belong to one. */

import { expect, test } from 'vitest';
import type { Store } from '../../src/history/ports.ts';
import type { Ticket } from '../../src/incidents/tickets/rules/ticket.ts';
import { incidentOf } from '../support/case-samples.ts';
import { crashOf, wall } from '../support/history-samples.ts';
import { ticketSample } from '../support/ticket-samples.ts';

const ticketOf = (over: Partial<Ticket>): Ticket => ({ ...ticketSample(), ...over });

export function caseRules(store: () => Store): void {
  const ids = (state?: 'open' | 'resolved', limit = 10) =>
    store()
      .incidents({ state, limit })
      .map(({ id }) => id);

  test('an incident comes back as it was given, is written over itself, and is found by state', () => {
    store().commit({ incidents: [incidentOf(1), incidentOf(2, { tasks: ['T-1'], affected: ['web', 'worker'] })] });
    expect(store().incident(2)).toEqual(incidentOf(2, { tasks: ['T-1'], affected: ['web', 'worker'] }));
    const resolved = incidentOf(1, { state: 'resolved', resolvedAt: wall(9_000), waiting: [], count: 4 });
    store().commit({ incidents: [resolved] });
    expect(store().incident(1)).toEqual(resolved);
    expect([ids(), ids('open'), ids('resolved'), ids(undefined, 1)]).toEqual([[2, 1], [2], [1], [2]]);
    expect(store().incident(7)).toBeNull();
  });

  test('an incident is found by its fingerprint, whatever its tasks are, the newest of several', () => {
    const same = { fingerprint: 'v1:same' };
    store().commit({ incidents: [incidentOf(1, same), incidentOf(3, { ...same, tasks: ['T'] }), incidentOf(2, same)] });
    expect(store().incidentOf('v1:same')?.id).toBe(3);
    expect(store().incidentOf('v1:other')).toBeNull();
  });

  test('a ticket comes back as it was given, by number, by fingerprint and by state', () => {
    const [first, second] = [ticketOf({ number: 1 }), ticketOf({ number: 2, state: 'closed', closedAt: wall(1) })];
    store().commit({ tickets: [first] }, { tickets: [second] });
    expect(store().tickets({ limit: 10 })).toEqual([second, first]);
    expect(store().tickets({ state: 'open', limit: 10 })).toEqual([first]);
    expect([store().ticket(2), store().ticket(3)]).toEqual([second, null]);
    expect(store().ticketByFingerprint(first.fingerprint)).toEqual(second);
  });

  test('numbers that were used are remembered', () => {
    expect([store().lastNumber('incident'), store().lastNumber('ticket')]).toEqual([0, 0]);
    store().commit({ incidents: [incidentOf(7)], tickets: [ticketOf({ number: 4 })] });
    store().commit({ incidents: [incidentOf(3)] });
    expect([store().lastNumber('incident'), store().lastNumber('ticket')]).toEqual([7, 4]);
  });

  test('a crash shows its incident, and the ticket that this has by now', () => {
    store().commit({ crash: crashOf('api', 1, { incident: 1 }), incidents: [incidentOf(1)] });
    expect(store().crashes({})).toMatchObject([{ incident: 1, ticket: null }]);
    store().commit({ incidents: [incidentOf(1, { ticket: 3 })] });
    expect(store().crashes({})).toMatchObject([{ incident: 1, ticket: 'BUG-003' }]);
    expect(store().why({ id: 1 })).toMatchObject({ incident: 1, ticket: 'BUG-003' });
  });

  test('why shows the stack, the files and the fingerprint; of a crash without them it says so', () => {
    const told = { stack: ['Traceback', 'ImportError: x'], relatedFiles: ['app.py'], fingerprint: 'v1:ab' };
    store().commit({ crash: crashOf('api', 1, told) }, { crash: crashOf('api', 2) });
    expect(store().why({ id: 1 })).toMatchObject({
      ...{ stack: told.stack, related_files: ['app.py'], fingerprint: 'v1:ab' },
    });
    expect(store().why({ id: 2 })).toMatchObject({ stack: [], related_files: [], fingerprint: null });
  });

  test('crashes are asked for by subject, kind, agent, task, type, incident and time, also together', () => {
    const agent = (task: string) =>
      ({ subject: { kind: 'agent', name: 'architect' }, agentType: 'architect', taskId: task }) as const;
    store().commit(
      { crash: crashOf('api', 1, { errorType: 'ImportError', incident: 1 }) },
      { crash: crashOf('api', 2, { ...agent('T-1'), errorType: 'ImportError', incident: 2, pid: 77 }) },
      { crash: crashOf('api', 3, { ...agent('T-2'), errorType: 'ValueError' }) },
      { crash: crashOf('architect', 4) },
      { crash: crashOf('x', 5, { subject: { kind: 'session', name: 'api' } }) },
    );
    const found = (query: Parameters<Store['crashes']>[0]) =>
      store()
        .crashes(query)
        .map(({ id }) => id);
    expect(found({ component: 'api' })).toEqual([1]);
    expect(found({ subject: 'api' })).toEqual([5, 1]);
    expect(found({ kind: 'session' })).toEqual([5]);
    expect(found({ agent: 'architect' })).toEqual([3, 2]);
    expect(found({ subject: 'architect' })).toEqual([4, 3, 2]);
    expect(found({ agent: 'architect', task: 'T-2' })).toEqual([3]);
    expect(found({ task: 'T-1' })).toEqual([2]);
    expect(found({ task: 'T-1', type: 'ValueError' })).toEqual([]);
    expect(found({ type: 'ImportError' })).toEqual([2, 1]);
    expect(found({ incident: 2 })).toEqual([2]);
    expect(found({ incident: 2, component: 'api' })).toEqual([]);
    expect(found({ since: wall(3_500), type: 'ValueError' })).toEqual([3]);
    expect(found({ kind: 'agent', limit: 1 })).toEqual([3]);
    expect(store().crashes({ task: 'T-1' })[0]).toMatchObject({ agent_type: 'architect', task_id: 'T-1' });
  });

  test('why is asked by component, or by whatever is called so', () => {
    store().commit(
      { crash: crashOf('api', 1) },
      { crash: crashOf('s', 2, { subject: { kind: 'session', name: 'api' } }) },
    );
    expect(store().why({ component: 'api' })?.id).toBe(1);
    expect(store().why({ subject: 'api' })?.id).toBe(2);
    expect(store().why({ subject: 'api', kind: 'component' })?.id).toBe(1);
    expect(store().why({ subject: 'api', kind: 'agent' })).toBeNull();
  });

  test.each([["'; DROP TABLE incidents; --"], ['a\nb\u001b[31m'], ['💥']])(
    '%j in texts comes back as it was',
    (text) => {
      const incident = incidentOf(1, { title: text, rootCause: text, tasks: [text], fingerprint: text });
      store().commit({ incidents: [incident] });
      expect(store().incidentOf(text)).toEqual(incident);
    },
  );
}
