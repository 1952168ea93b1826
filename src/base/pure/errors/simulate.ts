/** Errors around simulated crashes: a part of the table of all errors. */
import type { ErrorEntry } from '../error-entry.ts';

export const SIMULATE_ERRORS = {
  NOT_SIMULATED: {
    message: 'Nothing was done to "{name}": {problem}.',
    hint: '{hint} See "keepwell simulate-crash --help" for all kinds.',
    exitCode: 1,
    httpStatus: 409,
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>;
