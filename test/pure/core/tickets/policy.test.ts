import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TicketsSpec } from '../../../../src/incidents/tickets/ports.ts';
import type { ProblemEvidence } from '../../../../src/incidents/tickets/rules/evidence.ts';
import { afterNews, afterRecovery, closed, reopenedByHand } from '../../../../src/incidents/tickets/rules/notes.ts';
import { wordsOf } from '../../../../src/incidents/tickets/rules/pending-updates.ts';
import { ticketFor } from '../../../../src/incidents/tickets/rules/policy.ts';
import type { Ticket, TicketChange } from '../../../../src/incidents/tickets/rules/ticket.ts';
import {
  crashSample,
  HOUR,
  incidentSample,
  MINUTE,
  START,
  settings,
  ticketSample,
  wall,
} from '../../../support/ticket-samples.ts';

type Crash = Parameters<typeof crashSample>[0];

interface Case {
  readonly count?: number;
  readonly now?: number;
  readonly crash?: Crash;
  readonly spec?: TicketsSpec;
  readonly existing?: Ticket | null;
  readonly others?: readonly Ticket[];
}

const afterCrash = ({ count = 1, now = START, crash = {}, spec = settings(), existing = null, others = [] }: Case) =>
  ticketFor({
    incident: incidentSample(count, now),
    evidence: { kind: 'crash', crash: crashSample(crash) },
    ...{ settings: spec, existing, others: () => others, now: wall(now), nextNumber: 3, key: 'k'.repeat(32) },
  });

const deeds = (change: TicketChange | null) => change?.ticket.trackers['local']?.errands.map(({ deed }) => deed);
const types = (change: TicketChange | null) => change?.told.map(({ type }) => type);
/** As it is when its tracker has been told everything. */
const delivered = (ticket: Ticket): Ticket => ({
  ...ticket,
  trackers: Object.fromEntries(
    Object.entries(ticket.trackers).map(([name, one]) => [name, { ...one, errands: [], id: 'x' }]),
  ),
});

