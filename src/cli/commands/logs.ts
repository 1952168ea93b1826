/** keepwell logs: what components wrote. Reads the files themselves, so it works without a daemon. */
import { Option } from 'commander';
import { homePaths } from '../../base/home.ts';
import { AppError } from '../../base/pure/errors.ts';
import { daemonLine } from '../../base/pure/format.ts';
import { fieldsOf, parseJson } from '../../base/pure/json.ts';
import type { Line } from '../../logs/lines.ts';
import { loggedNames } from '../../logs/names.ts';
import type { LogsFilter } from '../../logs/ports.ts';
import type { Matcher } from '../../logs/read/match.ts';
import { type Pattern, parsePattern } from '../../supervision/rules/health/pattern.ts';
import { type CliCall, usage } from '../call.ts';
import { countOption, type Definition } from '../define.ts';
import { pause } from '../interrupt.ts';
import { followLogs, type ShownLogs, showLogs } from '../logs/show.ts';
import { parseSpan, type Span } from '../logs/when.ts';
import { sanitise } from '../print/sanitise.ts';
import { readRecords } from '../records.ts';
import { resolveTargets } from '../targets.ts';

interface Options {
  readonly all?: true;
  readonly follow?: true;
  readonly tail?: number;
  readonly since?: string;
  readonly until?: string;
  readonly timestamps?: true;
  readonly previous?: true;
  readonly grep?: string;
  readonly daemon?: true;
  readonly agent?: string;
}

const DEFAULT_LINES = 100;
const MAX_LINES = 1_000_000;

export const logs: Definition<Options> = {
  usage: 'logs [NAME...]',
  group: 'Every day:',
  summary: 'what components wrote to stdout and stderr',
  description:
    'The lines of several components are merged in order of time, each with the name in front. ' +
    'A TIME is how long ago (10m, 2h30m), a time of today (03:04), a day (2026-01-02), or both (2026-01-02T03:04).',
  options: [
    new Option('-a, --all', 'all components (the default)'),
    new Option('-f, --follow', 'keep printing new lines until Ctrl-C'),
    countOption(
      '-n, --tail <N>',
      `the last N lines of each (default: ${DEFAULT_LINES}, or all with --since or --previous)`,
      {
        min: 0,
        max: MAX_LINES,
      },
    ),
    new Option('--since <TIME>', 'only what was written from then on'),
    new Option('--until <TIME>', 'only what was written until then'),
    new Option('-t, --timestamps', 'print the time in front of each line'),
    new Option('--previous', 'only what the previous run wrote'),
    new Option('--grep <TEXT>', 'only lines that contain this text or match /this expression/i; -n counts these'),
    new Option('--agent <TASK>', 'what the agents of this task wrote'),
    new Option('--daemon', "the daemon's own log"),
  ],
  examples: [
    ['keepwell logs', `the last ${DEFAULT_LINES} lines of everything`],
    ['keepwell logs api worker -f', 'two components, live'],
    ['keepwell logs api --since 10m -t', 'the last ten minutes, with times'],
    ['keepwell logs api --previous', 'what it wrote before it was restarted'],
    ['keepwell logs --since 03:00 --until 03:10', 'what happened that night'],
    ["keepwell logs api -n 1000 --grep '/time(d )?out/i'", 'the last thousand lines that match'],
    ['keepwell logs --agent SPEC-111 -f', 'what an agent writes'],
    ['keepwell logs --daemon', 'what Keepwell itself did'],
  ],
  followTakesF: true,
  handler: async (call, patterns, options) => {
    const span = parseSpan(options.since, options.until, Date.now());
    const grep = options.grep === undefined ? undefined : parseGrep(options.grep);
    refuseNonsense(patterns, options);
    if (call.host !== null) {
      if (options.daemon || options.agent !== undefined) throw notFromHere(call.host);
      const shown = { ...span, grep, previous: options.previous, timestamps: options.timestamps ?? false };
      const { showRemoteLogs } = await import('../logs/remote.ts');
      await showRemoteLogs(call, patterns, { ...shown, tail: tailOf(options), follow: options.follow ?? false });
      return 0;
    }
    if (options.daemon) await showDaemon(call, options, { ...span, grep });
    else if (options.agent !== undefined) await showAgent(call, options.agent, options, { ...span, grep });
    else await showComponents(call, patterns, options, { ...span, grep });
    return 0;
  },
};

type Filter = Span & { readonly grep: Pattern | undefined };

export function parseGrep(text: string): Pattern {
  const pattern = parsePattern(text);
  if ('problem' in pattern) throw usage(`--grep: ${pattern.problem}. ${pattern.hint}`);
  return pattern;
}

function refuseNonsense(patterns: readonly string[], options: Options): void {
  const { all, daemon, agent, previous, follow, until } = options;
  if (all && (agent !== undefined || daemon || patterns.length > 0))
    throw usage('Give names, --all, --agent or --daemon, not several.');
  if (agent !== undefined && (daemon || patterns.length > 0))
    throw usage('Give names, --agent or --daemon, not several.');
  if (daemon && patterns.length > 0) throw usage('Give names or --daemon, not both.');
  if (daemon && previous) throw usage('--previous is for components only: the daemon has one log for all its runs.');
  if (follow && previous)
    throw usage('The previous run has ended: there is nothing to follow. Leave out -f or --previous.');
  if (follow && until !== undefined) throw usage('-f follows without end. Leave out -f or --until.');
}

const notFromHere = (host: string): AppError =>
  usage(
    `Of another machine only the logs of components can be read. Log in on the machine of ${host} for --daemon and --agent.`,
  );

