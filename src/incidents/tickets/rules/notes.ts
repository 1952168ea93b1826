/** What is said about a ticket after it was filed, and the other changes it can go through. */
import { describeExit } from '../../../base/pure/exit.ts';
import { formatDuration } from '../../../base/pure/format.ts';
import type { WallMs } from '../../../base/pure/ids.ts';
import { isSimulated } from '../../../supervision/rules/simulation.ts';
import type { Incident } from '../../rules/incident.ts';
import { withErrand } from './errands.ts';
import type { CrashEvidence, Evidence } from './evidence.ts';
import { withMembers } from './members.ts';
import { bugNumber } from './number.ts';
import { mayTellNews, withTold } from './rate.ts';
import type { TicketsSpec } from './settings.ts';
import { cleanLine, headline, textOfEnd } from './text.ts';
import type { Ticket, TicketChange, TicketEvent } from './ticket.ts';

const MAX_NOTE_CHARS = 1_500;

export const openedEvent = ({ number, title, priority, count, incident }: Ticket): TicketEvent => ({
  type: 'ticket.opened',
  data: { ticket: bugNumber(number), title, priority, count, incident },
});

/** "It happened again: 7 times so far, the last time …" */
export function againText(evidence: Evidence, before: Ticket, after: Ticket, secrets: readonly string[] = []): string {
  const raised = after.priority === before.priority ? '' : ` The priority is ${after.priority} now.`;
  const reopened = before.state === 'closed' ? 'Reopened. ' : '';
  const text = `${reopened}It happened again: ${after.count} times so far, last ${iso(after.lastSeen)}.${raised} ${last(evidence)}`;
  return cleanLine(text, MAX_NOTE_CHARS, secrets);
}

function last(evidence: Evidence): string {
  if (evidence.kind === 'problem') return evidence.problem.rootCause;
  const { crash } = evidence;
  return `${headline(crash)} (${describeExit(crash.exit)}; ran for ${formatDuration(crash.uptimeMs)})`;
}

/** All is well again. Said once for each time that trouble was told, so that flapping does not fill a tracker. */
export function afterRecovery(ticket: Ticket, settings: TicketsSpec, now: WallMs): TicketChange | null {
  if (ticket.state === 'closed' || ticket.told.at(-1)?.what === 'recovery') return null;
  // The task of a rehearsal does not exist: nobody is well, it is just over.
  const isOver = isSimulated(ticket.rootCause) && ticket.tasks.length > 0;
  const text = `${isOver ? 'The simulated crash is over' : 'Recovered'}, as seen ${iso(now)}; it had happened ${ticket.count === 1 ? 'once' : `${ticket.count} times`}. The ticket stays open until somebody closes it.`;
  const said: Ticket = { ...ticket, news: [], told: withTold(ticket.told, now, 'recovery') };
  const also = ticket.news.length === 0 ? {} : { also: ticket.news };
  return {
    ticket: withErrand(said, settings.trackers, { deed: 'recovered', text, ...also }, now),
    told: [
      { type: 'ticket.commented', data: { ticket: bugNumber(ticket.number), count: ticket.count, text, ...also } },
    ],
  };
}

/** Somebody is affected that was not. Null: nobody is. */
export function joined(
  ticket: Ticket,
  { affected }: Pick<Incident, 'affected'>,
  settings: TicketsSpec,
  now: WallMs,
): TicketChange | null {
  const named = withMembers(ticket, { subjects: [], tasks: [], affected });
  if (named === ticket) return null;
  return { ticket: withErrand(named, settings.trackers, { deed: 'update', text: '' }, now), told: [] };
}

/** Who joined since trackers were told last, once they may be told. Null: nobody did, or not yet. */
export function afterNews(ticket: Ticket, settings: TicketsSpec, now: WallMs): TicketChange | null {
  const { news: also } = ticket;
  if (also.length === 0 || ticket.state === 'closed' || !mayTellNews(settings.rateLimit, ticket, now)) return null;
  const text = `It happened ${ticket.count} times so far, last ${iso(ticket.lastSeen)}.`;
  const said: Ticket = { ...ticket, news: [], told: withTold(ticket.told, now, 'news') };
  return {
    ticket: withErrand(said, settings.trackers, { deed: 'comment', text, also }, now),
    told: [{ type: 'ticket.commented', data: { ticket: bugNumber(ticket.number), count: ticket.count, text, also } }],
  };
}

/**
 * A frozen process was looked at when it was ended, after its ticket was filed: what it was doing is what a developer needs. Null:
 * the ticket has it, or nothing was found.
 */
export function afterExamination(
  ticket: Ticket,
  crash: CrashEvidence,
  settings: TicketsSpec,
  { now, known }: { readonly now: WallMs; readonly known: readonly string[] },
): TicketChange | null {
  const { freeze, stack = [], relatedFiles = [] } = crash;
  if (ticket.category !== 'freeze' || ticket.state === 'closed' || ticket.examined || freeze === undefined) return null;
  if (freeze.evidence.length + stack.length === 0) return null;
  const { errorLogs, relatedFiles: files } = textOfEnd(
    { ...crash, relatedFiles: [...ticket.relatedFiles, ...relatedFiles] },
    known,
  );
  const examined: Ticket = {
    ...ticket,
    examined: true,
    errorLogs: [ticket.errorLogs, errorLogs].filter((part) => part !== '').join('\n\n'),
    relatedFiles: [...new Set(files)],
  };
  const text = 'The frozen process was ended; this is what it was doing.';
  return {
    ticket: withErrand(examined, settings.trackers, { deed: 'comment', text, details: errorLogs }, now),
    told: [{ type: 'ticket.commented', data: { ticket: bugNumber(ticket.number), count: ticket.count, text } }],
  };
}

/** Null: it is closed already. */
export function closed(ticket: Ticket, settings: TicketsSpec, now: WallMs): TicketChange | null {
  if (ticket.state === 'closed') return null;
  const shut: Ticket = { ...ticket, state: 'closed', closedAt: now };
  return {
    ticket: withErrand(shut, settings.trackers, { deed: 'close', text: `Closed with Keepwell, ${iso(now)}.` }, now),
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
    ticket: withErrand(
      open,
      trackers,
      { deed: 'reopen', text: `Reopened with Keepwell, ${iso(now)}.`, byHand: true },
      now,
    ),
    told: [
      { type: 'ticket.reopened', data: { ticket: bugNumber(ticket.number), count: ticket.count, reason: 'by hand' } },
    ],
  };
}

const iso = (wallMs: number): string => new Date(wallMs).toISOString();
