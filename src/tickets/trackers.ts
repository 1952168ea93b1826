/** The tracker for each entry of `tickets.trackers`. */
import type { TrackerSpec } from '../core/tickets/settings.ts';
import type { Tracker } from '../ports/tickets.ts';
import { type CommandParts, createCommandTracker } from './command.ts';
import { createGithubTracker } from './github/tracker.ts';
import { createLocalTracker } from './local/tracker.ts';
import { createWebhookTracker } from './webhook.ts';

export function trackerFor(spec: TrackerSpec, parts: CommandParts): Tracker {
  switch (spec.kind) {
    case 'local':
      return createLocalTracker(spec);
    case 'github':
      return createGithubTracker(spec);
    case 'webhook':
      return createWebhookTracker(spec);
    case 'command':
      return createCommandTracker(spec, parts);
  }
}
