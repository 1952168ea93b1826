/** Tickets, complete: every default filled in, every path absolute, every tracker with a name of its own. */

import { z } from 'zod';
import type { TrackerHome } from '../incidents/tickets/kind.ts';
import { type NamelessTracker, TRACKER_KINDS, type TrackerSpec } from '../incidents/tickets/kinds.ts';
import type { TicketsSpec } from '../incidents/tickets/ports.ts';
import { DEFAULTS } from './defaults.ts';
import { durationText } from './duration.ts';
import { entrySchema, keysOf, kindOfEntry } from './kind.ts';
import { bareText, inTicks, number, oneOf, optional, positiveDuration } from './leaves.ts';

const DEFAULT = DEFAULTS.tickets;

export function ticketsSpec(config: TicketsConfig | undefined, home: TrackerHome): TicketsSpec {
  const { per, max, by } = config?.rate_limit ?? {};
  return {
    afterCrashes: config?.after_crashes ?? DEFAULT.afterCrashes,
    rateLimit: {
      perMs: per ?? DEFAULT.rateLimit.perMs,
      max: max ?? DEFAULT.rateLimit.max,
      by: by ?? DEFAULT.rateLimit.by,
    },
    priorities: { ...DEFAULT.priorities, ...config?.priorities },
    trackers: named((config?.trackers ?? []).map((tracker) => trackerSpec(tracker, home))),
  };
}

function trackerSpec(entry: TrackerConfig, home: TrackerHome): NamelessTracker {
  const [kind, config] = kindOfEntry(TRACKER_KINDS, entry);
  return kind.resolve(config, home);
}

/** "github", and "github-2" for the second one. */
function named(trackers: readonly NamelessTracker[]): readonly TrackerSpec[] {
  const counts = new Map<string, number>();
  return trackers.map((tracker) => {
    const count = (counts.get(tracker.kind) ?? 0) + 1;
    counts.set(tracker.kind, count);
    return { ...tracker, name: count === 1 ? tracker.kind : `${tracker.kind}-${count}` };
  });
}

// Tickets as a schema: when there is one, how often trackers are told, and which trackers there are.

const PRIORITIES = ['low', 'medium', 'high', 'critical'] as const;
const priority = oneOf(PRIORITIES, {
  urgent: 'critical',
  blocker: 'critical',
  major: 'high',
  minor: 'low',
  normal: 'medium',
});

const trackerSchema = entrySchema(TRACKER_KINDS).meta({ id: 'tracker', kind: 'trackers' });

const rateLimitSchema = z.strictObject({
  per: optional(positiveDuration, {
    description: 'The time that `max` is for.',
    defaultsTo: durationText(DEFAULT.rateLimit.perMs),
    example: '30m',
  }),
  max: optional(number({ min: 1, max: 1_000, whole: true }), {
    description:
      'How many updates about crashes trackers get in that time: a new ticket, or a comment with the new count.',
    defaultsTo: DEFAULT.rateLimit.max,
    example: 3,
  }),
  by: optional(oneOf(['fingerprint', 'type'], { error_type: 'type', cause: 'fingerprint' }), {
    description:
      'Counted for each cause (`fingerprint`), or for all causes with the same type of error together (`type`).',
    defaultsTo: DEFAULT.rateLimit.by,
    example: 'type',
  }),
});

export const ticketsSchema = z.strictObject({
  after_crashes: optional(number({ min: 1, max: 1_000, whole: true }), {
    description:
      'How many crashes with the same cause within 24 hours open a ticket. Giving up on a component opens one at once.',
    defaultsTo: DEFAULT.afterCrashes,
    example: 1,
  }),
  rate_limit: optional(rateLimitSchema, { description: 'How often trackers are updated.' }),
  priorities: optional(z.record(bareText, priority), {
    description:
      'By type of error; overrides the defaults. Others are `medium`; more than 10 crashes within 24 hours are `critical`, whatever the error.',
    defaultsTo: DEFAULT.priorities,
    example: { ImportError: 'high', TimeoutError: 'low' },
  }),
  trackers: optional(z.array(trackerSchema), {
    description: `Where tickets are written, besides the history. Each is a map with one of ${inTicks(keysOf(TRACKER_KINDS), 'and')}.`,
    defaultsTo: [],
    example: [{ local: { dir: 'tickets' } }],
    describesItems: true,
  }),
});

export type TicketsConfig = z.output<typeof ticketsSchema>;
export type TrackerConfig = z.output<typeof trackerSchema>;
