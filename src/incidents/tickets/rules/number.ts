/** BUG-003: how the number of a ticket is written, and read from what people type. */
import { AppError } from '../../../base/pure/errors.ts';

const MIN_DIGITS = 3;

export const bugNumber = (number: number): string => `BUG-${String(number).padStart(MIN_DIGITS, '0')}`;

/** "BUG-003", "bug-3", "bug3", "#3" and "3"; null: anything else. */
export function readBugNumber(text: string): number | null {
  const [, digits] = /^(?:bug-?|#)?0*([1-9]\d{0,8})$/i.exec(text.trim()) ?? [];
  return digits === undefined ? null : Number(digits);
}

const MAX_SHOWN = 50;

/** The same; throws TICKET_NUMBER_INVALID. */
export function ticketNumber(text: string): number {
  const number = readBugNumber(text);
  if (number === null) throw new AppError('TICKET_NUMBER_INVALID', { ticket: text.slice(0, MAX_SHOWN) });
  return number;
}
