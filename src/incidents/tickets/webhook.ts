/** Tells any HTTP server: POST with JSON. The server knows by the header `Idempotency-Key` what it was told before. */

import { fieldsOf, parseJson } from '../../base/pure/json.ts';
import { retryAfterMs } from '../../base/pure/retry-after.ts';
import { type DeliveryResult, halt, later, refused } from '../delivery-queue.ts';
import { type Ask, type HttpAnswer, hostOf, webAddress } from '../web.ts';
import { type Delivered, type Delivery, messageOf, type Tracker } from './ports.ts';
import type { TrackerSpec } from './rules/settings.ts';

type WebhookSpec = Extract<TrackerSpec, { kind: 'webhook' }>;

/** They mean that it may work at another time. */
const PASSING: readonly number[] = [408, 425, 429];
/** They mean that nothing will work until somebody changes something. */
const LASTING: readonly number[] = [401, 403, 404, 405, 410];

export function createWebhookTracker(spec: WebhookSpec, ask: Ask): Tracker {
  const { name, target, url, headers, timeoutMs } = spec;
  return {
    name,
    target,
    keepsCopy: false,
    async deliver(delivery: Delivery, signal) {
      const sent = { ...headers, 'idempotency-key': delivery.update.key };
      const body = messageOf(delivery);
      const outcome = await ask({ method: 'POST', url, headers: sent, body, timeoutMs, reads: 'all' }, signal);
      return outcome.kind === 'failed' ? later(outcome.why) : judge(outcome.answer, delivery, hostOf(url));
    },
  };
}

function judge(answer: HttpAnswer, { id, address }: Delivery, host: string): DeliveryResult<Delivered> {
  const { status, text } = answer;
  if (status >= 200 && status < 300) {
    const said = fieldsOf(parseJson(text));
    return { ok: true, id: id ?? host, address: webAddress(said?.['url']) ?? address };
  }
  const words = `${host} answered HTTP ${status}`;
  if (status >= 300 && status < 400) return halt(`${words}: it leads elsewhere; give the address that it leads to`);
  if (LASTING.includes(status)) return halt(`${words}: check the address and the headers of this tracker`);
  if (status >= 500 || PASSING.includes(status)) return later(words, retryAfterMs(answer));
  return refused(words);
}
