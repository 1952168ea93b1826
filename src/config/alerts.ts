/** Alerts, complete: every default filled in. */

import { z } from 'zod';
import { localTimeZone } from '../base/pure/wall-time.ts';
import { CHANNEL_KINDS } from '../incidents/alerts/kinds.ts';
import type { AlertsSpec, ChannelSpec } from '../incidents/alerts/ports.ts';
import { ALERT_KINDS, ALERT_TOPICS, CHANNEL_TOPICS, DEFAULT_TOPICS } from '../incidents/alerts/rules/book.ts';
import { DEFAULTS } from './defaults.ts';
import { durationText } from './duration.ts';
import { entrySchema, kindOfEntry } from './kind.ts';
import { dayTime, oneOf, optional, reminder, timeZone } from './leaves.ts';

export function alertsSpec(config: AlertsConfig | undefined): AlertsSpec {
  if (config === undefined) return { on: [], channels: [], remindMs: null, digest: null, quietHours: null };
  const { on = DEFAULT_TOPICS, channels, remind = DEFAULTS.alerts.remindMs, digest, quiet_hours: quiet } = config;
  const zone = config.time_zone ?? localTimeZone();
  const quietZone = quiet?.time_zone ?? zone;
  return {
    on,
    channels: channels.map(channelSpec),
    remindMs: remind === 'never' ? null : remind,
    digest: digest === undefined ? null : { minutes: digest, timeZone: zone },
    quietHours:
      quiet === undefined
        ? null
        : {
            from: { minutes: quiet.from, timeZone: quietZone },
            to: { minutes: quiet.to, timeZone: quietZone },
            except: quiet.except ?? [],
          },
  };
}

function channelSpec(entry: AlertsConfig['channels'][number]): ChannelSpec {
  const [kind, config] = kindOfEntry(CHANNEL_KINDS, entry);
  return { ...kind.resolve(config), ...(entry.on === undefined ? {} : { on: entry.on }) };
}

// Alerts as a schema: about what, by which ways, how often.

const FOREIGN_KINDS = {
  gave_up: 'gave-up',
  gaveup: 'gave-up',
  frozen: 'freeze',
  crash_rate: 'crash-rate',
  host_silent: 'host-silent',
  crashes: 'crash',
  crashed: 'crash',
  recovery: 'recovered',
  resolved: 'recovered',
  sick: 'unhealthy',
} as const;

const CAN_WAIT = { gave_up: 'gave-up', gaveup: 'gave-up', frozen: 'freeze', crashes: 'crash' } as const;

export const alertsSchema = z.strictObject({
  on: optional(z.array(oneOf(ALERT_TOPICS, FOREIGN_KINDS)), {
    description:
      'What is worth an alert: `crash` (something crashed, also when its restart helped), `unhealthy` (restarted because a probe failed, or not well for a minute), `gave-up` (restarting did not help), `freeze` (not even a restart helped), `crash-rate` (more than 10 crashes in an hour), `host-silent` (with `store.fleet`: a host was not heard of for 90 s), `recovered` (what was told is over).',
    defaultsTo: [...DEFAULT_TOPICS],
    example: ['gave-up', 'recovered'],
  }),
  channels: z
    .array(
      entrySchema(CHANNEL_KINDS, {
        on: optional(z.array(oneOf(CHANNEL_TOPICS, FOREIGN_KINDS)), {
          description: 'What this channel is told of, instead of `alerts.on`; `digest` for the daily digest.',
          defaultNote: '`alerts.on`, and the digest',
          example: ['gave-up', 'recovered', 'digest'],
        }),
      }),
    )
    .meta({
      description: 'Where alerts are sent.',
      example: [{ slack: { url: 'https://hooks.slack.com/services/T0/B0/x' } }],
    }),
  remind: optional(reminder, {
    description: 'How often an alert is repeated while the problem lasts; `never`: only once.',
    defaultsTo: durationText(DEFAULTS.alerts.remindMs),
    example: '4h',
  }),
  digest: optional(dayTime, {
    description: 'At this time of each day one message tells what happened since the last one, and what is not over.',
    defaultNote: 'no digest',
    example: '08:00',
  }),
  quiet_hours: optional(
    z.strictObject({
      from: dayTime.meta({ description: 'When they begin.', example: '22:00' }),
      to: dayTime.meta({ description: 'When they end.', example: '07:00' }),
      time_zone: optional(timeZone, {
        description: 'The time zone of both.',
        defaultNote: '`alerts.time_zone`',
        example: 'Europe/Berlin',
      }),
      except: optional(z.array(oneOf(ALERT_KINDS, CAN_WAIT)), {
        description: 'What is told all the same, and that it is over.',
        defaultsTo: [],
        example: ['gave-up'],
      }),
    }),
    {
      description:
        'Hours of each day in which alerts are held back. All of them are told in one message when they end.',
      defaultNote: 'none',
    },
  ),
  time_zone: optional(timeZone, {
    description: 'The time zone of `digest` and `quiet_hours`.',
    defaultNote: 'that of the machine',
    example: 'Europe/Berlin',
  }),
});

export type AlertsConfig = z.output<typeof alertsSchema>;
