/** Tickets, complete: every default filled in, every path absolute, every tracker with a name of its own. */

import { z } from 'zod';
import { shortHash } from '../base/pure/hash.ts';
import type { TicketsSpec, TrackerSpec } from '../incidents/tickets/rules/settings.ts';
import { DEFAULTS } from './defaults.ts';
import { durationText } from './duration.ts';
import { exactlyOne, leaf, number, oneOf, optional, orVariable, path, positiveDuration, text } from './leaves.ts';
import { readHeaderName, readHeaderValue } from './readers/http.ts';
import { type Reader, readText, refuse } from './readers.ts';
import { quoted } from './text.ts';
import type { ScalarNode } from './tree.ts';

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

// Readers of what trackers need. What a variable held may be a secret, so messages show the text as it was written.

const sourceOf = (node: Parameters<Reader<string>>[0]): string => quoted((node as ScalarNode).source);

/** Without a slash at its end: paths are put behind it. */
export const readWebAddress: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const text = read.value.trim();
  const example = 'For example: https://example.com/hook';
  if (text === '') return refuse('is empty', example);
  if (!URL.canParse(text)) return refuse(`${sourceOf(node)} is not a URL`, example);
  const { protocol, username, password } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:')
    return refuse('must be a URL that begins with http:// or https://', example);
  if (username !== '' || password !== '')
    return refuse('has a user or a password in it', 'Put it into a header: headers: { Authorization: "…" }');
  return { value: text.replace(/\/+$/, '') };
};

export const readRepository: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const text = read.value.trim();
  if (/^[\w.-]{1,100}\/[\w.-]{1,100}$/.test(text) && !text.includes('..')) return { value: text };
  const [, meant] = /github[^/]*\/+([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec((node as ScalarNode).source) ?? [];
  return refuse(
    `${sourceOf(node)} is not a repository`,
    meant === undefined ? 'Write its owner and its name: acme/app' : `Write: ${meant}`,
  );
};

/** Text without blanks: a token, the name of a type of errors. What it holds is never shown. */
export const readBare: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const text = read.value.trim();
  if (text === '') return refuse('is empty', 'Is the variable set?');
  return /[\u0000-\u0020\u007f]/.test(text)
    ? refuse('contains blanks or line breaks', 'Give the bare text.')
    : { value: text };
};

// Tickets as a schema: when there is one, how often trackers are told, and which trackers there are.

const SHOWN = DEFAULTS.tickets;

const PRIORITIES = ['low', 'medium', 'high', 'critical'] as const;
const priority = oneOf(PRIORITIES, {
  urgent: 'critical',
  blocker: 'critical',
  major: 'high',
  minor: 'low',
  normal: 'medium',
});

const webAddress = leaf(readWebAddress, 'URL', orVariable({ pattern: '^https?://' }));

const timeout = optional(positiveDuration, {
  description: 'Without an answer within this time, it is tried again later.',
  defaultsTo: durationText(SHOWN.timeoutMs),
  example: '30s',
});

const localSchema = z.strictObject({
  dir: optional(path, {
    description:
      'Where the files are written, relative to the folder of the first configuration file. It is created if needed.',
    defaultsTo: SHOWN.dir,
    example: 'docs/bugs',
  }),
});

const githubSchema = z.strictObject({
  repo: leaf(readRepository, '`OWNER/NAME`', orVariable({ pattern: '^[\\w.-]+/[\\w.-]+$' })).meta({
    description: 'The repository whose issues are used.',
    example: 'acme/app',
  }),
  token: leaf(readBare, 'text', { type: 'string', minLength: 1 }).meta({
    description: 'A token that may write issues there. Take it from a variable, as in the example.',
    example: `\${GITHUB_TOKEN}`,
  }),
  url: optional(webAddress, {
    description: 'Where the API is. GitHub Enterprise: `https://HOST/api/v3`.',
    defaultsTo: SHOWN.githubUrl,
    example: 'https://github.example.com/api/v3',
  }),
  labels: optional(z.array(text), {
    description: 'Labels of new issues, beside the one for the priority.',
    defaultsTo: [],
    example: ['bug', 'keepwell'],
  }),
  timeout,
});

const webhookSchema = z.strictObject({
  url: webAddress.meta({ description: 'It gets each ticket as JSON by POST.', example: 'https://example.com/tickets' }),
  headers: optional(
    z.record(
      leaf(readHeaderName, 'text', { type: 'string', minLength: 1 }),
      leaf(readHeaderValue, 'text', { type: 'string' }),
    ),
    { description: 'Headers to send.', defaultsTo: {}, example: { Authorization: `Bearer \${HOOK_TOKEN}` } },
  ),
  timeout,
});

const commandSchema = z.strictObject({
  command: z.union([z.array(text), text]).meta({
    description:
      'The program and its arguments, one list item each. It gets each ticket as JSON on its standard input.',
    example: ['./scripts/file-ticket'],
  }),
  timeout,
});

const trackerSchema = exactlyOne(
  z.strictObject({
    local: optional(localSchema, { description: 'Markdown files, `BUG-003-….md`.', defaultNote: 'none' }),
    github: optional(githubSchema, { description: 'Issues of a GitHub repository.', defaultNote: 'none' }),
    webhook: optional(webhookSchema, { description: 'Any HTTP server.', defaultNote: 'none' }),
    command: optional(commandSchema, { description: 'Any program.', defaultNote: 'none' }),
  }),
  ['local', 'github', 'webhook', 'command'],
).meta({ id: 'tracker', kind: 'trackers' });

const rateLimitSchema = z.strictObject({
  per: optional(positiveDuration, {
    description: 'The time that `max` is for.',
    defaultsTo: durationText(SHOWN.rateLimit.perMs),
    example: '30m',
  }),
  max: optional(number({ min: 1, max: 1_000, whole: true }), {
    description:
      'How many updates about crashes trackers get in that time: a new ticket, or a comment with the new count.',
    defaultsTo: SHOWN.rateLimit.max,
    example: 3,
  }),
  by: optional(oneOf(['fingerprint', 'type'], { error_type: 'type', cause: 'fingerprint' }), {
    description:
      'Counted for each cause (`fingerprint`), or for all causes with the same type of error together (`type`).',
    defaultsTo: SHOWN.rateLimit.by,
    example: 'type',
  }),
});

export const ticketsSchema = z.strictObject({
  after_crashes: optional(number({ min: 1, max: 1_000, whole: true }), {
    description:
      'How many crashes with the same cause within 24 hours open a ticket. Giving up on a component opens one at once.',
    defaultsTo: SHOWN.afterCrashes,
    example: 1,
  }),
  rate_limit: optional(rateLimitSchema, { description: 'How often trackers are updated.' }),
  priorities: optional(z.record(leaf(readBare, 'text', { type: 'string', minLength: 1 }), priority), {
    description:
      'By type of error; overrides the defaults. Others are `medium`; more than 10 crashes within 24 hours are `critical`, whatever the error.',
    defaultsTo: SHOWN.priorities,
    example: { ImportError: 'high', TimeoutError: 'low' },
  }),
  trackers: optional(z.array(trackerSchema), {
    description:
      'Where tickets are written, besides the history. Each is a map with one of `local`, `github`, `webhook` and `command`.',
    defaultsTo: [],
    example: [{ local: { dir: 'tickets' } }],
    describesItems: true,
  }),
});

export type TicketsConfig = z.output<typeof ticketsSchema>;
export type TrackerConfig = z.output<typeof trackerSchema>;
