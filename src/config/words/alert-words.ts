/** Keys of `alerts:` and `store:` as other tools, and other people, call them, and values in the shape that others give them. */
import { refuse } from '../readers.ts';
import { quoted, shorten } from '../text.ts';
import type { TreeNode } from '../tree.ts';
import { argvOf, flowText } from './argv.ts';
import type { KeyProblem } from './key-problem.ts';
import { normal } from './ours.ts';
import type { Form } from './probe-forms.ts';

export const isOfAlerts = (place: string): boolean => /^(?:alerts|store)(?:\.|$)/.test(place);

/** By place, words without case, dashes and underscores. */
const WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  alerts: {
    ...{ events: 'on', kinds: 'on', types: 'on', when: 'on', triggers: 'on' },
    ...{ channel: 'channels', receivers: 'channels', notifiers: 'channels', targets: 'channels', sinks: 'channels' },
    ...{ reminder: 'remind', reminders: 'remind', repeat: 'remind', repeatinterval: 'remind', renotify: 'remind' },
  },
  'alerts.channels.*': {
    ...{ http: 'webhook', hook: 'webhook', url: 'webhook', slackwebhook: 'slack' },
    ...{ exec: 'command', script: 'command', cmd: 'command', run: 'command' },
  },
  'alerts.channels.*.webhook': { address: 'url', endpoint: 'url', uri: 'url', header: 'headers' },
  'alerts.channels.*.slack': { address: 'url', endpoint: 'url', uri: 'url', webhook: 'url', webhookurl: 'url' },
  'alerts.channels.*.command': {
    ...{ cmd: 'command', args: 'command', argv: 'command', exec: 'command', script: 'command' },
  },
  store: {
    ...{ file: 'path', db: 'path', database: 'path', location: 'path', filename: 'path' },
    ...{ keep: 'retention', retain: 'retention', ttl: 'retention', maxage: 'retention', retentiondays: 'retention' },
  },
};

const CHANNELS = `Write: channels: [{ slack: { url: "\${SLACK_URL}" } }]`;
const COMMAND = '[notify-send, Keepwell]';
const SHELL_EXAMPLE = '[sh, -c, "one | two"]';

const isText = (node: TreeNode): node is TreeNode & { kind: 'scalar' } => node.kind === 'scalar' && node.value !== null;

/** A bare address where its settings belong. */
const wrapped =
  (key: string): Form =>
  (node) =>
    isText(node)
      ? refuse('must be a map, not a single value', `Write: ${key}: { url: ${flowText(shorten(node.source))} }`)
      : null;

export const ALERT_FORMS: Readonly<Record<string, Form>> = {
  'alerts.on': (node) =>
    isText(node)
      ? refuse('must be a list, not a single value', `Write: on: [${flowText(shorten(node.source))}]`)
      : null,
  'alerts.channels': (node) =>
    node.kind === 'map' || isText(node)
      ? refuse(`must be a list, not a ${node.kind === 'map' ? 'map' : 'single value'}`, CHANNELS)
      : null,
  'alerts.channels.*.webhook': wrapped('webhook'),
  'alerts.channels.*.slack': wrapped('slack'),
  'alerts.channels.*.command': (node) =>
    node.kind === 'list' || isText(node)
      ? refuse('must be a map, not a bare command', `Write: command: { command: ${argvOf(node) ?? COMMAND} }`)
      : null,
  'alerts.channels.*.command.command': (node) =>
    isText(node)
      ? refuse('a command is a list of texts, not one text', `Write: command: ${argvOf(node) ?? SHELL_EXAMPLE}`)
      : null,
  store: (node) => {
    if (!isText(node)) return null;
    const key = /^\d/.test(node.source) ? 'retention' : 'path';
    return refuse('must be a map, not a single value', `Write: store: { ${key}: ${flowText(shorten(node.source))} }`);
  },
};

/** Null: it is nobody's word. */
export function explainAlertsKey({ key, place }: { readonly key: string; readonly place: string }): KeyProblem | null {
  const message = `unknown key ${quoted(key)}`;
  if (place === 'alerts.channels.*.command' && key === 'shell')
    return { message, hint: `Remove it, and write: command: ${SHELL_EXAMPLE}`, standsFor: null };
  const words = WORDS[place] ?? {};
  const word = normal(key);
  const ours = Object.hasOwn(words, word) ? words[word]! : null;
  return ours === null ? null : { message, hint: `Keepwell's word for ${quoted(key)} is ${ours}.`, standsFor: ours };
}
