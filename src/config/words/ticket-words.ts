/** Keys of `tickets:` as other tools, and other people, call them. */
import { refuse } from '../readers.ts';
import { printable, quoted, shorten } from '../text.ts';
import { commandText } from './argv.ts';
import type { KeyProblem } from './key-problem.ts';
import { normal } from './ours.ts';
import type { Form } from './probe-forms.ts';

export const isOfTickets = (place: string): boolean => place === 'tickets' || place.startsWith('tickets.');

/** By place, words without case, dashes and underscores. */
const WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  tickets: {
    ...{
      threshold: 'after_crashes',
      crashthreshold: 'after_crashes',
      after: 'after_crashes',
      mincrashes: 'after_crashes',
    },
    ...{ ratelimits: 'rate_limit', throttle: 'rate_limit', limit: 'rate_limit', cooldown: 'rate_limit' },
    ...{ priority: 'priorities', severity: 'priorities', severities: 'priorities' },
    ...{ tracker: 'trackers', sinks: 'trackers', channels: 'trackers', providers: 'trackers', targets: 'trackers' },
  },
  'tickets.rate_limit': {
    interval: 'per',
    period: 'per',
    window: 'per',
    within: 'per',
    count: 'max',
    limit: 'max',
    key: 'by',
  },
  'tickets.trackers.*': {
    ...{ file: 'local', files: 'local', markdown: 'local', directory: 'local', dir: 'local' },
    ...{
      gh: 'github',
      issues: 'github',
      http: 'webhook',
      hook: 'webhook',
      url: 'webhook',
      exec: 'command',
      script: 'command',
    },
  },
  'tickets.trackers.*.local': { directory: 'dir', path: 'dir', folder: 'dir' },
  'tickets.trackers.*.github': {
    ...{ repository: 'repo', project: 'repo', name: 'repo', auth: 'token', password: 'token', apitoken: 'token' },
    ...{ api: 'url', apiurl: 'url', baseurl: 'url', endpoint: 'url', host: 'url', label: 'labels', tags: 'labels' },
  },
  'tickets.trackers.*.webhook': { address: 'url', endpoint: 'url', uri: 'url', header: 'headers' },
  'tickets.trackers.*.command': {
    cmd: 'command',
    args: 'command',
    argv: 'command',
    exec: 'command',
    script: 'command',
  },
};

/** A bare word where its settings belong. */
const wrapped =
  (key: string, inside: string): Form =>
  (node) =>
    node.kind === 'scalar' && node.value !== null
      ? refuse('must be a map, not a single value', `Write: ${key}: { ${inside}: ${printable(shorten(node.source))} }`)
      : null;

export const TICKET_FORMS: Readonly<Record<string, Form>> = {
  'tickets.trackers': (node) =>
    node.kind === 'map'
      ? refuse('must be a list, not a map', 'Write: trackers: [{ local: { dir: tickets } }]')
      : node.kind === 'scalar' && node.value !== null
        ? refuse('must be a list, not a single value', 'Write: trackers: [{ local: { dir: tickets } }]')
        : null,
  'tickets.rate_limit': wrapped('rate_limit', 'per'),
  'tickets.trackers.*.local': wrapped('local', 'dir'),
  'tickets.trackers.*.github': wrapped('github', 'repo'),
  'tickets.trackers.*.webhook': wrapped('webhook', 'url'),
  'tickets.trackers.*.command': (node) =>
    node.kind === 'list' || (node.kind === 'scalar' && node.value !== null)
      ? refuse('must be a map, not a bare command', `Write: command: { command: ${commandText(node)} }`)
      : null,
};

/** Null: it is nobody's word. */
export function explainTicketsKey({ key, place }: { readonly key: string; readonly place: string }): KeyProblem | null {
  const message = `unknown key ${quoted(key)}`;
  if (place === 'tickets.trackers.*.command' && key === 'shell')
    return { message, hint: 'Remove it: what crashed must never be read by a shell.', standsFor: null };
  const words = WORDS[place] ?? {};
  const word = normal(key);
  const ours = Object.hasOwn(words, word) ? words[word]! : null;
  return ours === null ? null : { message, hint: `Keepwell's word for ${quoted(key)} is ${ours}.`, standsFor: ours };
}
