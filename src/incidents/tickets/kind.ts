/** What a file in `kinds/` says about its kind of tracker, and what it has at hand to deliver. */

import type { z } from 'zod';
import type { CommandRunner } from '../../base/command.ts';
import { DEFAULTS } from '../../config/defaults.ts';
import { durationText } from '../../config/duration.ts';
import type { ConfigOf, EntryKind } from '../../config/kind.ts';
import { optional, positiveDuration } from '../../config/leaves.ts';
import type { DeliveryResult } from '../delivery-queue.ts';
import type { Ask } from '../web.ts';
import { wordsOf } from './rules/pending-updates.ts';
import type { PendingUpdate, Ticket } from './rules/ticket.ts';
import { ticketView } from './rules/view.ts';

/** One of them, whichever. */
export type AnyTrackerKind = TrackerKind<z.ZodType, ResolvedTracker>;

/** What every tracker has beside what its kind needs. */
export interface ResolvedTracker {
  readonly kind: string;
  /** Where it leads to, in a form that shows no secret: a tracker that is changed to lead elsewhere begins anew. */
  readonly target: string;
}

/** `T`: a tracker of this kind, complete but for its name. */
export interface TrackerKind<S extends z.ZodType, T extends ResolvedTracker> extends EntryKind<S> {
  resolve(config: ConfigOf<S>, home: TrackerHome): T;
  /** It keeps a copy of the ticket, and wants to be told of every change of it (`update`). */
  readonly keepsCopy: boolean;
  /** People elsewhere read it, so it is not told of a rehearsal unless somebody asks for that. */
  readonly isElsewhere: boolean;
  /** Never throws; gives up by itself after its time limit or when `signal` says so. */
  deliver(tracker: T, delivery: Delivery, parts: TrackerParts, signal: AbortSignal): Promise<DeliveryResult<Delivered>>;
}

export interface TrackerHome {
  /** The folder of the first file. */
  readonly dir: string;
  /** An absolute path from one relative to it. */
  absolute(path: string): string;
}

export interface TrackerParts {
  readonly ask: Ask;
  readonly commands: CommandRunner;
  /** The environment of the daemon. */
  readonly env: Readonly<Record<string, string>>;
  /** Values that commands know and nobody should see. */
  secrets(): readonly string[];
}

/** A tracker did what it was asked. */
export interface Delivered {
  /** What the tracker calls the ticket. */
  readonly id: string | null;
  readonly address: string | null;
  /** Something that people should know: "somebody edited BUG-003…md; their text was kept as …". */
  readonly note?: string;
}

/** One delivery: the ticket as it is now, and the one thing to do. It may have been done before we were killed: look first. */
export interface Delivery {
  readonly ticket: Ticket;
  readonly update: PendingUpdate;
  /** What the tracker calls the ticket; null: it has not said yet. */
  readonly id: string | null;
  readonly address: string | null;
}

// What a webhook and a command are told, as JSON.

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

export function messageOf({ ticket, update }: Delivery): TicketMessage {
  const { deliveries: _, ...view } = ticketView(ticket);
  return { schema_version: 1, action: update.deed, idempotency_key: update.key, text: wordsOf(update), ticket: view };
}

// What several kinds have in common.

export const timeout = optional(positiveDuration, {
  description: 'Without an answer within this time, it is tried again later.',
  defaultsTo: durationText(DEFAULTS.tickets.timeoutMs),
  example: '30s',
});
