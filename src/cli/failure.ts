/** Turns whatever went wrong into words and an exit code. Nobody ever sees a stack unless KEEPWELL_DEBUG=1 asks for it. */
import { AppError, ERRORS, type ErrorCode, type ErrorDetails, errorView } from '../base/pure/errors.ts';
import type { Paint } from './print/colour.ts';
import { jsonLine } from './print/json.ts';
import { sanitiseText } from './print/sanitise.ts';

export interface FailureForm {
  readonly json: boolean;
  readonly paint: Paint;
  readonly debug: boolean;
}

/** By its shape, not by `instanceof`: errors from the separately bundled parts have a class of their own. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof Error && error.name === 'AppError' && 'code' in error) {
    const { code, details } = error as { code?: unknown; details?: unknown };
    if (typeof code === 'string' && Object.hasOwn(ERRORS, code)) {
      return new AppError(code as ErrorCode, (details ?? {}) as ErrorDetails, { cause: error });
    }
  }
  const problem = error instanceof Error ? error.message : String(error);
  return new AppError('INTERNAL', { problem }, { cause: error });
}

/** For stderr. */
export function failureText(error: unknown, { json, paint, debug }: FailureForm): string {
  const known = toAppError(error);
  const stack = debug ? `${sanitiseText((error instanceof Error && error.stack) || String(error))}\n` : '';
  if (json) return `${stack}${jsonLine(errorView(known))}`;
  const message = sanitiseText(known.message).replaceAll('\n', '\n  ');
  return `${stack}${paint.red('error:')} ${message}\n  ${sanitiseText(known.hint)}\n`;
}
