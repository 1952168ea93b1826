/** What a crash dossier makes of its evidence: whose frames these are, which line tells of it, and the whole of it as Markdown. */
import { describeEnd, describeExit } from '../../src/base/pure/exit.ts';
import { formatBytes, formatDuration, localTime } from '../../src/base/pure/format.ts';
import { sanitise } from '../../src/cli/print/sanitise.ts';
import { howEarly } from '../../src/crashes/rules/earlier.ts';
import type { CrashView, WhyView } from '../../src/supervision/rules/views.ts';

const FOREIGN =
  /node_modules|node:internal|internal\/|site-packages|dist-packages|\/lib\/python|\/usr\/(local\/)?lib\/|\/rustc\/|\/\.cargo\/|\/go\/(pkg|src)\/|\bjava\.base\b|\bat (java|javax|sun|jdk)\.|\/gems\/|vendor\/|<anonymous>|\(native/;

export const isOwnFrame = (frame: string, files: readonly string[]): boolean =>
  files.some((file) => file !== '' && frame.includes(file.replace(/:\d+(:\d+)?$/, ''))) || !FOREIGN.test(frame);

export interface FrameGroup {
  readonly own: boolean;
  readonly frames: readonly string[];
}

/** Neighbours of the same kind together: own ones are open, those of libraries are folded. */
export function frameGroups(stack: readonly string[], files: readonly string[]): readonly FrameGroup[] {
  const groups: { own: boolean; frames: string[] }[] = [];
  for (const frame of stack) {
    const own = isOwnFrame(frame, files);
    const last = groups.at(-1);
    if (last?.own === own) last.frames.push(frame);
    else groups.push({ own, frames: [frame] });
  }
  return groups;
}

/** The line that tells of it: the last with its message, or with its type; -1: none does. */
export function crashLine(
  tail: readonly string[],
  { error_type, error_message }: Pick<WhyView, 'error_type' | 'error_message'>,
): number {
  const message = error_message?.split('\n', 1)[0]?.trim().slice(0, 200);
  const plain = tail.map((line) => sanitise(line));
  for (const wanted of [message, error_type])
    if (wanted) {
      const found = plain.findLastIndex((line) => line.includes(wanted));
      if (found !== -1) return found;
    }
  return -1;
}

/** Somebody had asked for it, to see what happens. */
export const isSimulated = ({ log_tail }: Pick<WhyView, 'log_tail'>): boolean =>
  log_tail.some((line) => line.includes('keepwell simulate-crash: what follows is a rehearsal'));

/** "TypeError: x is not a function", or how it ended where it said nothing. */
export function headline({
  error_type,
  error_message,
  exit,
}: Pick<CrashView, 'error_type' | 'error_message' | 'exit'>): string {
  const said = [error_type, error_message?.split('\n', 1)[0]].filter(Boolean).join(': ');
  return sanitise(said === '' ? describeExit(exit) : said);
}

const count = (value: number, one: string, many: string): string => `${value} ${value === 1 ? one : many}`;

export function countersText({ rule }: Pick<WhyView, 'rule'>): string {
  const { restarts_in_window: inWindow, failures, spawn_errors: spawnErrors, total } = rule.counters;
  return [
    count(inWindow, 'restart in the window', 'restarts in the window'),
    count(failures, 'failure in a row', 'failures in a row'),
    ...(spawnErrors > 0 ? [count(spawnErrors, 'failed start in a row', 'failed starts in a row')] : []),
    count(total, 'earlier restart', 'earlier restarts'),
  ].join(', ');
}

export const changedText = (changed: WhyView['changed_since_good']): string =>
  changed === null
    ? 'Not known: there is no good run to compare with.'
    : changed.length === 0
      ? 'Nothing since the last good run.'
      : `${changed.join(', ')} (since the last good run)`;

export interface Siblings {
  readonly total: number;
  readonly firstAt: string;
  readonly lastAt: string;
  /** Ids; null: there is none. */
  readonly earlier: number | null;
  readonly later: number | null;
  readonly times: readonly number[];
}

/** Those of the same fingerprint among the given ones, newest first. */
export function siblingsOf(
  { id, fingerprint }: Pick<CrashView, 'id' | 'fingerprint'>,
  crashes: readonly CrashView[],
): Siblings | null {
  const alike = crashes.filter((crash) => fingerprint !== null && crash.fingerprint === fingerprint);
  const at = alike.findIndex((crash) => crash.id === id);
  if (at === -1) return null;
  return {
    total: alike.length,
    firstAt: alike.at(-1)!.at,
    lastAt: alike[0]!.at,
    earlier: alike[at + 1]?.id ?? null,
    later: alike[at - 1]?.id ?? null,
    times: alike.map((crash) => Date.parse(crash.at)),
  };
}

/** A fence longer than any in the text: what a program wrote must not end it. */
function fenced(lines: readonly string[]): string {
  const text = lines.map((line) => sanitise(line)).join('\n');
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

/** What a program said, as text: it makes no links, pictures or headings. */
const inline = (text: string): string => sanitise(text.replaceAll('\n', ' ')).replace(/[\\`*_[\]<>#|!]/g, '\\$&');

/** Everything somebody needs who was not there. */
export function dossierMarkdown(why: WhyView): string {
  const { exit } = why;
  const rows: readonly (readonly [string, string | null])[] = [
    ['When', `${localTime(why.at)}, after running for ${formatDuration(why.uptime_ms)}`],
    ['Exit', describeExit(exit)],
    ['How it ended', exit.unhealthy ? describeEnd(exit) : null],
    [
      'Used',
      exit.usage &&
        `at most ${formatBytes(exit.usage.max_rss_bytes)} of memory, ${formatDuration(exit.usage.cpu_ms)} of CPU time`,
    ],
    ['Cause', why.root_cause],
    ['Earlier error', why.earlier_error && `${why.earlier_error.summary} (${howEarly(why.earlier_error)})`],
    ['Decision', why.decision],
    ['Rule', `${why.rule.name} (${countersText(why)})`],
    ['Changed', changedText(why.changed_since_good)],
    [
      'Incident',
      why.incident === null ? null : `${why.incident}${why.ticket === null ? '' : `, ticket ${why.ticket}`}`,
    ],
    ['Task', why.task_id],
    ['Crash', `${why.id}, run ${why.run_id}`],
    ['Note', isSimulated(why) ? 'This crash was simulated.' : null],
  ];
  const section = (title: string, lines: readonly string[]): string =>
    lines.length === 0 ? '' : `\n## ${title}\n\n${fenced(lines)}\n`;
  return [
    `# ${inline(why.subject.name)}: ${inline(headline(why))}\n\n`,
    ...rows.flatMap(([label, text]) => (text === null || text === '' ? [] : [`- **${label}:** ${inline(text)}\n`])),
    section('Stack', why.stack),
    section('Files', why.related_files),
    section('Last lines', why.log_tail),
    section(
      'Probes before that',
      why.probes.map(
        ({ role, question, outcome, message, count: times }) =>
          `${role} ${question}: ${outcome}, ${times} times: ${message}`,
      ),
    ),
    section(
      'Dependencies at that time',
      why.dependencies.map(
        ({ name, state, ready, condition }) =>
          `${name}: ${state}, ${ready ? 'ready' : 'not ready'} (needed: ${condition})`,
      ),
    ),
    section('What it was doing', [
      ...(why.freeze?.steps.map(({ at, text }) => `${localTime(at)} ${text}`) ?? []),
      ...(why.freeze?.evidence ?? []),
    ]),
  ].join('');
}
