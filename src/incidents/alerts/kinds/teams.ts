/** Tells a channel of Microsoft Teams, by a workflow that takes webhook requests. */

import { z } from 'zod';
import { optional, target } from '../../../config/leaves.ts';
import { refuse } from '../../../config/readers.ts';
import { wrapped } from '../../../config/words/argv.ts';
import { hostOf, post } from '../../web.ts';
import type { ChannelKind } from '../kind.ts';
import { type AlertMessage, linesOf } from '../rules/message.ts';

export interface TeamsChannel {
  readonly kind: 'teams';
  readonly url: string;
}

const schema = optional(
  z.strictObject({
    url: target.meta({
      description: 'The address of a workflow "Post to a channel when a webhook request is received".',
      example: 'https://example.logic.azure.com/workflows/x',
    }),
  }),
  { description: 'A channel of Microsoft Teams.', defaultNote: 'none' },
);

export const teams = {
  schema,
  missing: { url: refuse('the address is missing', `Write: url: "\${TEAMS_URL}"`) },
  words: ['msteams', 'microsoftteams', 'teamswebhook'],
  inside: { url: ['address', 'endpoint', 'uri', 'webhook', 'webhookurl'] },
  forms: { '': wrapped('teams', 'url') },
  place: ({ url }) => url,
  resolve: ({ url }): TeamsChannel => ({ kind: 'teams', url }),
  describe: ({ url }) => `teams at ${hostOf(url)}`,
  send: ({ url }, message, { ask }, signal) => post(ask, { url, body: teamsBody(message) }, signal),
} satisfies ChannelKind<typeof schema, TeamsChannel>;

/** A card may have 28 kB, and lines have 500 characters at the most. */
const MAX_LINES = 20;

/** A text block reads a little markup. */
const escaped = (text: string): string => text.replace(/[\\*_[\]()`#-]/g, '\\$&');

/** An Adaptive Card, the one form that workflows take. */
function teamsBody(message: AlertMessage) {
  const block = (text: string, weight: 'Default' | 'Bolder') => ({ type: 'TextBlock', wrap: true, weight, text });
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    fallbackText: message.text,
    body: [
      block(escaped(message.project), 'Bolder'),
      ...linesOf(message, MAX_LINES).map((line) => block(escaped(line), 'Default')),
    ],
  };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content: card }],
  };
}
