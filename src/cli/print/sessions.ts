/** Sessions for people. */
import type { SessionView } from '../../sessions/rules/view.ts';
import type { Brush, Paint } from './colour.ts';
import { sanitise } from './sanitise.ts';
import { table } from './table.ts';
import { localTime, relative } from './time.ts';

const HEADER = ['ID', 'USER', 'TEMPLATE', 'HEALTH', 'ADDRESS', 'RESTARTS', 'EXPIRES', 'NOTE'] as const;
/** As much of an id as people need to tell them apart. */
const SHORT = 8;

const oneLine = (text: string): string => sanitise(text.replaceAll('\n', ' '));
const addressOf = ({ host, port }: SessionView): string => (host === null ? '' : `${host}:${port}`);

function brushOf(paint: Paint, { health_status: health }: SessionView): Brush {
  if (health === 'healthy') return paint.green;
  return health === 'unhealthy' ? paint.red : paint.yellow;
}

function noteOf(session: SessionView): string {
  if (session.end_reason !== null) return `${session.end_reason}: ${session.end_note}`;
  if (session.state === 'spawning') return 'being made';
  return session.health_reason ?? '';
}

export const sessionTable = (
  sessions: readonly SessionView[],
  paint: Paint,
  nowMs: number,
  columns?: number,
): string[] =>
  table(
    HEADER,
    sessions.map((session) => [
      { text: session.session_id.slice(0, SHORT), brush: paint.bold },
      { text: oneLine(session.user_id) },
      { text: oneLine(session.challenge_id) },
      { text: session.health_status, brush: brushOf(paint, session) },
      { text: addressOf(session) },
      { text: String(session.restarts) },
      { text: session.ended_at === null ? relative(session.expires_at, nowMs) : 'ended' },
      { text: oneLine(noteOf(session)) },
    ]),
    columns,
  );

/** One that has just been made or changed. */
export function sessionLine(session: SessionView): string {
  const where = addressOf(session) === '' ? '' : ` at ${addressOf(session)}`;
  const whose = `${oneLine(session.challenge_id)} for ${oneLine(session.user_id)}`;
  return `${session.session_id}: ${whose}${where}, until ${localTime(session.expires_at)}`;
}

export function sessionBlock(session: SessionView, paint: Paint, nowMs: number): string[] {
  const when = (iso: string): string => `${localTime(iso)} (${relative(iso, nowMs)})`;
  const reason = session.health_reason === null ? '' : `: ${oneLine(session.health_reason)}`;
  const rows: (readonly [label: string, text: string])[] = [
    ['user', oneLine(session.user_id)],
    ['template', oneLine(session.challenge_id)],
    ['state', session.state],
    ['health', `${brushOf(paint, session)(session.health_status)}${reason}`],
    ['address', addressOf(session) || '-'],
    ['container', session.container_id ?? '-'],
    ['restarts', String(session.restarts)],
    ['created', when(session.created_at)],
    ['expires', when(session.expires_at)],
  ];
  if (session.ended_at !== null) rows.push(['ended', `${when(session.ended_at)}, ${oneLine(noteOf(session))}`]);
  return [paint.bold(session.session_id), ...rows.map(([label, text]) => `  ${label.padEnd(10)}${text}`)];
}
