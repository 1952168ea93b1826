/** Which host tells a tracker: the one whose ticket it is. Pure. */
import type { TellingVerdict, TrackerCall } from '../../incidents/rules/shared.ts';

/** What hosts know together about the open ticket of a problem. */
export interface SharedTicket {
  readonly host: string;
  /** By target: what the tracker calls it. */
  readonly links: Readonly<Record<string, TicketLink>>;
}

export interface TicketLink {
  readonly id: string | null;
  readonly address: string | null;
}

/** What somebody asked for by hand, here, is told from here. Null: hosts know of no open ticket, so nobody else tells it. */
export function tellingVerdict(ticket: SharedTicket | null, call: TrackerCall, self: string): TellingVerdict {
  const link = ticket?.links[call.target];
  const known = { id: link?.id ?? call.id, address: link?.address ?? call.address };
  const isOurs = ticket === null || ticket.host === self || call.deed === 'close' || call.byHand;
  return { isOurs, ...known };
}

/** After this long without an answer a host goes on alone: what is told twice then is better than what nobody is told. */
export const ALONE_AFTER_MS = 60_000;
/** A host that was not heard of for so long is silent. */
export const SILENT_AFTER_MS = 90_000;
