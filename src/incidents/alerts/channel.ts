/** One way to people. */
import type { AlertMessage } from './rules/message.ts';

export type Sent =
  | { readonly ok: true }
  /** `problem` names no secret. `retry: false`: it would be refused again. */
  | { readonly ok: false; readonly problem: string; readonly retry: boolean; readonly pauseMs: number | null };

export interface ChannelSender {
  /** The same for the same target, and no secret: what is under way is kept by it. */
  readonly id: string;
  /** For people: "slack at hooks.slack.com". */
  readonly name: string;
  /** Never rejects, and gives up by itself. */
  send(message: AlertMessage, signal: AbortSignal): Promise<Sent>;
}

export const failure = (problem: string, retry = true, pauseMs: number | null = null): Sent => ({
  ok: false,
  ...{ problem, retry, pauseMs },
});
