/** How often wrong tokens were sent lately. It only ever slows down those who send wrong ones: a right token is never asked for here. */

const PER_MS = 60_000;
const MAX_WRONG = 10;

export interface WrongTokens {
  readonly sinceMs: number;
  readonly count: number;
}

export const NO_WRONG_TOKENS: WrongTokens = { sinceMs: Number.NEGATIVE_INFINITY, count: 0 };

export const oneMore = ({ sinceMs, count }: WrongTokens, nowMs: number): WrongTokens =>
  nowMs - sinceMs >= PER_MS ? { sinceMs: nowMs, count: 1 } : { sinceMs, count: count + 1 };

export const isTooMany = ({ count }: WrongTokens): boolean => count > MAX_WRONG;

/** The first of its minute is said in the log, and no other. */
export const isNews = ({ count }: WrongTokens): boolean => count === 1;
