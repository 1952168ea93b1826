/** Errors around simulated crashes: a part of the table of all errors. */
import type { ErrorEntry } from '../error-entry.ts';

export const SIMULATE_ERRORS = {
  NOT_SIMULATED: {
    message: 'Nothing was done to "{name}": {problem}.',
    hint: '{hint} All kinds are in "keepwell simulate-crash --help".',
    exitCode: 1,
    httpStatus: 409,
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>;
