/** The status table, one row per component. */
import { describeExit } from '../../base/pure/exit.ts';
import { formatBytes, formatDuration, formatUptime } from '../../base/pure/format.ts';
import type {
  ComponentView,
  DaemonView,
  FreezeView,
  HeartbeatView,
  LimitView,
  ProbeStretchView,
  ProbeView,
  ResourcesView,
  SampleView,
  StatusView,
} from '../../supervision/rules/views.ts';
import { healthBrush, noPaint, type Paint, stateBrush } from './colour.ts';
import { clockTime, localTime, relative } from './json.ts';
import { sanitise } from './sanitise.ts';
import { type Cell, displayWidth, shorten, table } from './table.ts';

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
  if (daemon.fleet != null && daemon.fleet !== 'ok') remarks.push(`fleet: ${sanitise(daemon.fleet)}`);
  if (daemon.page?.problem) remarks.push(`page: it cannot be served: ${sanitise(daemon.page.problem)}`);
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
  const { gaps = 0 } = logs as Partial<typeof logs>; // an older daemon does not tell
  if (gaps > 0)
    parts.push(`${gaps === 1 ? 'one gap' : `${gaps} gaps`} in logs of containers (lines that Docker did not pass on)`);
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

// Probes in words: how they stand now, and what they had answered before a death.

const MARKS = { pass: '✓', fail: '✗', inconclusive: '?' } as const;

/** "liveness http :8080/healthz ✓ 3 ms, 12 s ago" */
export function probeText({ role, question, last, failures, failure_threshold, skipped }: ProbeView, nowMs: number) {
  const what = `${role} ${question}`;
  if (last === null) return `${what} · not asked yet`;
  const when = relative(last.at, nowMs);
  const late = skipped > 0 ? `, ${skipped} skipped because the one before was still open` : '';
  if (last.outcome === 'pass') return `${what} ${MARKS.pass} ${formatDuration(last.duration_ms)}, ${when}${late}`;
  const times = last.outcome === 'fail' ? `, ${inARow(failures, failure_threshold)}` : ', does not count';
  return `${what} ${MARKS[last.outcome]} ${last.message}${times}, ${when}${late}`;
}

/** "2 of 3 failures in a row"; readiness may go on failing for long: "11 failures in a row" */
const inARow = (failures: number, threshold: number): string =>
  failures > threshold ? `${failures} failures in a row` : `${failures} of ${threshold} failures in a row`;

/** "03:04:05 to 03:04:25  liveness http :8080/healthz ✗ 3 times: HTTP 503" */
export function stretchText({ role, question, outcome, message, first_at, last_at, count, max_ms }: ProbeStretchView) {
  const when = count === 1 ? clockTime(first_at) : `${clockTime(first_at)} to ${clockTime(last_at)}`;
  const times = count === 1 ? 'once' : `${count} times`;
  const told = outcome === 'pass' ? `, at most ${formatDuration(Math.round(max_ms))}` : `: ${message}`;
  return `${when}  ${role} ${question} ${MARKS[outcome]} ${times}${told}`;
}

// Heartbeats in words: how one stands now, and how a frozen run was dealt with.

/** "last beat 12 s ago by log, frozen after 5 min 30 s of silence" */
export function heartbeatText({ source, last_beat_at, limit_ms, problem }: HeartbeatView, nowMs: number): string {
  const last =
    last_beat_at === null ? `no beat yet by ${source}` : `last beat ${relative(last_beat_at, nowMs)} by ${source}`;
  const wrong = problem === null ? '' : ` (${problem})`;
  return `${last}${wrong}, frozen after ${formatDuration(limit_ms)} of silence`;
}

/** "03:04:05  SIGINT sent", from the last beat on. */
export const freezeLines = ({ timeout, silent_since, steps }: FreezeView): string[] => [
  `${clockTime(silent_since)}  ${timeout ? 'its time was up' : 'last sign of progress'}`,
  ...steps.map(({ at, text }) => `${clockTime(at)}  ${text}`),
];

// The limits of a component in a few words: "memory 512 MiB (cgroup v1), nofile 4096".

