/** How deliveries end. */
import type { Delivered, DeliveryProblem, DeliveryResult } from '../ports/tickets.ts';
import type { HttpAnswer } from './http.ts';

export const done = (delivered: Delivered): DeliveryResult => ({ kind: 'done', delivered });

export const failed = (problem: DeliveryProblem): DeliveryResult => ({ kind: 'failed', problem });

export const later = (message: string, pauseMs?: number): DeliveryResult =>
  failed({ kind: 'later', message, ...(pauseMs === undefined ? {} : { pauseMs }) });

export const refused = (message: string): DeliveryResult => failed({ kind: 'refused', message });

export const halt = (message: string): DeliveryResult => failed({ kind: 'halt', message });

/** No tracker makes us wait for longer than this. */
const MAX_PAUSE_MS = 2 * 3_600_000;

/** `Retry-After` in seconds or as a date, counted by the tracker's own clock. */
export function retryAfterMs({ header }: Pick<HttpAnswer, 'header'>): number | null {
  const value = header('retry-after')?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return bounded(Number(value) * 1000);
  const until = Date.parse(value);
  return Number.isNaN(until) ? null : untilMs({ header }, until);
}

/** From the moment of the answer to `epochMs`, both by the tracker's clock: ours may be wrong. */
export function untilMs({ header }: Pick<HttpAnswer, 'header'>, epochMs: number): number {
  const answered = Date.parse(header('date') ?? '');
  return bounded(epochMs - (Number.isNaN(answered) ? Date.now() : answered));
}

const bounded = (ms: number): number => Math.min(Math.max(1000, ms), MAX_PAUSE_MS);
