/** What is said about a ticket after it was filed, and the other changes it can go through. */
import { describeExit } from '../exit.ts';
import { formatDuration } from '../format.ts';
import type { WallMs } from '../ids.ts';
import { isSimulated } from '../simulate/simulation.ts';
import { cleanLine } from './clean.ts';
import { withErrand } from './errands.ts';
import type { Evidence } from './evidence.ts';
import { bugNumber } from './number.ts';
import { withTold } from './rate.ts';
import type { TicketsSpec } from './settings.ts';
import { headline } from './text.ts';
import type { Ticket, TicketChange, TicketEvent } from './ticket.ts';

const MAX_NOTE_CHARS = 1_500;

export const openedEvent = ({ number, title, priority, count, incident }: Ticket): TicketEvent => ({
  type: 'ticket.opened',
  data: { ticket: bugNumber(number), title, priority, count, incident },
});

/** "It happened again: 7 times by now, the last time …" */
export function againText(evidence: Evidence, before: Ticket, after: Ticket, secrets: readonly string[] = []): string {
  const raised = after.priority === before.priority ? '' : ` The priority is ${after.priority} now.`;
  const reopened = before.state === 'closed' ? 'Reopened. ' : '';
  const text = `${reopened}It happened again: ${after.count} times by now, last ${iso(after.lastSeen)}.${raised} ${last(evidence)}`;
  return cleanLine(text, MAX_NOTE_CHARS, secrets);
}

function last(evidence: Evidence): string {
  if (evidence.kind === 'problem') return evidence.problem.rootCause;
  const { crash } = evidence;
  return `${headline(crash)} (${describeExit(crash.exit)}, after ${formatDuration(crash.uptimeMs)})`;
}

/** All is well again. Said once for each time that trouble was told, so that flapping does not fill a tracker. */
export function afterRecovery(ticket: Ticket, settings: TicketsSpec, now: WallMs): TicketChange | null {
  if (ticket.state === 'closed' || ticket.told.at(-1)?.what === 'recovery') return null;
  // The task of a rehearsal does not exist: nobody is well, it is just over.
  const isOver = isSimulated(ticket.rootCause) && ticket.taskId !== null;
  const text = `${isOver ? 'The rehearsal is over' : 'It is well again'}, as seen ${iso(now)}, after ${ticket.count} ${ticket.count === 1 ? 'time' : 'times'}. The ticket stays open until somebody closes it.`;
  const said: Ticket = { ...ticket, told: withTold(ticket.told, now, 'recovery') };
  return {
    ticket: withErrand(said, settings.trackers, 'recovered', text, now),
    told: [{ type: 'ticket.commented', data: { ticket: bugNumber(ticket.number), count: ticket.count, text } }],
  };
}

/** Null: it is closed already. */
export function closed(ticket: Ticket, settings: TicketsSpec, now: WallMs): TicketChange | null {
  if (ticket.state === 'closed') return null;
  const shut: Ticket = { ...ticket, state: 'closed', closedAt: now };
  return {
    ticket: withErrand(shut, settings.trackers, 'close', `Closed with Keepwell, ${iso(now)}.`, now),
    told: [{ type: 'ticket.closed', data: { ticket: bugNumber(ticket.number), count: ticket.count } }],
  };
}

/** Null: it is open already. */
export function reopenedByHand(ticket: Ticket, settings: TicketsSpec, now: WallMs): TicketChange | null {
  if (ticket.state === 'open') return null;
  const open: Ticket = { ...ticket, state: 'open', closedAt: null };
  // A rehearsal that was none of a tracker's business still is not.
  const isConcerned = ({ name, kind }: { name: string; kind: string }) =>
    !isSimulated(ticket.rootCause) || kind === 'local' || ticket.trackers[name] !== undefined;
  const trackers = settings.trackers.filter(isConcerned);
  return {
    ticket: withErrand(open, trackers, 'reopen', `Reopened with Keepwell, ${iso(now)}.`, now),
    told: [
      { type: 'ticket.reopened', data: { ticket: bugNumber(ticket.number), count: ticket.count, reason: 'by hand' } },
    ],
  };
}

const iso = (wallMs: number): string => new Date(wallMs).toISOString();