/** Null: it has none. */
export const limitsText = ({ limits }: Pick<ComponentView, 'limits'>): string | null =>
  limits.map(limitText).join(', ') || null;

function limitText({ name, max, mechanism, note }: LimitView): string {
  const limit = `${name} ${name === 'memory' ? formatBytes(max) : max}`;
  const why = note === null ? '' : `: ${note}`;
  if (mechanism === null) return `${limit} (not in force${why})`;
  // Open files of processes are always limited that way.
  return name === 'nofile' && mechanism === 'rlimit' ? limit : `${limit} (${mechanism.replace('-v', ' v')}${why})`;
}

// The container of a component, in `status --verbose`.

/** As Docker shortens it. */
const SHORT_ID_CHARS = 12;

export function containerRows({ container, container_details: details }: ComponentView): [string, string | null][] {
  if (container === null) return [];
  if (details === null) return [['Name:', container]];
  const { id, image, image_outdated: isOutdated, health, health_reason: reason, ports, networks } = details;
  return [
    ['Name:', `${container} (container ${id.slice(0, SHORT_ID_CHARS)})`],
    ['Image:', `${image}${isOutdated ? ' (outdated: built or fetched anew since)' : ''}`],
    ['Docker:', health === 'none' ? 'no health check' : `${health}${reason === null ? '' : `: ${reason}`}`],
    ['Ports:', ports.join(', ') || null],
    ['Network:', networks.join(', ') || null],
  ];
}

// `status --verbose`: a block per component with everything that is known about it.

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
    ['Shim:', shimText(view)],
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

/** What starts its runs and sees how they end. An older daemon does not tell. */
function shimText({ shim }: ComponentView): string | null {
  if (!shim) return null;
  return shim.kind === 'native' ? 'native, which sees the exact end of a run' : `sh${shim.why ? `: ${shim.why}` : ''}`;
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

// What a component uses, in words, in two columns of the status table, and as a table of its history.

/** Never "0.0 %" for something that does work. */
export function percentText(percent: number | null): string {
  if (percent === null) return '-';
  return percent < 10 ? `${Math.round(percent * 10) / 10} %` : `${Math.round(percent)} %`;
}

/** For a cell of a table: no blanks, so that columns can be counted. */
const cell = (text: string): string => text.replace(' ', '');

export const usageCells = (resources: ResourcesView | null): readonly [cpu: string, memory: string] =>
  resources === null
    ? ['-', '-']
    : [cell(percentText(resources.cpu_percent)), cell(formatBytes(resources.memory_bytes))];

/** "CPU 0.3 %   Memory 41 MiB of 400 MiB soft   Files 23   Threads 11" */
export function usageText({ cpu_percent, memory_bytes, soft_memory_bytes: soft, ...counts }: ResourcesView): string {
  const { fds, threads, processes } = counts;
  const parts = [
    `CPU ${percentText(cpu_percent)}`,
    `Memory ${formatBytes(memory_bytes)}${soft === null ? '' : ` of ${formatBytes(soft)} soft`}`,
    ...(fds === null ? [] : [`Files ${fds}`]),
    `Threads ${threads}`,
    ...(processes > 1 ? [`Processes ${processes}`] : []),
  ];
  return parts.join('   ');
}

const USAGE_HEADER = ['FROM', 'FOR', 'CPU', 'MEM', 'MAX MEM', 'FILES', 'THREADS', 'PROCESSES'] as const;

/** Oldest first, so that the newest stands where people look. */
export const historyTable = (newestFirst: readonly SampleView[]): string[] =>
  table(
    USAGE_HEADER,
    newestFirst
      .toReversed()
      .map((sample) => [
        { text: localTime(sample.first_at) },
        { text: formatUptime(Date.parse(sample.last_at) - Date.parse(sample.first_at)).replace(' ', '') },
        { text: cell(percentText(sample.cpu_percent)) },
        { text: cell(formatBytes(sample.memory_bytes)) },
        { text: cell(formatBytes(sample.memory_max_bytes)) },
        { text: sample.fds === null ? '-' : String(sample.fds) },
        { text: String(sample.threads) },
        { text: String(sample.processes) },
      ]),
  );
