/** Alerts, complete: every default filled in. */
import { ALERT_KINDS, type AlertsSpec, type Channel, NO_ALERTS } from '../incidents/alerts/rules/alert.ts';
import { DEFAULTS } from './defaults.ts';
import type { AlertsConfig } from './shape/alerts.ts';

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
