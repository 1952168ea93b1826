/** The ticket of an incident: by the rules for tickets, written with the crash, delivered once that is safe. */
import { randomBytes } from 'node:crypto';
import type { Incident } from '../../core/incidents/incident.ts';
import { isSimulated } from '../../core/simulate/simulation.ts';
import type { Circumstances, Evidence } from '../../core/tickets/evidence.ts';
import { afterRecovery } from '../../core/tickets/notes.ts';
import { ticketFor } from '../../core/tickets/policy.ts';
import type { TicketsSpec } from '../../core/tickets/settings.ts';
import type { Ticket, TicketChange } from '../../core/tickets/ticket.ts';
import type { Clock } from '../../ports/clock.ts';
import type { NewEvent, Store } from '../../ports/store.ts';
import type { TicketDesk } from '../../ports/tickets.ts';

export interface FilingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly desk: Pick<TicketDesk, 'filed'>;
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
  recovered(incident: Incident): Filed;
}

const KEY_BYTES = 16;
/** Those that may have been told about within the longest rate limit people set. */
const MAX_OTHERS = 500;

export function createFiling({ store, clock, desk, settings, about }: FilingParts): Filing {
  const ticketOf = ({ ticket }: Incident) => (ticket === null ? null : store.ticket(ticket));

  function filed(incident: Incident, change: TicketChange | null): Filed {
    if (change === null) return { incident, tickets: [], events: [] };
    const { ticket, told } = change;
    const at = clock.wallNow();
    const events = told.map(({ type, data }) => ({ at, subject: ticket.subject, type, run: null, data }));
    // Behind what is being committed now: it is called when that is on the disk.
    queueMicrotask(() => store.commit({ onDurable: () => desk.filed([ticket]) }));
    return { incident: { ...incident, ticket: ticket.number }, tickets: [ticket], events };
  }

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
    recovered: (incident) => {
      const ticket = ticketOf(incident);
      return filed(incident, ticket && afterRecovery(ticket, settings(), clock.wallNow()));
    },
  };
}

/** A rehearsal bothers nobody outside, unless that was asked for. */
const settingsFor = (evidence: Evidence, settings: TicketsSpec): TicketsSpec =>
  (evidence.kind === 'crash' ? evidence.crash : evidence.problem).simulated?.notify === false
    ? { ...settings, trackers: settings.trackers.filter(({ kind }) => kind === 'local') }
    : settings;
