/** Whether what is asked for makes sense, before anything is done about it. */
import { AppError } from '../core/errors.ts';
import { formatDuration } from '../core/format.ts';
import type { SessionsSpec, SessionTemplate } from '../core/sessions/template.ts';
import { didYouMean } from '../core/suggest.ts';
import type { SpawnRequest } from '../ports/sessions.ts';

const MAX_USER_LENGTH = 128;
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f]/;

export function checkRequest(
  { user, template: name, ttlMs }: SpawnRequest,
  { templates }: SessionsSpec,
): { readonly template: SessionTemplate; readonly ttlMs: number } {
  if (user.length === 0 || user.length > MAX_USER_LENGTH || CONTROL_CHARACTER.test(user)) {
    const problem = `A user id is a text of 1 to ${MAX_USER_LENGTH} characters without control characters.`;
    throw new AppError('SESSION_INVALID', { problem });
  }
  const template = templates.find((each) => each.name === name);
  if (!template) {
    const known = templates.map((each) => each.name);
    throw new AppError('NO_SUCH_TEMPLATE', { name: name.slice(0, 100), suggestion: didYouMean(name, known) });
  }
  const lengthMs = ttlMs ?? template.ttlMs;
  if (!(lengthMs > 0) || lengthMs > template.maxTtlMs) {
    const problem = `A session of "${name}" lives for more than 0 and at most ${formatDuration(template.maxTtlMs)}.`;
    throw new AppError('SESSION_INVALID', { problem });
  }
  return { template, ttlMs: lengthMs };
}
