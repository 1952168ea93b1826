/** What a webhook and a command are told, as JSON. */
import { wordsOf } from './rules/errands.ts';
import { ticketView } from './rules/view.ts';
import type { Delivery } from './ports.ts';

export interface TicketMessage {
  readonly schema_version: 1;
  readonly action: string;
  /** The same for the same thing, however often it is sent. */
  readonly idempotency_key: string;
  /** What there is to say about it; empty for a new ticket. */
  readonly text: string;
  /** As `keepwell tickets show -o json` has it. */
  readonly ticket: Omit<ReturnType<typeof ticketView>, 'deliveries'>;
}

export function messageOf({ ticket, errand }: Delivery): TicketMessage {
  const { deliveries: _, ...view } = ticketView(ticket);
  return { schema_version: 1, action: errand.deed, idempotency_key: errand.key, text: wordsOf(errand), ticket: view };
}
