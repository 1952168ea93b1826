/** Tells a channel of Slack, by an incoming webhook. */

import { z } from 'zod';
import { optional, target } from '../../../config/leaves.ts';
import { refuse } from '../../../config/readers.ts';
import { wrapped } from '../../../config/words/argv.ts';
import { hostOf, post } from '../../web.ts';
import type { ChannelKind } from '../kind.ts';
import { type AlertMessage, linesOf } from '../rules/message.ts';

export interface SlackChannel {
  readonly kind: 'slack';
  readonly url: string;
}

const schema = optional(
  z.strictObject({
    url: target.meta({
      description: 'The address of an incoming webhook of Slack, or of something that understands the same.',
      example: 'https://hooks.slack.com/services/T0/B0/x',
    }),
  }),
  { description: 'A channel of Slack.', defaultNote: 'none' },
);

export const slack = {
  schema,
  missing: { url: refuse('the address is missing', `Write: url: "\${SLACK_URL}"`) },
  words: ['slackwebhook'],
  inside: { url: ['address', 'endpoint', 'uri', 'webhook', 'webhookurl'] },
  forms: { '': wrapped('slack', 'url') },
  place: ({ url }) => url,
  resolve: ({ url }): SlackChannel => ({ kind: 'slack', url }),
  describe: ({ url }) => `slack at ${hostOf(url)}`,
  send: ({ url }, message, { ask }, signal) => post(ask, { url, body: slackBody(message) }, signal),
} satisfies ChannelKind<typeof schema, SlackChannel>;

// The message in the form of Slack's incoming webhooks. Blocks are plain text, so nothing in them is a link or a mention.

const MAX_BLOCK_CHARS = 2_900;
const MAX_BLOCKS = 20;

/** The short text is read as markup: these three are what begins a link or a mention. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const block = (text: string) => ({
  type: 'section',
  text: { type: 'plain_text', text: text.slice(0, MAX_BLOCK_CHARS), emoji: false },
});

const slackBody = (message: AlertMessage) => ({
  text: escaped(message.text),
  blocks: linesOf(message, MAX_BLOCKS).map(block),
});
