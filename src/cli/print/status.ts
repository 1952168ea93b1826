/** The status table, one row per component. */
import { formatBytes } from '../../base/pure/bytes.ts';
import { formatUptime } from '../../base/pure/format.ts';
import type { ComponentView, DaemonView, StatusView } from '../../supervision/rules/views.ts';
import { healthBrush, noPaint, type Paint, stateBrush } from './colour.ts';
import { sanitise } from './sanitise.ts';
import { type Cell, table } from './table.ts';
import { localTime } from './time.ts';
import { usageCells } from './usage.ts';
import { displayWidth, shorten } from './width.ts';

const HEADER = ['NAME', 'STATE', 'HEALTH', 'READY', 'PID', 'UPTIME', 'RESTARTS', 'NOTE'] as const;
const WIDE_HEADER = [...HEADER.slice(0, -1), 'CPU', 'MEM', 'NOTE'] as const;
/** What must be left for the note, so that it still says something. */
const NOTE_COLUMNS = 30;

/** What is worth saying beside the columns: the daemon's own sentence, or what the state alone does not tell. */
export function noteOf(view: ComponentView): string {
  const { condition, note } = view;
  if (note !== null) {
    const isNamed = condition === null || note.startsWith(condition);
    return sanitise(`${isNamed ? '' : `${condition}: `}${note.replaceAll('\n', ' ')}`);
  }
  if (condition !== null) return condition;
  if (view.state !== 'stopped') return '';
  if (view.desired === 'running') return 'wanted, but not running';
  return view.last_exit === null ? 'not started' : 'stopped by hand';
}

/** Where nobody asks, nobody knows. */
export const readyOf = ({ ready, state, health }: ComponentView): string => {
  if (ready) return 'yes';
  return state === 'running' && health === 'unknown' ? 'unknown' : 'no';
};

export const uptimeOf = (view: ComponentView): string =>
  view.uptime_ms === null ? '-' : formatUptime(view.uptime_ms).replace(' ', '');

function row(view: ComponentView, paint: Paint, isWide: boolean): Cell[] {
  const usage = isWide ? usageCells(view.resources).map((text) => ({ text })) : [];
  return [
    { text: sanitise(view.name), brush: paint.bold },
    { text: view.state, brush: stateBrush(paint, view.state) },
    { text: view.health, brush: healthBrush(paint, view.health) },
    { text: readyOf(view) },
    { text: view.pid === null ? '-' : String(view.pid) },
    { text: uptimeOf(view) },
    { text: String(view.restarts), brush: view.restarts > 0 ? paint.yellow : String },
    ...usage,
    { text: noteOf(view) },
  ];
}

/** What is used is shown where there is room for it: on a wide terminal, or where nobody counts columns. */
export function statusTable(views: readonly ComponentView[], paint: Paint, columns?: number): string[] {
  const isWide = columns === undefined || widthWithUsage(views) <= columns;
  const rows = views.map((view) => row(view, paint, isWide));
  return table(isWide ? WIDE_HEADER : HEADER, rows, columns);
}

/** With as much of each note as is needed to make sense of it. */
function widthWithUsage(views: readonly ComponentView[]): number {
  const rows = views.map((view) => {
    const cells = row(view, noPaint, true);
    return [...cells.slice(0, -1), { text: shorten(noteOf(view), NOTE_COLUMNS) }];
  });
  return table(WIDE_HEADER, rows).reduce((widest, line) => Math.max(widest, displayWidth(line)), 0);
}

/** Only what people must know about the daemon: nothing when all is well. */
export function daemonRemarks({ daemon }: StatusView, now: number = Date.now()): string[] {
  const remarks: string[] = [];
  if (daemon.waits_for != null) {
    remarks.push(
      `the daemon died, and cannot come back: ${sanitise(daemon.waits_for)}. Components go on. Make it writable: then it comes back by itself`,
    );
  } else if (daemon.next_start_at != null) {
    const inMs = Math.max(0, Date.parse(daemon.next_start_at) - now);
    remarks.push(`the daemon died; the guardian starts it again ${inMs < 1000 ? 'now' : `in ${formatUptime(inMs)}`}`);
  }
  if (daemon.store !== null && daemon.store !== 'ok') remarks.push(`history: ${sanitise(daemon.store)}`);
  if ((daemon.loop_delay_ms ?? 0) > 1000) {
    remarks.push(
      `the daemon was held up for ${formatUptime(daemon.loop_delay_ms!)}: the machine is overloaded or was suspended`,
    );
  }
  if (daemon.alerts) remarks.push(`alerts: ${sanitise(daemon.alerts)}`);
  if (daemon.logs?.condition) remarks.push(`logs: ${sanitise(daemon.logs.condition)}`);
  return remarks;
}

/** How logs are kept, and what could not be. */
export function keepingLine({ logs }: DaemonView): string[] {
  if (!logs) return [];
  const how = logs.mechanism === 'collapse-range' ? 'in place' : 'by copying what is kept';
  const parts = [`${formatBytes(logs.bytes)} kept`, `old lines are cut off ${how} (${logs.mechanism})`];
  if (logs.dropped_bytes > 0) parts.push(`${formatBytes(logs.dropped_bytes)} dropped`);
  if (logs.lost_bytes > 0) parts.push(`${formatBytes(logs.lost_bytes)} lost`);
  return [`logs: ${parts.join(', ')}`];
}

/** Nothing where nobody has anything to do with sessions. */
export function sessionsLine({ sessions }: DaemonView): string[] {
  if (!sessions) return [];
  const sick = sessions.unhealthy === 0 ? '' : ` (${sessions.unhealthy} unhealthy)`;
  return [`sessions: ${sessions.total}${sick}`];
}

export function daemonLine(daemon: DaemonView): string {
  if (!daemon.running) return 'daemon: not running';
  const parts = [`pid ${daemon.pid ?? '?'}`, `version ${daemon.version ?? '?'}`];
  if (daemon.guardian_pid !== null) parts.push(`guardian pid ${daemon.guardian_pid}`);
  if (daemon.started_at !== null) parts.push(`since ${localTime(daemon.started_at)}`);
  return `daemon: ${parts.join(', ')}`;
}
