/** Tickets as a schema: when there is one, how often trackers are told, and which trackers there are. */
import { z } from 'zod';
import { DEFAULTS } from '../defaults.ts';
import { durationText } from '../duration.ts';
import { readHeaderName, readHeaderValue } from '../readers/http.ts';
import { readBare, readRepository, readWebAddress } from '../readers/tickets.ts';
import { exactlyOne, leaf, number, oneOf, optional, orVariable, path, positiveDuration, text } from '../leaves.ts';

const DEFAULT = DEFAULTS.tickets;

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
  defaultsTo: durationText(DEFAULT.timeoutMs),
  example: '30s',
});

const localSchema = z.strictObject({
  dir: optional(path, {
    description:
      'Where the files are written, relative to the folder of the first configuration file. It is created if needed.',
    defaultsTo: DEFAULT.dir,
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
    defaultsTo: DEFAULT.githubUrl,
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
  priorities: optional(z.record(leaf(readBare, 'text', { type: 'string', minLength: 1 }), priority), {
    description:
      'By type of error; overrides the defaults. Others are `medium`; more than 10 crashes within 24 hours are `critical`, whatever the error.',
    defaultsTo: DEFAULT.priorities,
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
