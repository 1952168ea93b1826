/** The session that an id, or the beginning of one, means. */
import { AppError } from '../../base/pure/errors.ts';
import type { SessionRecord } from '../spec.ts';

/** Where sessions that are not open any more are looked for. */
export interface Past {
  find(id: string): SessionRecord | null;
  ended(query: { readonly limit: number }): readonly SessionRecord[];
}

/** Shorter beginnings name somebody else's session by accident. */
const MIN_LENGTH = 4;
/** Ended ones that are searched for a beginning. */
export const MAX_ENDED = 1_000;
const NAMED = 5;

export function findSession(id: string, open: readonly SessionRecord[], past: Past): SessionRecord {
  const exact = open.find((record) => record.id === id) ?? past.find(id);
  if (exact) return exact;
  const begins = (record: SessionRecord) => id.length >= MIN_LENGTH && record.id.startsWith(id);
  const alive = open.filter(begins);
  // Those that live are meant first: what has ended needs nothing any more.
  const found = alive.length > 0 ? alive : past.ended({ limit: MAX_ENDED }).filter(begins);
  if (found.length > 1) {
    const sessions = found.slice(0, NAMED).map((record) => record.id);
    throw new AppError('SESSION_ID_AMBIGUOUS', { id, sessions: sessions.join(', ') });
  }
  if (!found[0]) throw new AppError('NO_SUCH_SESSION', { id: id.slice(0, 100) });
  return found[0];
}
