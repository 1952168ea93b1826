/** Tickets, complete: every default filled in, every path absolute, every tracker with a name of its own. */
import { shortHash } from '../base/pure/hash.ts';
import type { TicketsSpec, TrackerSpec } from '../incidents/tickets/rules/settings.ts';
import { DEFAULTS } from './defaults.ts';
import type { TicketsConfig, TrackerConfig } from './shape/tickets.ts';

const DEFAULT = DEFAULTS.tickets;

export interface TicketsBase {
  readonly dir: string;
  absolute(path: string): string;
}

export function ticketsSpec(config: TicketsConfig | undefined, base: TicketsBase): TicketsSpec {
  const { per, max, by } = config?.rate_limit ?? {};
  return {
    afterCrashes: config?.after_crashes ?? DEFAULT.afterCrashes,
    rateLimit: {
      perMs: per ?? DEFAULT.rateLimit.perMs,
      max: max ?? DEFAULT.rateLimit.max,
      by: by ?? DEFAULT.rateLimit.by,
    },
    priorities: { ...DEFAULT.priorities, ...config?.priorities },
    trackers: named((config?.trackers ?? []).map((tracker) => trackerSpec(tracker, base))),
  };
}

type Nameless<T> = T extends { readonly name: string } ? Omit<T, 'name'> : never;

/** Where it leads to is part of it, in a form that shows no secret: a tracker that is changed to lead elsewhere begins anew. */
function trackerSpec({ local, github, webhook, command }: TrackerConfig, base: TicketsBase): Nameless<TrackerSpec> {
  if (local) {
    const dir = base.absolute(local.dir ?? DEFAULT.dir);
    return { kind: 'local', target: dir, dir };
  }
  if (github) {
    const { repo, token, labels = [], timeout: timeoutMs = DEFAULT.timeoutMs } = github;
    const url = github.url ?? DEFAULT.githubUrl;
    return { kind: 'github', target: `${url} ${repo}`, repo, token, url, labels, timeoutMs };
  }
  if (webhook) {
    const { url, headers = {}, timeout: timeoutMs = DEFAULT.timeoutMs } = webhook;
    return { kind: 'webhook', target: shortHash(url), url, headers, timeoutMs };
  }
  const argv = command!.command as readonly string[]; // one text is refused where commands are checked
  const timeoutMs = command!.timeout ?? DEFAULT.timeoutMs;
  return { kind: 'command', target: shortHash(argv.join('\0')), command: argv, cwd: base.dir, timeoutMs };
}

/** "github", and "github-2" for the second one. */
function named(trackers: readonly Nameless<TrackerSpec>[]): readonly TrackerSpec[] {
  const counts = new Map<string, number>();
  return trackers.map((tracker) => {
    const count = (counts.get(tracker.kind) ?? 0) + 1;
    counts.set(tracker.kind, count);
    return { ...tracker, name: count === 1 ? tracker.kind : `${tracker.kind}-${count}` };
  });
}
