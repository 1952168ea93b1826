/** Hints of errors about sessions for programs that keep them by themselves: there is no command to be typed. */
import { AppError, type ErrorCode } from '../base/pure/errors.ts';

const HINTS: Partial<Readonly<Record<ErrorCode, string>>> = {
  NO_SUCH_SESSION: 'sessions.listSessions() lists them.',
  NO_SUCH_TEMPLATE: 'Give it in "templates" when the ChallengeOrchestrator is made.',
  SESSION_QUOTA: 'Use the existing one, or end it first with stopChallenge(sessionId).',
  SESSIONS_FULL: 'Wait until one ends, or give a larger "maxSessions" when the ChallengeOrchestrator is made.',
  SESSION_ENDED: 'Spawn a new one with spawnChallenge().',
  SESSIONS_CLOSED: 'It was shut down: make a new ChallengeOrchestrator.',
};

/** What `ask` rejects with says what to do in the words of the library. */
export async function withEmbeddedHints<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const hint = error instanceof AppError ? HINTS[error.code] : undefined;
    if (!(error instanceof AppError) || hint === undefined) throw error;
    throw new AppError(error.code, error.details, { cause: error.cause, hint });
  }
}
