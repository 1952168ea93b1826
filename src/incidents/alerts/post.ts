/** Posts JSON and tells what came of it. */
import { retryAfterMs } from '../../base/pure/retry-after.ts';
import type { Ask, HttpAnswer } from '../web.ts';
import { failure, type Sent } from './channel.ts';

const TIMEOUT_MS = 10_000;
const RETRIED: ReadonlySet<number> = new Set([408, 421, 425, 429]);

export interface Post {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export async function post(ask: Ask, { url, headers = {}, body }: Post, signal: AbortSignal): Promise<Sent> {
  const outcome = await ask({ method: 'POST', url, headers, body, timeoutMs: TIMEOUT_MS, reads: 'head' }, signal);
  return outcome.kind === 'failed' ? failure(outcome.why) : answered(outcome.answer);
}

function answered(answer: HttpAnswer): Sent {
  const { status } = answer;
  if (status >= 200 && status < 300) return { ok: true };
  if (status >= 300 && status < 400) return failure(`it answered ${status}: redirects are not followed`, false);
  return failure(`it answered ${status}`, status >= 500 || RETRIED.has(status), retryAfterMs(answer));
}
