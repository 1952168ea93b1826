/** Whether what is asked for makes sense, before anything is done about it. */
import { AppError } from '../base/pure/errors.ts';
import { formatDuration } from '../base/pure/format.ts';
import type { SessionsSpec, SessionTemplate } from './rules/template.ts';
import { didYouMean } from '../base/pure/suggest.ts';
import type { SpawnRequest } from './ports.ts';

const MAX_USER_LENGTH = 128;
const MAX_SHOWN = 100;
/** Control characters, and halves of a character: those come back from the Engine as another text, which nobody could count. */
const NOT_ALLOWED = /[\p{Cc}\p{Surrogate}]/u;

/** Programs without types can ask for anything. */
const isUserId = (user: unknown): boolean =>
  typeof user === 'string' && user.length > 0 && user.length <= MAX_USER_LENGTH && !NOT_ALLOWED.test(user);

/** A length of time in milliseconds. */
export const isLength = (ms: unknown): ms is number => typeof ms === 'number' && ms > 0;

export function checkRequest(
  { user, template: name, ttlMs }: SpawnRequest,
  { templates }: SessionsSpec,
): { readonly template: SessionTemplate; readonly ttlMs: number } {
  if (!isUserId(user)) {
    const problem = `A user id is a text of 1 to ${MAX_USER_LENGTH} characters without control characters.`;
    throw new AppError('SESSION_INVALID', { problem });
  }
  const template = templates.find((each) => each.name === name);
  if (!template) {
    const known = templates.map((each) => each.name);
    const wanted = String(name).slice(0, MAX_SHOWN);
    throw new AppError('NO_SUCH_TEMPLATE', { name: wanted, suggestion: didYouMean(wanted, known) });
  }
  const lengthMs = ttlMs ?? template.ttlMs;
  if (!isLength(lengthMs) || lengthMs > template.maxTtlMs) {
    const problem = `A session of "${name}" lives for more than 0 and at most ${formatDuration(template.maxTtlMs)}.`;
    throw new AppError('SESSION_INVALID', { problem });
  }
  return { template, ttlMs: lengthMs };
}
