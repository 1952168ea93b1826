/** Who a ticket is about, and how that is written. */
import { describe, expect, test } from 'vitest';
import type { ProblemEvidence } from '../../../../src/incidents/tickets/rules/evidence.ts';
import { commentBody, issueBody } from '../../../../src/incidents/tickets/rules/markdown.ts';
import { afterNews, withMembers } from '../../../../src/incidents/tickets/rules/notes.ts';
import { withPendingUpdate, wordsOf } from '../../../../src/incidents/tickets/rules/pending-updates.ts';
import { ticketFor } from '../../../../src/incidents/tickets/rules/policy.ts';
import { type Ticket, ticketFromRecord } from '../../../../src/incidents/tickets/rules/ticket.ts';
import { oneTicketView } from '../../../../src/incidents/tickets/rules/view.ts';
import { HOUR, incidentSample, MINUTE, START, settings, ticketSample, wall } from '../../../support/ticket-samples.ts';

const component = (name: string) => ({ kind: 'component', name }) as const;
/** As it is when its tracker has been told everything. */
const delivered = (ticket: Ticket): Ticket => ({
  ...ticket,
  trackers: Object.fromEntries(
    Object.entries(ticket.trackers).map(([name, one]) => [name, { ...one, errands: [], id: 'x' }]),
  ),
});
const joined = (ticket: Ticket, ...names: readonly string[]): Ticket =>
  withMembers(ticket, { subjects: names.map(component), tasks: [], affected: [] });

describe('who joins a ticket', () => {
  test('is told of after a minute, all of them at once, and the next ones an hour later', () => {
    const first = joined(delivered(ticketSample()), 'billing', 'mail');
    expect(afterNews(first, settings(), wall(START + MINUTE - 1))).toBeNull();
    const told = afterNews(first, settings(), wall(START + MINUTE));
    const [update] = told!.ticket.trackers['local']!.errands;
    expect(wordsOf(update!)).toMatch(/^It happened 3 times so far, last .*\. Also: billing, mail\.$/);
    expect(told?.ticket).toMatchObject({ news: [], subjects: ['worker', 'billing', 'mail'].map(component) });
    const more = joined(delivered(told!.ticket), 'cron');
    expect(afterNews(more, settings(), wall(START + 2 * MINUTE))).toBeNull();
    expect(afterNews(more, settings(), wall(START + MINUTE + HOUR))?.ticket.news).toEqual([]);
  });

  test('is not forgotten when a later note takes the place of one that was never sent', () => {
    const ticket = delivered(ticketSample());
    const [{ trackers }, at] = [settings(), wall(START)];
    const notes = [['billing'], ['mail'], []].map((also) => ({ deed: 'comment', text: 'Again.', also }) as const);
    const queued = notes.reduce<Ticket>(
      (each, note) => withPendingUpdate(each, trackers, note, at),
      withPendingUpdate(ticket, trackers, { deed: 'update', text: '' }, at),
    );
    const last = queued.trackers['local']!.errands.at(-1)!;
    expect(queued.trackers['local']!.errands).toHaveLength(2);
    expect(wordsOf(last)).toBe('Again. Also: billing, mail.');
  });

  test('is counted when there are too many to name', () => {
    const also = Array.from({ length: 40 }, (_, n) => `task T-${n + 1}`);
    expect(wordsOf({ text: 'Again.', also })).toMatch(/^Again\. Also: task T-1, .*, task T-30 and 10 more\.$/);
  });

  test('cannot get out of the code that it stands in', () => {
    const body = commentBody({ key: 'k', text: 'Again.', also: ['``` @everyone'] });
    expect(body).toContain('\n````text\n');
  });
});

test('an issue names all components, tasks and affected, and a ticket shows them', () => {
  const ticket = {
    ...ticketSample(),
    subjects: ['worker', 'billing'].map(component),
    tasks: ['T-1', 'T-2'],
    affected: ['web'],
  };
  const body = issueBody(ticket);
  expect(body).toContain(
    '| Of | component `worker` |\n| Also of | `billing` |\n| Tasks | `T-1`, `T-2` |\n| Affected | `web` |',
  );
  expect(oneTicketView(ticket).ticket).toMatchObject({ tasks: ['T-1', 'T-2'], task_id: null, affected: ['web'] });
});

test('a ticket as it was written before is read as one of its one task', () => {
  const { subjects: _, tasks: __, affected: ___, news: ____, steps: _____, ...old } = ticketSample();
  const ticket = ticketFromRecord({ ...old, taskId: 'T-1' });
  expect(ticket).toMatchObject({ subjects: [component('worker')], tasks: ['T-1'], affected: [], news: [] });
  expect(issueBody(ticket)).toContain('1. `keepwell start worker`');
});

describe('how to see it again', () => {
  test('reads as sentences, with only commands and what was printed in code', () => {
    const body = issueBody(ticketSample());
    expect(body).toContain(
      '1. `keepwell start worker`\n2. After 2 s it ends: `exit code 1`\n3. It says: `ImportError: ',
    );
  });

  test('of a problem quotes what is to be typed, and names a file as what it is', () => {
    const problem: ProblemEvidence = {
      ...{ subject: { kind: 'agent', name: 'agent_state.json' }, fingerprint: 'v1:f', title: '2 dead entries' },
      ...{ rootCause: 'they died', category: 'cleanup', priority: 'low', assignedTo: null, atOnce: true },
      ...{ evidence: [], relatedFiles: [], reproduction: ['"keepwell agents" says @all that <is> there.'] },
    };
    const rest = { settings: settings(), existing: null, now: wall(START), nextNumber: 1, key: 'k' };
    const incident = incidentSample(1, START, { subjects: [problem.subject] });
    const { ticket } = ticketFor({ incident, evidence: { kind: 'problem', problem }, ...rest })!;
    const body = issueBody(ticket);
    expect(body).toContain('1. `keepwell agents` says @\u200ball that \\<is\\> there.');
    expect(body).toContain('| Of | state file `agent_state.json` |');
    expect(ticket.reproductionSteps).toEqual(['"keepwell agents" says @all that <is> there.']);
  });
});
