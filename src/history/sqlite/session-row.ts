/** The row of one session. */
import type { SessionRecord } from '../../sessions/spec.ts';
import { isObject, json, parsed, text } from './cells.ts';
import type { Row } from '../../base/sqlite.ts';

export const sessionRow = (record: SessionRecord): Row => ({
  session_id: text(record.id),
  user_id: text(record.user),
  template: text(record.template),
  state: record.state,
  container_id: record.containerId,
  created_at: Math.round(record.lease.createdAt),
  expires_at: Math.round(record.lease.expiresAt),
  health_status: record.health.status,
  restarts: record.restarts,
  ended_at: record.end && Math.round(record.end.at),
  end_reason: record.end?.reason ?? null,
  record_json: json(record),
});

/** Null: it cannot be read, and its container speaks for itself. */
export function sessionRecord(row: Row): SessionRecord | null {
  const isWhole = (value: unknown) => isObject(value) && isObject(value['lease']) && isObject(value['terms']);
  return parsed<SessionRecord | null>(row['record_json'], null, isWhole);
}
