/** What is told about sessions. */
import type { SessionEvent, SessionEventType, SessionRecord } from './spec.ts';

type Data = SessionEvent['data'];

export const eventOf = (
  { user, template, health }: SessionRecord,
  type: SessionEventType,
  data: Data,
): SessionEvent => ({
  type,
  data: { user_id: user, challenge_id: template, health_status: health.status, ...data },
});

/** That it is decided; that nothing is left of it is told later. What was never told to begin ends without a word. */
export function endingEvents(record: SessionRecord, end: NonNullable<SessionRecord['end']>): readonly SessionEvent[] {
  const { reason, why } = end;
  if (reason !== 'stopped' && reason !== 'expired' && reason !== 'gave-up') return [];
  return [eventOf(record, `session.${reason}`, { why })];
}