describe('when there is a ticket', () => {
  test.each<readonly [sentence: string, given: Case, isFiled: boolean]>([
    ['not at the first crash', { count: 1 }, false],
    ['not at the second', { count: 2 }, false],
    ['at the third', { count: 3 }, true],
    ['at the fourth, when there is none yet', { count: 4 }, true],
    ['at the first, when the settings say so', { count: 1, spec: settings({ afterCrashes: 1 }) }, true],
    ['at once when it is given up at its limit', { crash: { rule: 'limit' } }, true],
    ['at once when it is given up because of its exit code', { crash: { rule: 'never-on' } }, true],
    ['at once when it is never restarted', { crash: { rule: 'policy-never' } }, true],
    ['not when a start failed once', { crash: { rule: 'spawn-error', counters: { spawnErrors: 1 } } }, false],
    ['when it cannot be started at all', { crash: { rule: 'spawn-error', counters: { spawnErrors: 3 } } }, true],
    ['not because a quiet retry died', { crash: { rule: 'quiet-retry-failed' } }, false],
    [
      'not because a quiet retry could not be started',
      { crash: { rule: 'spawn-error', counters: { spawnErrors: 4 } } },
      false,
    ],
  ])('%s', (_, given, isFiled) => {
    const change = afterCrash(given);
    expect(change !== null).toBe(isFiled);
    if (isFiled) {
      expect(deeds(change)).toEqual(['create']);
      expect(types(change)).toEqual(['ticket.opened']);
    }
  });

  test('crashes more than 24 hours ago do not count', () => {
    const old = incidentSample(3, START, { recent: [START - 25 * HOUR, START - 24 * HOUR, START].map(wall) });
    const evidence = { kind: 'crash', crash: crashSample() } as const;
    const rest = { settings: settings(), existing: null, now: wall(START), nextNumber: 1, key: 'k' };
    expect(ticketFor({ incident: old, evidence, ...rest })).toBeNull();
  });

  test('without a tracker there is still a ticket, and nobody to tell', () => {
    const change = afterCrash({ count: 3, spec: settings({ trackers: [] }) });
    expect(change?.ticket.trackers).toEqual({});
    expect(change?.ticket).toMatchObject({ number: 3, state: 'open', count: 3 });
  });

  test('a problem without a crash makes one at once, as urgent and for whom it says', () => {
    const problem: ProblemEvidence = {
      ...{
        subject: { kind: 'component', name: 'work-loop' },
        fingerprint: 'v1:f',
        title: 'work-loop is frozen',
        rootCause: 'no sign of life for 89 min',
      },
      ...{
        category: 'freeze',
        priority: 'critical',
        assignedTo: 'ops',
        evidence: ['state T'],
        reproduction: ['wait'],
        relatedFiles: ['loop.py'],
        atOnce: true,
      },
    } as const;
    const rest = { settings: settings(), existing: null, now: wall(START), nextNumber: 1, key: 'k' };
    const change = ticketFor({ incident: incidentSample(1, START), evidence: { kind: 'problem', problem }, ...rest });
    expect(change?.ticket).toMatchObject({
      ...{ category: 'freeze', priority: 'critical', assignedTo: 'ops', title: 'work-loop is frozen' },
      ...{ errorLogs: 'state T', reproductionSteps: ['wait'], relatedFiles: ['loop.py'] },
    });
  });

  test('with a limit by type, a second kind of the same error waits until there is room', () => {
    const spec = settings({ rateLimit: { perMs: HOUR, max: 1, by: 'type' } });
    const others = [ticketSample(spec)].map((ticket) => ({ ...ticket, number: 1 }));
    expect(afterCrash({ count: 3, spec, others })).toBeNull();
    expect(afterCrash({ count: 4, spec, others, now: START + HOUR })).not.toBeNull();
    expect(afterCrash({ count: 3, spec, others, crash: { errorType: 'KeyError' } })).not.toBeNull();
    expect(afterCrash({ count: 3, spec, others, crash: { errorType: null } })).not.toBeNull();
  });

  test('with a limit by type, what is given up becomes a note on the ticket of the same type, not a second ticket', () => {
    const spec = settings({ rateLimit: { perMs: HOUR, max: 1, by: 'type' } });
    const others = [delivered({ ...ticketSample(spec), number: 1 })];
    const crash = { rule: 'limit', subject: { kind: 'component', name: 'billing' } } as const;
    const change = afterCrash({ count: 3, spec, others, crash });
    expect(change?.ticket).toMatchObject({ number: 1, count: 4, news: ['billing (given up)'] });
    expect(deeds(change)).toEqual(['update']);
    const soon = afterNews(delivered(change!.ticket), spec, wall(START + MINUTE));
    expect(deeds(soon)).toEqual(['comment']);
    expect(wordsOf(soon!.ticket.trackers['local']!.errands[0]!)).toContain('Also: billing (given up).');
  });
});

