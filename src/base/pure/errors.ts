/** Errors as they are thrown, and as they are shown. */
import { ERRORS } from './error-table.ts';

export { ERRORS };

export type ErrorCode = keyof typeof ERRORS;
/** One of several things that an error is about. */
export type ErrorItem = Readonly<Record<string, string | number | null>>;
export type ErrorDetails = Readonly<Record<string, string | number | readonly ErrorItem[]>>;

const fill = (template: string, details: ErrorDetails): string =>
  template.replace(/\{(\w+)\}/g, (_, key: string) => String(details[key] ?? ''));

/** Programs match on `code`; people read `message` and `hint`; `cause` keeps the original. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly hint: string;
  readonly details: ErrorDetails;

  /** `hint`: what to do instead of what the table says, where that is read by somebody else. */
  constructor(code: ErrorCode, details: ErrorDetails = {}, options?: { cause?: unknown; hint?: string }) {
    super(fill(ERRORS[code].message, details), options);
    this.code = code;
    this.details = details;
    this.hint = options?.hint ?? fill(ERRORS[code].hint, details);
  }

  get exitCode(): number {
    return ERRORS[this.code].exitCode;
  }
  get httpStatus(): number {
    return ERRORS[this.code].httpStatus;
  }
}

// In the API's answers and, with `-o json`, on the CLI's stderr.
/** What went wrong. */
export interface ErrorView {
  readonly error: {
    /** For programs; docs/reference/errors.md lists them all. */
    readonly code: string;
    /** For people; it may change. */
    readonly message: string;
    /** What to do; it may change. */
    readonly hint: string;
    readonly details: ErrorDetails;
  };
}

export const errorView = (error: AppError): ErrorView => ({
  error: { code: error.code, message: error.message, hint: error.hint, details: error.details },
});
