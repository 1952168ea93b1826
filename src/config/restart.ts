/** How soon and how often something is started again. */
import { z } from 'zod';
import { DEFAULTS } from './defaults.ts';
import { durationText } from './duration.ts';
import { duration, number, optional, positiveDuration, retry } from './leaves.ts';

const { backoff, limit } = DEFAULTS.restart;

export const backoffSchema = z.strictObject({
  initial: optional(duration, {
    description: 'The wait before the first restart.',
    defaultsTo: durationText(backoff.initialMs),
    example: '500ms',
  }),
  factor: optional(number({ min: 1, max: 100 }), {
    description: 'Each further wait is this many times longer.',
    defaultsTo: backoff.factor,
    example: 1.5,
  }),
  max: optional(duration, {
    description: 'No wait is longer than this. Not below `initial`.',
    defaultsTo: durationText(backoff.maxMs),
    example: '5m',
  }),
  jitter: optional(number({ min: 0, max: 1 }), {
    description:
      'Each wait is shortened by a random part of up to this ratio, so that not everything restarts at once.',
    defaultsTo: backoff.jitterRatio,
    example: 0.2,
  }),
  reset_after: optional(duration, {
    description: 'After running well for this long, the next wait starts at `initial` again.',
    defaultsTo: durationText(backoff.resetAfterMs),
    example: '30m',
  }),
});

export const limitSchema = z.strictObject({
  max: optional(number({ min: 0, max: 1_000_000, whole: true }), {
    description:
      'How many restarts are allowed within the window before Keepwell gives up (so at most one run more than this).',
    defaultsTo: limit.max,
    example: 5,
  }),
  within: optional(positiveDuration, {
    description: 'The window in which restarts are counted.',
    defaultsTo: durationText(limit.withinMs),
    example: '1h',
  }),
  retry: optional(retry, {
    description: 'After giving up: one quiet retry each time this has passed, or `never`.',
    defaultsTo: durationText(limit.retryMs),
    example: 'never',
  }),
});