describe('what it says', () => {
  test('the cause, how to see it again, the files, the log and whom it is for', () => {
    const { ticket } = ticketFor({
      incident: incidentSample(3, START, { tasks: ['SPEC-111'], affected: ['api'] }),
      evidence: {
        kind: 'crash',
        crash: crashSample({
          subject: { kind: 'agent', name: 'architect' },
          agentType: 'architect',
          taskId: 'SPEC-111',
        }),
      },
      about: {
        command: ['python', '-m', 'agents.architect', '--task', 'SPEC 111'],
        cwd: '/srv/app',
        assignedTo: 'code_developer',
      },
      ...{ settings: settings(), existing: null, now: wall(START), nextNumber: 1, key: 'k' },
    })!;
    expect(ticket.title).toBe(
      "architect: ImportError: cannot import name 'SkillNames' from 'app.names' (app/names.py)",
    );
    expect(ticket.rootCause).toBe("app/names.py does not export 'SkillNames'");
    expect(ticket.reproductionSteps).toEqual([
      'keepwell spawn architect --task SPEC-111',
      "which runs in /srv/app: python -m agents.architect --task 'SPEC 111'",
      'Task: SPEC-111',
      'After 2 s it ends: exit code 1',
      "It says: ImportError: cannot import name 'SkillNames' from 'app.names' (app/names.py)",
    ]);
    expect(ticket.relatedFiles).toEqual(['app/names.py', 'app/skills.py']);
    expect(ticket.errorLogs).toContain('Traceback');
    expect(ticket).toMatchObject({ assignedTo: 'code_developer', priority: 'high', tasks: ['SPEC-111'], count: 3 });
    expect(ticket.description).toContain('depend on it: api');
  });

  test.each<readonly [type: string | null, count: number, priority: string]>([
    ['ImportError', 3, 'high'],
    ['app.errors.TimeoutError', 3, 'low'],
    ['MyApp::TimeoutError', 3, 'low'],
    ['KeyError', 3, 'medium'],
    [null, 3, 'medium'],
    ['toString', 3, 'medium'],
    ['TimeoutError', 10, 'low'],
    ['TimeoutError', 11, 'critical'],
  ])('%s crashing %i times is %s', (errorType, count, priority) => {
    expect(afterCrash({ count, crash: { errorType } })?.ticket.priority).toBe(priority);
  });

  test('a frozen component makes a ticket about a freeze', () => {
    const freeze = {
      reason: 'frozen: no heartbeat for 5 min',
      silent_since: '2026-01-02T00:00:00.000Z',
      steps: [],
      evidence: ['state D'],
    };
    const { ticket } = afterCrash({ count: 3, crash: { freeze } })!;
    expect(ticket).toMatchObject({ category: 'freeze', title: 'worker: frozen: no heartbeat for 5 min' });
    expect(ticket.errorLogs).toContain('state D');
  });
});

describe('when it happens again', () => {
  const existing = delivered(ticketSample());

  test('within the hour only the count is kept', () => {
    const change = afterCrash({ count: 4, now: START + MINUTE, existing });
    expect(change?.ticket).toMatchObject({ number: 3, count: 4, lastSeen: START + MINUTE });
    expect(deeds(change)).toEqual(['update']);
    expect(types(change)).toEqual([]);
  });

  test('after an hour the new count is told', () => {
    const change = afterCrash({ count: 9, now: START + HOUR, existing });
    expect(deeds(change)).toEqual(['comment']);
    expect(change?.ticket.trackers['local']?.errands[0]?.text).toMatch(/9 times so far/);
    expect(types(change)).toEqual(['ticket.commented']);
  });

  test('a quiet retry that died is counted, and nothing is said', () => {
    const quiet = { rule: 'quiet-retry-failed' } as const;
    expect(deeds(afterCrash({ count: 9, now: START + 5 * HOUR, existing, crash: quiet }))).toEqual(['update']);
    const shut = delivered(closed(existing, settings(), wall(START + 1))!.ticket);
    expect(deeds(afterCrash({ count: 9, now: START + 5 * HOUR, existing: shut, crash: quiet }))).toEqual(['reopen']);
  });

  test('a clock that was set back does not silence it', () => {
    expect(deeds(afterCrash({ count: 9, now: START - 5 * HOUR, existing }))).toEqual(['comment']);
  });

  test('becoming critical is told at once, and only once', () => {
    const first = afterCrash({ count: 11, now: START + MINUTE, existing });
    expect(deeds(first)).toEqual(['comment']);
    expect(first?.ticket.priority).toBe('critical');
    const second = afterCrash({ count: 12, now: START + 2 * MINUTE, existing: delivered(first!.ticket) });
    expect(deeds(second)).toEqual(['update']);
  });

  test('a priority is never lowered', () => {
    const critical: Ticket = { ...existing, priority: 'critical' };
    expect(afterCrash({ count: 4, now: START + HOUR, existing: critical })?.ticket.priority).toBe('critical');
  });

  test('a closed ticket is reopened at the first crash, whatever the rate limit says', () => {
    const shut = delivered(closed(existing, settings(), wall(START + 1))!.ticket);
    const change = afterCrash({ count: 4, now: START + MINUTE, existing: shut });
    expect(change?.ticket).toMatchObject({ state: 'open', closedAt: null, number: 3 });
    expect(deeds(change)).toEqual(['reopen']);
    expect(types(change)).toEqual(['ticket.reopened']);
  });

  test('a tracker that was added later is asked to create it', () => {
    const spec = settings({
      trackers: [...settings().trackers, { name: 'local-2', kind: 'local', target: '/b', dir: '/b' }],
    });
    const { ticket } = afterCrash({ count: 9, now: START + HOUR, existing, spec })!;
    expect(ticket.trackers['local-2']?.errands.map(({ deed }) => deed)).toEqual(['create']);
  });

  test('a tracker of the same name that leads elsewhere begins anew', () => {
    const spec = settings({ trackers: [{ name: 'local', kind: 'local', target: '/b', dir: '/b' }] });
    const { ticket } = afterCrash({ count: 9, now: START + HOUR, existing, spec })!;
    expect(ticket.trackers['local']).toMatchObject({ target: '/b', id: null, errands: [{ deed: 'create' }] });
  });
});

