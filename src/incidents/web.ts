/** Asking servers on the web: trackers of tickets, and those who are told of alerts. */
import type { Answered } from '../base/pure/retry-after.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Over everything. */
  readonly timeoutMs: number;
  /** `head`: nobody wants to know what follows it, and it is not waited for. */
  readonly reads: 'all' | 'head';
}

export interface HttpAnswer extends Answered {
  readonly status: number;
  readonly text: string;
}

/** `failed`: there is no answer as it was wanted, so nobody knows whether it was done. `why` names the host and nothing else of the address. */
export type HttpOutcome =
  | { readonly kind: 'answered'; readonly answer: HttpAnswer }
  | { readonly kind: 'failed'; readonly why: string };

/** One request, once. Never rejects, follows no redirect and keeps no connection. */
export type Ask = (request: HttpRequest, signal: AbortSignal) => Promise<HttpOutcome>;
