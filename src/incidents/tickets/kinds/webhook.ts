/** Tells any HTTP server: POST with JSON. The server knows by the header `Idempotency-Key` what it was told before. */

import { z } from 'zod';
import { shortHash } from '../../../base/pure/hash.ts';
import { fieldsOf, parseJson } from '../../../base/pure/json.ts';
import { retryAfterMs } from '../../../base/pure/retry-after.ts';
import { DEFAULTS } from '../../../config/defaults.ts';
import { headers, optional, webAddress } from '../../../config/leaves.ts';
import { refuse } from '../../../config/readers.ts';
import { wrapped } from '../../../config/words/argv.ts';
import { type DeliveryResult, halt, later, refused } from '../../delivery-queue.ts';
import { type HttpAnswer, hostOf, shownAddress } from '../../web.ts';
import { type Delivered, type Delivery, messageOf, type ResolvedTracker, type TrackerKind, timeout } from '../kind.ts';

export interface WebhookTracker extends ResolvedTracker {
  readonly kind: 'webhook';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

const schema = optional(
  z.strictObject({
    url: webAddress.meta({
      description: 'It gets each ticket as JSON by POST.',
      example: 'https://example.com/tickets',
    }),
    headers: optional(headers, {
      description: 'Headers to send.',
      defaultsTo: {},
      example: { Authorization: `Bearer \${HOOK_TOKEN}` },
    }),
    timeout,
  }),
  { description: 'Any HTTP server.', defaultNote: 'none' },
);

export const webhook = {
  schema,
  missing: { url: refuse('the address is missing', 'Write: url: "https://example.com/hook"') },
  words: ['http', 'hook', 'url'],
  inside: { url: ['address', 'endpoint', 'uri'], headers: ['header'], timeout: [] },
  forms: { '': wrapped('webhook', 'url') },
  place: () => undefined, // one server may want each ticket twice, with other headers
  resolve: ({ url, headers = {}, timeout: timeoutMs = DEFAULTS.tickets.timeoutMs }): WebhookTracker => ({
    ...{ kind: 'webhook', target: shortHash(url), url, headers, timeoutMs },
  }),
  keepsCopy: false,
  isElsewhere: true,
  deliver: async ({ url, headers, timeoutMs }, delivery, { ask }, signal) => {
    const sent = { ...headers, 'idempotency-key': delivery.update.key };
    const body = messageOf(delivery);
    const outcome = await ask({ method: 'POST', url, headers: sent, body, timeoutMs, reads: 'all' }, signal);
    return outcome.kind === 'failed' ? later(outcome.why) : judge(outcome.answer, delivery, hostOf(url));
  },
} satisfies TrackerKind<typeof schema, WebhookTracker>;

/** They mean that it may work at another time. */
const PASSING: readonly number[] = [408, 425, 429];
/** They mean that nothing will work until somebody changes something. */
const LASTING: readonly number[] = [401, 403, 404, 405, 410];

function judge(answer: HttpAnswer, { id, address }: Delivery, host: string): DeliveryResult<Delivered> {
  const { status, text } = answer;
  if (status >= 200 && status < 300) {
    const said = fieldsOf(parseJson(text));
    return { ok: true, id: id ?? host, address: shownAddress(said?.['url']) ?? address };
  }
  const words = `${host} answered HTTP ${status}`;
  if (status >= 300 && status < 400) return halt(`${words}: it leads elsewhere; give the address that it leads to`);
  if (LASTING.includes(status)) return halt(`${words}: check the address and the headers of this tracker`);
  if (status >= 500 || PASSING.includes(status)) return later(words, retryAfterMs(answer));
  return refused(words);
}
