/** Alerts, complete: every default filled in. */

import { z } from 'zod';
import { ALERT_KINDS, type AlertsSpec, type Channel, NO_ALERTS } from '../incidents/alerts/rules/book.ts';
import { DEFAULTS } from './defaults.ts';
import { durationText } from './duration.ts';
import { exactlyOne, leaf, oneOf, optional, orVariable, reminder, text } from './leaves.ts';
import { readHeaderName, readHeaderValue } from './readers/http.ts';
import { readTarget } from './readers/network.ts';

export function alertsSpec(config: AlertsConfig | undefined): AlertsSpec {
  if (config === undefined) return NO_ALERTS;
  const { on = ALERT_KINDS, channels, remind = DEFAULTS.alerts.remindMs } = config;
  return { on, channels: channels.map(channelSpec), remindMs: remind === 'never' ? null : remind };
}

function channelSpec({ webhook, slack, command }: AlertsConfig['channels'][number]): Channel {
  if (webhook) return { kind: 'webhook', url: webhook.url, headers: webhook.headers ?? {} };
  // Exactly one of them is there, or something would have been reported.
  return slack ? { kind: 'slack', url: slack.url } : { kind: 'command', command: command!.command };
}

// Alerts as a schema: about what, by which ways, how often.

const url = leaf(readTarget, 'URL', orVariable({ pattern: '^https?://' }));

const FOREIGN_KINDS = { gave_up: 'gave-up', gaveup: 'gave-up', frozen: 'freeze', crash_rate: 'crash-rate' } as const;

const channelSchema = exactlyOne(
  z.strictObject({
    webhook: optional(
      z.strictObject({
        url: url.meta({ description: 'Where the alert is posted, as JSON.', example: 'https://example.org/alerts' }),
        headers: optional(
          z.record(
            leaf(readHeaderName, 'text', { type: 'string', minLength: 1 }),
            leaf(readHeaderValue, 'text', { type: 'string' }),
          ),
          {
            description: 'Headers of the request, such as `Authorization`.',
            defaultsTo: {},
            example: { Authorization: 'Bearer token' },
          },
        ),
      }),
      { description: 'An address that takes JSON.', defaultNote: 'none' },
    ),
    slack: optional(
      z.strictObject({
        url: url.meta({
          description: 'The address of an incoming webhook of Slack, or of something that understands the same.',
          example: 'https://hooks.slack.com/services/T0/B0/x',
        }),
      }),
      { description: 'A channel of Slack.', defaultNote: 'none' },
    ),
    command: optional(
      z.strictObject({
        command: z.array(text).meta({
          description: 'A program and its arguments, one list item each. It reads the alert as JSON from its input.',
          example: ['notify-send', 'Keepwell'],
        }),
      }),
      { description: 'A program on this machine. No shell is involved.', defaultNote: 'none' },
    ),
  }),
  ['webhook', 'slack', 'command'],
);

export const alertsSchema = z.strictObject({
  on: optional(z.array(oneOf(ALERT_KINDS, FOREIGN_KINDS)), {
    description:
      'What is worth an alert: `gave-up` (restarting did not help), `freeze` (not even a restart helped), `crash-rate` (more than 10 crashes in an hour).',
    defaultsTo: [...ALERT_KINDS],
    example: ['gave-up'],
  }),
  channels: z.array(channelSchema).meta({
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
