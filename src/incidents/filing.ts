/** The ticket of an incident: by the rules for tickets, written with the crash, delivered once that is safe. */

import { randomBytes } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { Store } from '../history/ports.ts';
import type { NewEvent } from '../supervision/ports/store.ts';
import { isSimulated } from '../supervision/rules/simulation.ts';
import type { Incident } from './rules/incident.ts';
import { TRACKER_KINDS } from './tickets/kinds.ts';
import type { TicketService, TicketsSpec } from './tickets/ports.ts';
import type { Circumstances, CrashEvidence, Evidence } from './tickets/rules/evidence.ts';
import { afterExamination, afterNews, afterRecovery, joined } from './tickets/rules/notes.ts';
import { ticketFor } from './tickets/rules/policy.ts';
import { redacted } from './tickets/rules/redacted.ts';
import type { Ticket, TicketChange } from './tickets/rules/ticket.ts';
import { concerned } from './tickets/service.ts';

export interface FilingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ticketService: Pick<TicketService, 'filed'>;
  settings(): TicketsSpec;
  /** How it was started, and whose work it is. */
  about(evidence: Evidence): Circumstances;
}

export interface Filed {
  readonly incident: Incident;
  readonly tickets: readonly Ticket[];
  readonly events: readonly NewEvent[];
}

export interface Filing {
  /** After a crash or a problem that is counted in already. */
  after(incident: Incident, evidence: Evidence): Filed;
  /** Somebody is affected that was not. */
  joined(incident: Incident): Filed;
  /** A frozen run has ended: what it was doing is known by now. */
  examined(incident: Incident, crash: CrashEvidence): Filed;
  recovered(incident: Incident): Filed;
  /** Who joined lately and may be told of now. */
  news(): readonly Omit<Filed, 'incident'>[];
}

const KEY_BYTES = 16;
/** Those that may have been told about within the longest rate limit people set. */
const MAX_OTHERS = 500;

export function createFiling({ store, clock, ticketService, settings, about }: FilingParts): Filing {
  const ticketOf = ({ ticket }: Incident) => (ticket === null ? null : store.ticket(ticket));
  /** Numbers of tickets that somebody joined whom trackers were not told of. */
  const withNews = new Set(
    store
      .tickets({ state: 'open', limit: MAX_OTHERS })
      .filter(({ news }) => news.length > 0)
      .map(({ number }) => number),
  );

  function changed(change: TicketChange): Omit<Filed, 'incident'> {
    const { ticket, told } = change;
    const at = clock.wallNow();
    const events = told.map(({ type, data }) => ({ at, subject: ticket.subject, type, run: null, data }));
    if (ticket.news.length > 0) withNews.add(ticket.number);
    else withNews.delete(ticket.number);
    // Behind what is being committed now: it is called when that is on the disk.
    queueMicrotask(() => store.commit({ syncLater: true, onDurable: () => ticketService.filed([ticket]) }));
    return { tickets: [ticket], events };
  }

  const filed = (incident: Incident, change: TicketChange | null): Filed =>
    change === null
      ? { incident, tickets: [], events: [] }
      : { incident: { ...incident, ticket: change.ticket.number }, ...changed(change) };

  return {
    after: (incident, evidence) =>
      filed(
        incident,
        ticketFor({
          ...{ incident, evidence },
          about: about(evidence),
          settings: settingsFor(evidence, settings()),
          existing: ticketOf(incident),
          // A rehearsal holds up no ticket of something real.
          others: () => store.tickets({ limit: MAX_OTHERS }).filter(({ rootCause }) => !isSimulated(rootCause)),
          now: clock.wallNow(),
          nextNumber: store.lastNumber('ticket') + 1,
          key: randomBytes(KEY_BYTES).toString('hex'),
        }),
      ),
    joined: (incident) => {
      const ticket = ticketOf(incident);
      return filed(incident, ticket && joined(ticket, incident, concerned(ticket, settings()), clock.wallNow()));
    },
    examined: (incident, crash) => {
      const ticket = ticketOf(incident);
      if (ticket === null) return filed(incident, null);
      const evidence: Evidence = { kind: 'crash', crash };
      const known = about(evidence).secrets ?? [];
      const clean = redacted(evidence, known);
      if (clean.kind !== 'crash') return filed(incident, null);
      const when = { now: clock.wallNow(), known };
      return filed(incident, afterExamination(ticket, clean.crash, settingsFor(evidence, settings()), when));
    },
    recovered: (incident) => {
      const ticket = ticketOf(incident);
      return filed(incident, ticket && afterRecovery(ticket, concerned(ticket, settings()), clock.wallNow()));
    },
    news: () =>
      [...withNews].flatMap((number) => {
        const ticket = store.ticket(number);
        if (ticket === null || ticket.news.length === 0 || ticket.state === 'closed') withNews.delete(number);
        const change = ticket && afterNews(ticket, concerned(ticket, settings()), clock.wallNow());
        return change === null ? [] : [changed(change)];
      }),
  };
}

/** A rehearsal bothers nobody outside, unless that was asked for. */
const settingsFor = (evidence: Evidence, settings: TicketsSpec): TicketsSpec =>
  (evidence.kind === 'crash' ? evidence.crash : evidence.problem).simulated?.notify === false
    ? { ...settings, trackers: settings.trackers.filter(({ kind }) => !TRACKER_KINDS[kind].isElsewhere) }
    : settings;