const tailOf = ({ tail, since, previous }: Options): number | null =>
  tail ?? (since !== undefined || previous ? null : DEFAULT_LINES);

async function showDaemon(call: CliCall, options: Options, filter: Filter): Promise<void> {
  await showDaemonLog(call, { ...filter, tail: tailOf(options), follow: options.follow ?? false });
}

/** An agent is known by its task, and several types may have one. */
async function showAgent(call: CliCall, task: string, options: Options, filter: Filter): Promise<void> {
  const { value } = await readRecords(call, (records) => records.agents({ all: true }));
  const ours = value.agents.filter((agent) => agent.task_id === task || agent.log === task);
  const names = ours.flatMap(({ log }) => log ?? []);
  if (names.length === 0) throw new AppError('NO_SUCH_AGENT', { which: task });
  const { follow, previous, timestamps = false } = options;
  const shown: ShownLogs = { ...filter, names, tail: tailOf(options), previous, timestamps, ofAgents: true };
  if (follow) await followLogs(call, shown);
  await showLogs(call, shown);
}

async function showComponents(
  call: CliCall,
  patterns: readonly string[],
  options: Options,
  filter: Filter,
): Promise<void> {
  const { follow, previous, timestamps = false } = options;
  const logged = loggedNames(homePaths(call.project.home).logs);
  const names = patterns.length > 0 ? await namedLogs(call, patterns, logged) : [];
  // While following, others may begin to write at any time.
  const prefixed = (patterns.length > 0 ? names : logged).length > 1 || (follow === true && patterns.length === 0);
  const shown: ShownLogs = { ...filter, names, tail: tailOf(options), previous, prefixed, timestamps };
  if (patterns.length === 0 && logged.length === 0 && !follow) call.note('no component has written anything yet');
  if (follow) await followLogs(call, shown);
  await showLogs(call, shown);
}

/** A component that has written nothing yet is known to the daemon or the records, though not to the directory. */
export async function namedLogs(
  call: CliCall,
  patterns: readonly string[],
  logged: readonly string[],
): Promise<readonly string[]> {
  try {
    return resolveTargets(patterns, logged);
  } catch {
    const { value } = await readRecords(call, (records) => records.status());
    const names = value.components.map(({ name }) => name);
    return resolveTargets(patterns, [...new Set([...logged, ...names])].sort());
  }
}

// The daemon's own log: one JSON object a line, for people as a sentence. It is kept in two files, the older one with `.1` behind.

const POLL_MS = 200;

export interface DaemonShown extends Pick<LogsFilter, 'sinceMs' | 'untilMs' | 'grep'> {
  /** Null: all that are meant. */
  readonly tail: number | null;
  readonly follow: boolean;
}

export async function showDaemonLog(call: CliCall, shown: DaemonShown): Promise<void> {
  const { LogFile, matcherOf } = await import('../../logs/open.ts');
  const path = homePaths(call.project.home).daemonLog;
  const matcher = shown.grep ? matcherOf(shown.grep) : null;
  let lines: string[] = [];
  let wanted = shown.tail ?? Number.MAX_SAFE_INTEGER;
  /** The last ones of what has been read, twice as many at the most. */
  const hold = ({ text }: Line): void => {
    if (!isMeant(text, shown, matcher)) return;
    lines.push(text);
    if (lines.length > 2 * wanted) lines = newest(lines, wanted);
  };
  using older = new LogFile(`${path}.1`, { onLine: hold, onRestart: () => {} });
  using file = new LogFile(path, {
    onLine: hold,
    onRestart: (why) => call.note(`the log of the daemon was ${why}; going on from its beginning`),
  });
  older.read();
  older.flush();
  file.read();
  if (!shown.follow) file.flush();
  print(call, newest(lines, wanted));
  wanted = Number.MAX_SAFE_INTEGER;
  while (shown.follow) {
    await pause(POLL_MS, call.signal);
    lines = [];
    file.read();
    print(call, lines);
  }
}

const newest = (lines: readonly string[], count: number): string[] => (count === 0 ? [] : lines.slice(-count));

interface Entry {
  readonly at?: unknown;
  readonly level?: unknown;
  readonly message?: unknown;
}

/** Null: not one of ours; Node itself writes there when it dies. */
const parse = (line: string): Entry | null => fieldsOf(parseJson(line));

function isMeant(line: string, { sinceMs, untilMs }: DaemonShown, matcher: Matcher | null): boolean {
  if (sinceMs !== undefined || untilMs !== undefined) {
    const { at } = parse(line) ?? {};
    const ms = typeof at === 'string' ? Date.parse(at) : Number.NaN;
    if (!(ms >= (sinceMs ?? 0) && ms <= (untilMs ?? Number.MAX_SAFE_INTEGER))) return false;
  }
  return matcher === null || matcher([entryText(line)])[0] === true || matcher([line])[0] === true;
}

function print(call: CliCall, lines: readonly string[]): void {
  if (lines.length === 0) return;
  for (const line of lines) call.printJsonLine(parse(line) ?? { message: line });
  call.print(lines.map((line) => paintEntry(call, line)).join('\n'));
}

function paintEntry({ paint }: CliCall, line: string): string {
  const text = sanitise(entryText(line));
  const { level } = parse(line) ?? {};
  return level === 'error' ? paint.red(text) : level === 'warn' ? paint.yellow(text) : text;
}

function entryText(line: string): string {
  const entry = fieldsOf(parseJson(line));
  return (entry && daemonLine(entry)) ?? line;
}
