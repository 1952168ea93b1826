/** Posts JSON and tells what came of it. Addresses are secrets: only the host of one is ever named. */
import { failure, type Sent } from '../channel.ts';

const TIMEOUT_MS = 10_000;
const RETRIED: ReadonlySet<number> = new Set([408, 421, 425, 429]);

export interface Post {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

export async function post({ url, headers = {}, body, signal, timeoutMs = TIMEOUT_MS }: Post): Promise<Sent> {
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'keepwell', ...headers },
      body: JSON.stringify(body),
      redirect: 'manual',
      signal: AbortSignal.any([signal, deadline]),
    });
    await response.body?.cancel().catch(() => {});
    return answered(response);
  } catch (error) {
    if (deadline.aborted) return failure(`no answer within ${timeoutMs / 1000} s`);
    return failure(signal.aborted ? 'the daemon ended' : `no connection (${codeOf(error)})`);
  }
}

function answered({ ok, status, headers }: Response): Sent {
  if (ok) return { ok: true };
  if (status >= 300 && status < 400) return failure(`it answered ${status}: redirects are not followed`, false);
  return failure(`it answered ${status}`, status >= 500 || RETRIED.has(status), pauseOf(headers.get('retry-after')));
}

function pauseOf(text: string | null): number | null {
  const seconds = Number(text);
  return text !== null && Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : null;
}

/** Messages of errors may contain the address. */
function codeOf(error: unknown): string {
  const { cause } = error as { cause?: { code?: unknown } };
  return typeof cause?.code === 'string' ? cause.code : 'network error';
}

export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an address that cannot be read';
}
