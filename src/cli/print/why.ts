/** The dossier of one death, in the order in which somebody at three in the morning needs it. */

import { describeEnd, describeExit } from '../../base/pure/exit.ts';
import { formatBytes, formatDuration } from '../../base/pure/format.ts';
import { howEarly } from '../../crashes/rules/earlier.ts';
import type { ComponentView, WhyView } from '../../supervision/rules/views.ts';
import type { Paint } from './colour.ts';
import { localTime, relative } from './json.ts';
import { oneLine, sanitise } from './sanitise.ts';
import { freezeLines, stretchText } from './status.ts';

export interface WhyContext {
  /** How the component is now; null when the configuration no longer names it. */
  readonly current: ComponentView | null;
  readonly nowMs: number;
  readonly paint: Paint;
}

export function whyText(why: WhyView, context: WhyContext): string[] {
  const { paint, nowMs } = context;
  const { kind, name: whose } = why.subject;
  const name = oneLine(kind === 'component' ? whose : `${kind} ${whose}`);
  return [
    `${paint.bold(name)} ${headline(why, paint)} (${relative(why.at, nowMs)})`,
    ...rows([
      [
        'When',
        `${localTime(why.at)}${why.uptime_ms === 0 ? '' : `, after running for ${formatDuration(why.uptime_ms)}`}`,
      ],
      ['Crash', `${why.id === 0 ? 'not recorded yet' : why.id}, run ${why.run_id}`],
      ['Exit', why.exit.unhealthy ? describeEnd(why.exit) : null],
      ['Used', usedText(why)],
      ['Error', why.error_type && [why.error_type, why.error_message].filter(Boolean).join(': ')],
      ['Said', saidText(why)],
      ['Cause', why.root_cause],
      ['Earlier', earlierText(why.earlier_error)],
      ['Task', why.task_id],
      ['Incident', incidentText(why)],
      ['Decision', why.decision],
      ['Rule', why.id === 0 ? null : ruleText(why)],
      ['Changed', changedText(why)],
      ['Now', nowText(context, why)],
    ]),
    ...section('Dependencies at that time', why.dependencies.map(dependencyText)),
    ...section('Its probes before that', why.probes.map(stretchText)),
    ...section(
      why.freeze?.timeout ? 'It ran too long' : 'Its heartbeat was overdue',
      why.freeze ? freezeLines(why.freeze) : [],
    ),
    ...section('What it was doing', why.freeze?.evidence ?? []),
    ...section('Stack', why.stack),
    ...section('Files', why.related_files),
    ...section('Stack of the earlier error', why.earlier_error?.stack ?? []),
    ...section('Files of the earlier error', why.earlier_error?.related_files ?? []),
    ...section('Its last lines', why.log_tail.length > 0 ? why.log_tail : ['(it wrote nothing)']),
  ];
}

/** Its last words, which name its incident, where nothing else does. */
const saidText = ({ error_type, error_message, root_cause }: WhyView): string | null =>
  error_type === null && root_cause === null ? error_message : null;

/** No cause: it lived on after it. */
const earlierText = (earlier: WhyView['earlier_error']): string | null =>
  earlier === null ? null : `an error it had logged ${howEarly(earlier)}: ${earlier.summary}`;

/** In all its life. An older daemon does not tell. */
const usedText = ({ exit: { usage } }: WhyView): string | null =>
  usage
    ? `at most ${formatBytes(usage.max_rss_bytes)} of memory, and ${formatDuration(usage.cpu_ms)} of CPU time`
    : null;

/** The same cause, whenever it comes; and what people have written about it. */
const incidentText = ({ incident, ticket }: WhyView): string | null =>
  incident === null ? null : `${incident}${ticket === null ? '' : `, ticket ${ticket}`}`;

/** What never started, or was ended by us, has not died. */
const headline = ({ exit }: WhyView, paint: Paint): string => {
  const how = paint.red(oneLine(describeExit(exit)));
  if (exit.unhealthy) return `was ${how}`;
  return exit.spawn_error === null ? `died: ${how}` : how;
};

const rows = (entries: readonly (readonly [string, string | null])[]): string[] =>
  entries.flatMap(([label, text]) =>
    text === null || text === '' ? [] : [`  ${`${label}:`.padEnd(10)}${oneLine(text)}`],
  );

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', `  ${title}:`, ...lines.map((line) => `    ${sanitise(line)}`)];

const count = (value: number, one: string, many: string): string => `${value} ${value === 1 ? one : many}`;

function ruleText({ rule, subject }: WhyView): string {
  const { restarts_in_window: inWindow, failures, spawn_errors: spawnErrors, total } = rule.counters;
  if (subject.kind === 'experiment') return `${rule.name} (${count(failures, 'failed attempt', 'failed attempts')})`;
  const parts = [
    count(inWindow, 'restart in the window', 'restarts in the window'),
    count(failures, 'failure in a row', 'failures in a row'),
    ...(spawnErrors > 0 ? [count(spawnErrors, 'failed start in a row', 'failed starts in a row')] : []),
    count(total, 'earlier restart', 'earlier restarts'),
  ];
  return `${rule.name} (${parts.join(', ')})`;
}

function changedText({ changed_since_good: changed, subject }: WhyView): string | null {
  // Only runs of components are compared with each other.
  if (changed === null && subject.kind !== 'component') return null;
  if (changed === null) return 'not known: there is no good run to compare with';
  return changed.length === 0 ? 'nothing since the last good run' : `${changed.join(', ')} (since the last good run)`;
}

const dependencyText = ({ name, condition, state, ready }: WhyView['dependencies'][number]): string =>
  `${name}: ${state}${ready ? ', ready' : ', not ready'} (needed: ${condition})`;

/** What happened after it, and what happens next. */
function nowText({ current, nowMs }: WhyContext, { subject }: WhyView): string | null {
  if (subject.kind !== 'component') return null;
  if (current === null) return 'no longer in the configuration';
  const { name, state } = current;
  const next = current.next_attempt_at === null ? null : relative(current.next_attempt_at, nowMs);
  switch (state) {
    case 'running':
      return `running${current.ready ? ' and ready' : ', not ready'}, pid ${current.pid ?? '?'}, for ${formatDuration(current.uptime_ms ?? 0)}`;
    case 'backing-off':
      return next === null || next === 'now' ? 'restarting' : `restart ${next}`;
    case 'gave-up':
      return `gave up; ${next === null ? 'no further restart' : `quiet retry ${next}`}. "keepwell start ${name}" starts it now`;
    case 'waiting':
      return `waiting for ${current.waiting_for.join(', ')}`;
    case 'stopped':
      return current.desired === 'stopped' ? `stopped by hand; "keepwell start ${name}" starts it` : 'not running';
    case 'starting':
      // Of what others start it is told for how long it has been gone, and who waits for it.
      return current.note ?? state;
    default:
      return state;
  }
}
