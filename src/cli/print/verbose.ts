/** `status --verbose`: a block per component with everything that is known about it. */
import { describeExit } from '../../base/pure/exit.ts';
import { formatUptime } from '../../base/pure/format.ts';
import type { ComponentView } from '../../supervision/rules/views.ts';
import { healthBrush, type Paint, stateBrush } from './colour.ts';
import { containerRows } from './container.ts';
import { heartbeatText } from './heartbeat.ts';
import { limitsText } from './limits.ts';
import { probeText } from './probes.ts';
import { sanitise } from './sanitise.ts';
import { noteOf, readyOf } from './status.ts';
import { localTime, relative } from './time.ts';
import { usageText } from './usage.ts';

/** Of the values: status and pid, health and uptime. */
const COLUMNS = [17, 15] as const;

export function verboseBlock(view: ComponentView, paint: Paint, nowMs: number): string[] {
  const { state, health } = view;
  const status = mark(state === 'running' || state === 'completed', state === 'gave-up', title(state));
  const healthy = mark(health === 'healthy', health === 'unhealthy', title(health));
  return [
    paint.bold(sanitise(view.name)),
    line([
      ['Status:', status, stateBrush(paint, state)],
      ['Health:', healthy, healthBrush(paint, health)],
      ['Ready:', readyOf(view), String],
    ]),
    line([
      ['PID:', view.pid === null ? '-' : String(view.pid), String],
      ['Uptime:', view.uptime_ms === null ? '-' : formatUptime(view.uptime_ms), String],
      ['Restarts:', String(view.restarts), String],
    ]),
    ...details(view, nowMs).map(([label, text]) => `  ${label.padEnd(10)}${text}`),
  ];
}

const title = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const mark = (good: boolean, bad: boolean, text: string): string => `${good ? '✓' : bad ? '✗' : '·'} ${text}`;

function line(parts: readonly (readonly [label: string, text: string, brush: (text: string) => string])[]): string {
  const cells = parts.map(([label, text, brush], index) => {
    const lead = index === 0 ? label.padEnd(10) : `${label} `;
    return `${lead}${brush(text)}${' '.repeat(Math.max(1, (COLUMNS[index] ?? 0) - text.length))}`;
  });
  return `  ${cells.join('')}`.trimEnd();
}

/** Only what there is. */
function details(view: ComponentView, nowMs: number): [string, string][] {
  const when = (iso: string) => `${localTime(iso)} (${relative(iso, nowMs)})`;
  const { last_exit: exit, last_restart: restart, next_attempt_at: next } = view;
  const rows: [string, string | null][] = [
    ...watchedRows(view),
    ...view.probes.map((probe, n): [string, string] => [n === 0 ? 'Probes:' : '', probeText(probe, nowMs)]),
    ['Beats:', view.heartbeat && heartbeatText(view.heartbeat, nowMs)],
    ['Usage:', view.resources && usageText(view.resources)],
    ['Note:', noteOf(view) || null],
    [
      'Run:',
      view.run_id === null ? null : `${view.run_id}${view.adopted ? ', taken over from an earlier daemon' : ''}`,
    ],
    ['Started:', view.started_at && when(view.started_at)],
    ['Exited:', exit && `${describeExit(exit)}, ${when(exit.at)}`],
    ['Restart:', restart && `${restart.reason}, ${when(restart.at)}`],
    ['Next try:', next && when(next)],
    ['Wanted:', view.desired === 'stopped' ? 'stopped (by hand)' : 'running'],
    ['Needs:', dependencies(view)],
    ['Leftover:', view.survivors.join(', ') || null],
    ['Tree:', treeText(view)],
    ['Limits:', limitsText(view)],
    ...containerRows(view),
  ];
  return rows.flatMap(([label, text]): [string, string][] => (text === null ? [] : [[label, sanitise(text)]]));
}

/** How all of its processes are found and ended, not only the main one. */
function treeText({ tree_mechanism: mechanism }: ComponentView): string | null {
  if (mechanism === null) return null;
  const how = mechanism === 'cgroup-v2' ? 'their cgroup (v2)' : 'process group and environment cookie';
  return `all its processes are found and ended by ${how}`;
}

/** What others started: where it is looked for. Containers have a row of their own. */
function watchedRows({ watched }: ComponentView): [string, string][] {
  if (watched === null || watched.kind === 'container') return [];
  return [[watched.kind === 'address' ? 'Address:' : 'Pid file:', watched.target]];
}

function dependencies({ depends_on, waiting_for }: ComponentView): string | null {
  const names = Object.entries(depends_on);
  if (names.length === 0) return null;
  return names
    .map(([name, condition]) => `${name} ${condition}${waiting_for.includes(name) ? ' (not yet)' : ''}`)
    .join(', ');
}
