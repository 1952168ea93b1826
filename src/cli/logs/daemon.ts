/** The daemon's own log: one JSON object a line, for people as a sentence. It is kept in two files, the older one with `.1` behind. */

import { homePaths } from '../../base/home.ts';
import { daemonLine } from '../../base/pure/daemon-line.ts';
import { fieldsOf, parseJson } from '../../base/pure/json.ts';
import type { Line } from '../../logs/lines.ts';
import type { LogsFilter } from '../../logs/ports.ts';
import type { Matcher } from '../../logs/read/match.ts';
import type { Session } from '../call.ts';
import { pause } from '../interrupt.ts';
import { sanitise } from '../print/sanitise.ts';

const POLL_MS = 200;

export interface DaemonShown extends Pick<LogsFilter, 'sinceMs' | 'untilMs' | 'grep'> {
  /** Null: all that are meant. */
  readonly tail: number | null;
  readonly follow: boolean;
}

export async function showDaemonLog(session: Session, shown: DaemonShown): Promise<void> {
  const { LogFile, matcherOf } = await import('../../logs/open.ts');
  const path = homePaths(session.project.home).daemonLog;
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
    onRestart: (why) => session.note(`the log of the daemon was ${why}; going on from its beginning`),
  });
  older.read();
  older.flush();
  file.read();
  if (!shown.follow) file.flush();
  print(session, newest(lines, wanted));
  wanted = Number.MAX_SAFE_INTEGER;
  while (shown.follow) {
    await pause(POLL_MS, session.signal);
    lines = [];
    file.read();
    print(session, lines);
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

function print(session: Session, lines: readonly string[]): void {
  if (lines.length === 0) return;
  for (const line of lines) session.printJsonLine(parse(line) ?? { message: line });
  session.print(lines.map((line) => paintEntry(session, line)).join('\n'));
}

function paintEntry({ paint }: Session, line: string): string {
  const text = sanitise(entryText(line));
  const { level } = parse(line) ?? {};
  return level === 'error' ? paint.red(text) : level === 'warn' ? paint.yellow(text) : text;
}

function entryText(line: string): string {
  const entry = fieldsOf(parseJson(line));
  return (entry && daemonLine(entry)) ?? line;
}
