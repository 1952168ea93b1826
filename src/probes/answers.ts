/** The three kinds of answers, and how one leaves from deep within. */
import type { Answer } from '../supervision/rules/health/probe.ts';

export const pass = (message: string): Answer => ({ outcome: 'pass', message });
export const fail = (message: string): Answer => ({ outcome: 'fail', message });
/** We could not ask. */
export const inconclusive = (message: string): Answer => ({ outcome: 'inconclusive', message });

/** Thrown: there is nothing more to ask. */
export class Answered extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(answer.message);
    this.answer = answer;
  }
}
