/** Whether what was asked for will still hold for a daemon that begins anew. */

import type { ActionView } from '../api/control.ts';
import { AppError } from '../base/pure/errors.ts';

/** What was acknowledged must stay: what cannot be kept is an error, though it was done. Daemons of older versions do not say. */
export function requireRemembered(answer: Partial<Pick<ActionView, 'not_remembered'>> | null): void {
  const problem = answer?.not_remembered ?? null;
  if (problem !== null) throw new AppError('NOT_REMEMBERED', { problem });
}
