/** Posts the alert to an address, as JSON. */

import { z } from 'zod';
import { headers, optional, target } from '../../../config/leaves.ts';
import { refuse } from '../../../config/readers.ts';
import { wrapped } from '../../../config/words/argv.ts';
import { hostOf, post } from '../../web.ts';
import type { ChannelKind } from '../kind.ts';

export interface WebhookChannel {
  readonly kind: 'webhook';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const schema = optional(
  z.strictObject({
    url: target.meta({ description: 'Where the alert is posted, as JSON.', example: 'https://example.org/alerts' }),
    headers: optional(headers, {
      description: 'Headers of the request, such as `Authorization`.',
      defaultsTo: {},
      example: { Authorization: 'Bearer token' },
    }),
  }),
  { description: 'An address that takes JSON.', defaultNote: 'none' },
);

export const webhook = {
  schema,
  missing: { url: refuse('the address is missing', 'Write: url: "https://example.com/hook"') },
  words: ['http', 'hook', 'url'],
  inside: { url: ['address', 'endpoint', 'uri'], headers: ['header'] },
  forms: { '': wrapped('webhook', 'url') },
  place: ({ url }) => url,
  resolve: ({ url, headers = {} }): WebhookChannel => ({ kind: 'webhook', url, headers }),
  describe: ({ url }) => `webhook at ${hostOf(url)}`,
  send: ({ url, headers }, message, { ask }, signal) =>
    post(ask, { url, headers: { ...headers, 'idempotency-key': message.id }, body: message }, signal),
} satisfies ChannelKind<typeof schema, WebhookChannel>;
