/** Alerts, complete: every default filled in. */

import { z } from 'zod';
import { CHANNEL_KINDS, type Channel } from '../incidents/alerts/kinds.ts';
import type { AlertsSpec } from '../incidents/alerts/ports.ts';
import { ALERT_KINDS } from '../incidents/alerts/rules/book.ts';
import { DEFAULTS } from './defaults.ts';
import { durationText } from './duration.ts';
import { entrySchema, kindOfEntry } from './kind.ts';
import { oneOf, optional, reminder } from './leaves.ts';

export function alertsSpec(config: AlertsConfig | undefined): AlertsSpec {
  if (config === undefined) return { on: [], channels: [], remindMs: null };
  const { on = ALERT_KINDS, channels, remind = DEFAULTS.alerts.remindMs } = config;
  return { on, channels: channels.map(channelSpec), remindMs: remind === 'never' ? null : remind };
}

function channelSpec(entry: AlertsConfig['channels'][number]): Channel {
  const [kind, config] = kindOfEntry(CHANNEL_KINDS, entry);
  return kind.resolve(config);
}

// Alerts as a schema: about what, by which ways, how often.

const FOREIGN_KINDS = {
  gave_up: 'gave-up',
  gaveup: 'gave-up',
  frozen: 'freeze',
  crash_rate: 'crash-rate',
  host_silent: 'host-silent',
} as const;

export const alertsSchema = z.strictObject({
  on: optional(z.array(oneOf(ALERT_KINDS, FOREIGN_KINDS)), {
    description:
      'What is worth an alert: `gave-up` (restarting did not help), `freeze` (not even a restart helped), `crash-rate` (more than 10 crashes in an hour), `host-silent` (with `store.fleet`: a host was not heard of for 90 s).',
    defaultsTo: [...ALERT_KINDS],
    example: ['gave-up'],
  }),
  channels: z.array(entrySchema(CHANNEL_KINDS)).meta({
    description: 'Where alerts are sent: each channel gets all of them.',
    example: [{ slack: { url: 'https://hooks.slack.com/services/T0/B0/x' } }],
  }),
  remind: optional(reminder, {
    description: 'How often an alert is repeated while the problem lasts; `never`: only once.',
    defaultsTo: durationText(DEFAULTS.alerts.remindMs),
    example: '4h',
  }),
});

export type AlertsConfig = z.output<typeof alertsSchema>;
