/** The tracker for each entry of `tickets.trackers`. */
import type { TrackerSpec } from './rules/settings.ts';
import type { Tracker } from './ports.ts';
import type { Ask } from '../web.ts';
import { type CommandParts, createCommandTracker } from './command.ts';
import { createGithubTracker } from './github-tracker.ts';
import { createLocalTracker } from './local-tracker.ts';
import { createWebhookTracker } from './webhook.ts';

export interface TrackerParts extends CommandParts {
  readonly ask: Ask;
}

export function trackerFor(spec: TrackerSpec, parts: TrackerParts): Tracker {
  switch (spec.kind) {
    case 'local':
      return createLocalTracker(spec);
    case 'github':
      return createGithubTracker(spec, parts.ask);
    case 'webhook':
      return createWebhookTracker(spec, parts.ask);
    case 'command':
      return createCommandTracker(spec, parts);
  }
}