describe('recovery, closing and reopening', () => {
  const existing = delivered(ticketSample());

  test('a recovery is told once for each time that trouble was told', () => {
    const well = afterRecovery(existing, settings(), wall(START + MINUTE))!;
    expect(deeds(well)).toEqual(['recovered']);
    const again = afterCrash({ count: 4, now: START + 2 * MINUTE, existing: delivered(well.ticket) })!;
    expect(deeds(again)).toEqual(['update']);
    expect(afterRecovery(delivered(again.ticket), settings(), wall(START + 3 * MINUTE))).toBeNull();
    const later = afterCrash({ count: 5, now: START + 2 * HOUR, existing: delivered(again.ticket) })!;
    expect(deeds(later)).toEqual(['comment']);
    expect(afterRecovery(delivered(later.ticket), settings(), wall(START + 3 * HOUR))).not.toBeNull();
  });

  test('nothing is said about a closed one', () => {
    const shut = closed(existing, settings(), wall(START + 1))!.ticket;
    expect(afterRecovery(shut, settings(), wall(START + 2))).toBeNull();
  });

  test('closing twice and reopening twice changes nothing', () => {
    const shut = closed(existing, settings(), wall(START + 1))!;
    expect(shut.ticket).toMatchObject({ state: 'closed', closedAt: START + 1 });
    expect(closed(shut.ticket, settings(), wall(START + 2))).toBeNull();
    const open = reopenedByHand(shut.ticket, settings(), wall(START + 3))!;
    expect(open.ticket).toMatchObject({ state: 'open', closedAt: null });
    expect(reopenedByHand(open.ticket, settings(), wall(START + 4))).toBeNull();
  });
});

test('whatever happens while a tracker is away, little is left to tell it, and creating comes first', () => {
  const step = fc.constantFrom('crash', 'recover', 'close', 'reopen');
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.nat(3 * HOUR), (steps, gap) => {
      let ticket = ticketSample();
      ticket = { ...ticket, trackers: { local: { ...ticket.trackers['local']!, attempts: 1 } } };
      let count = 3;
      let now = START;
      for (const what of steps) {
        now += gap;
        const change = {
          crash: () => afterCrash({ count: ++count, now, existing: ticket }),
          recover: () => afterRecovery(ticket, settings(), wall(now)),
          close: () => closed(ticket, settings(), wall(now)),
          reopen: () => reopenedByHand(ticket, settings(), wall(now)),
        }[what]();
        ticket = change?.ticket ?? ticket;
      }
      const errands = ticket.trackers['local']!.errands;
      expect(errands[0]?.deed).toBe('create');
      expect(errands.length).toBeLessThanOrEqual(5);
      expect(ticket.told.length).toBeLessThanOrEqual(50);
    }),
  );
});
