/** The status table, one row per component. */
import { formatUptime } from '../../core/format.ts';
import type { ComponentView, DaemonView, StatusView } from '../../core/views.ts';
import { healthBrush, type Paint, stateBrush } from './colour.ts';
import { sanitise } from './sanitise.ts';
import { type Cell, table } from './table.ts';

export const STATUS_HEADER = ['NAME', 'STATE', 'HEALTH', 'READY', 'PID', 'UPTIME', 'RESTARTS', 'NOTE'] as const;

/** What is worth saying beside the columns: the daemon's own sentence, or what the state alone does not tell. */
export function noteOf(view: ComponentView): string {
  if (view.note !== null) return sanitise(view.note.replaceAll('\n', ' '));
  if (view.condition !== null) return view.condition;
  if (view.state !== 'stopped') return '';
  if (view.desired === 'running') return 'wanted, but not running';
  return view.last_exit === null ? 'not started' : 'stopped by hand';
}

export const uptimeOf = (view: ComponentView): string =>
  view.uptime_ms === null ? '-' : formatUptime(view.uptime_ms).replace(' ', '');

function row(view: ComponentView, paint: Paint): Cell[] {
  return [
    { text: sanitise(view.name), brush: paint.bold },
    { text: view.state, brush: stateBrush(paint, view.state) },
    { text: view.health, brush: healthBrush(paint, view.health) },
    { text: view.ready ? 'yes' : 'no' },
    { text: view.pid === null ? '-' : String(view.pid) },
    { text: uptimeOf(view) },
    { text: String(view.restarts), brush: view.restarts > 0 ? paint.yellow : String },
    { text: noteOf(view) },
  ];
}

export const statusTable = (views: readonly ComponentView[], paint: Paint, columns?: number): string[] =>
  table(
    STATUS_HEADER,
    views.map((view) => row(view, paint)),
    columns,
  );

/** Only what people must know about the daemon: nothing when all is well. */
export function daemonRemarks({ daemon }: StatusView): string[] {
  const remarks: string[] = [];
  if (daemon.store !== null && daemon.store !== 'ok') remarks.push(`history: ${sanitise(daemon.store)}`);
  if ((daemon.loop_delay_ms ?? 0) > 1000) {
    remarks.push(
      `the daemon was held up for ${formatUptime(daemon.loop_delay_ms!)}: the machine is overloaded or was asleep`,
    );
  }
  return remarks;
}

export function daemonLine(daemon: DaemonView): string {
  if (!daemon.running) return 'daemon: not running';
  const parts = [`pid ${daemon.pid ?? '?'}`, `version ${daemon.version ?? '?'}`];
  if (daemon.guardian_pid !== null) parts.push(`guardian pid ${daemon.guardian_pid}`);
  if (daemon.started_at !== null) parts.push(`since ${daemon.started_at}`);
  return `daemon: ${parts.join(', ')}`;
}
