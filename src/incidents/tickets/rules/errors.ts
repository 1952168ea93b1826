/** What can go wrong about tickets, in people's words. */
import type { ErrorEntry } from '../../../base/pure/error-entry.ts';

export const TICKET_ERRORS = {
  NO_SUCH_TICKET: {
    message: 'There is no ticket {ticket}.',
    hint: '"keepwell tickets" lists the open ones, "keepwell tickets list --all" lists all.',
    exitCode: 4,
    httpStatus: 404,
  },
  TICKET_NUMBER_INVALID: {
    message: '"{ticket}" is not the number of a ticket.',
    hint: 'Give a number such as BUG-003, bug-3 or 3.',
    exitCode: 2,
    httpStatus: 400,
  },
} as const satisfies Record<string, ErrorEntry>;
