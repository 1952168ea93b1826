/** Tells everybody who subscribed to a topic of ntfy, on ntfy.sh or a server of one's own. */

import { z } from 'zod';
import { bareText, optional, target } from '../../../config/leaves.ts';
import { refuse } from '../../../config/readers.ts';
import { wrapped } from '../../../config/words/argv.ts';
import { hostOf, post } from '../../web.ts';
import type { ChannelKind } from '../kind.ts';
import { type AlertMessage, linesOf } from '../rules/message.ts';

export interface NtfyChannel {
  readonly kind: 'ntfy';
  readonly url: string;
  readonly topic: string;
  readonly token?: string;
}

const PUBLIC_SERVER = 'https://ntfy.sh';

const schema = optional(
  z.strictObject({
    topic: bareText.meta({
      description: 'The topic. On a public server whoever knows its name can read it: choose one that nobody guesses.',
      example: 'shop-x8k2p',
    }),
    url: optional(target, {
      description: 'The server.',
      defaultsTo: PUBLIC_SERVER,
      example: 'https://ntfy.example.org',
    }),
    token: optional(bareText, {
      description: 'An access token, where the topic needs one. Take it from a variable.',
      defaultNote: 'none',
      example: `\${NTFY_TOKEN}`,
    }),
  }),
  { description: 'A topic of ntfy: a message on every phone that subscribed to it.', defaultNote: 'none' },
);

export const ntfy = {
  schema,
  missing: { topic: refuse('the topic is missing', 'Write: topic: shop-x8k2p') },
  words: [],
  inside: {
    topic: ['channel', 'name'],
    url: ['server', 'host', 'endpoint'],
    token: ['auth', 'accesstoken', 'password'],
  },
  forms: { '': wrapped('ntfy', 'topic') },
  place: ({ topic, url = PUBLIC_SERVER }) => (topic === undefined ? undefined : `${url} ${topic}`),
  resolve: ({ topic, url = PUBLIC_SERVER, token }): NtfyChannel => ({
    ...{ kind: 'ntfy', url, topic },
    ...(token === undefined ? {} : { token }),
  }),
  describe: ({ url }) => `ntfy at ${hostOf(url)}`,
  send: ({ url, topic, token }, message, { ask }, signal) =>
    post(
      ask,
      {
        url, // of the server: the topic is in the message
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
        body: { topic, ...ntfyBody(message) },
      },
      signal,
    ),
} satisfies ChannelKind<typeof schema, NtfyChannel>;

/** A longer one arrives as an attached file. */
const MAX_BYTES = 4_096;
const MAX_LINES = 20;
const [HIGH, NORMAL] = [4, 3];

function ntfyBody(message: AlertMessage) {
  const isOver = message.alerts.every(({ state }) => state === 'over');
  return {
    title: message.project,
    message: fitting(linesOf(message, MAX_LINES)),
    priority: isOver ? NORMAL : HIGH,
    tags: [isOver ? 'white_check_mark' : 'rotating_light'],
  };
}

/** As many whole lines as have room. */
function fitting(lines: readonly string[]): string {
  let text = '';
  for (const line of lines) {
    const longer = text === '' ? line : `${text}\n${line}`;
    if (Buffer.byteLength(longer) > MAX_BYTES) break;
    text = longer;
  }
  return text;
}
