/** The three kinds of answers, and how one leaves from deep within. */
import type { Answer } from '../supervision/rules/health/probe.ts';

export const pass = (message: string): Answer => ({ outcome: 'pass', message });
export const fail = (message: string): Answer => ({ outcome: 'fail', message });
/** We could not ask. */
export const inconclusive = (message: string): Answer => ({ outcome: 'inconclusive', message });

/** Thrown: there is nothing more to ask. */
export class FinalAnswer extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(answer.message);
    this.answer = answer;
  }
}

/** The last line of some output as one harmless line of a message. */

const MAX_CHARS = 200;

/** Colours, titles and other sequences that are meant for terminals. */
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-_])/g;
/** What is left of control characters, and those that turn the direction of writing. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

export function lastLine(output: string): string {
  const lines = output.split(/[\r\n]+/).map((line) => line.replace(SEQUENCES, '').replace(CONTROLS, ' ').trim());
  const last = lines.findLast((line) => line !== '') ?? '';
  const chars = [...last];
  return chars.length > MAX_CHARS ? `${chars.slice(0, MAX_CHARS - 1).join('')}…` : last;
}
