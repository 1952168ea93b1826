/** Tells a channel of Discord, by a webhook. */

import { z } from 'zod';
import { optional, target } from '../../../config/leaves.ts';
import { refuse } from '../../../config/readers.ts';
import { wrapped } from '../../../config/words/argv.ts';
import { hostOf, post } from '../../web.ts';
import type { ChannelKind } from '../kind.ts';
import { type AlertMessage, linesOf } from '../rules/message.ts';

export interface DiscordChannel {
  readonly kind: 'discord';
  readonly url: string;
}

const schema = optional(
  z.strictObject({
    url: target.meta({
      description: 'The address of a webhook of Discord (Server Settings, Integrations).',
      example: 'https://discord.com/api/webhooks/1/x',
    }),
  }),
  { description: 'A channel of Discord.', defaultNote: 'none' },
);

export const discord = {
  schema,
  missing: { url: refuse('the address is missing', `Write: url: "\${DISCORD_URL}"`) },
  words: ['discordwebhook'],
  inside: { url: ['address', 'endpoint', 'uri', 'webhook', 'webhookurl'] },
  forms: { '': wrapped('discord', 'url') },
  place: ({ url }) => url,
  resolve: ({ url }): DiscordChannel => ({ kind: 'discord', url }),
  describe: ({ url }) => `discord at ${hostOf(url)}`,
  send: ({ url }, message, { ask }, signal) => post(ask, { url, body: discordBody(message) }, signal),
} satisfies ChannelKind<typeof schema, DiscordChannel>;

/** Discord refuses a message with more. */
const MAX_CHARS = 2_000;
const MAX_LINES = 20;

/** What begins markup there. A mention needs none: nobody is ever notified by a message of ours. */
const escaped = (text: string): string => text.replace(/[\\*_~`|>#[\]()<]/g, '\\$&');

function discordBody(message: AlertMessage) {
  const text = [`**${escaped(message.project)}**`, ...linesOf(message, MAX_LINES).map(escaped)].join('\n');
  return {
    content: text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS - 1)}…` : text,
    allowed_mentions: { parse: [] },
  };
}
