/**
 * A tail as lines that parsers can read: without colours, carriage returns and the prefixes that loggers and collectors put before
 * each line, and with the texts inside JSON logs unfolded. Linear: each line is cut to a bounded length, and every expression is
 * anchored to its beginning.
 */
import { withoutEscapes } from '../../base/pure/escapes.ts';
import { unfoldJson } from './unfold-json.ts';

export interface LogLine {
  readonly text: string;
  /** A logger wrote it with a level: the program was able to deal with it. */
  readonly logged: boolean;
  /** What the level says: that something went wrong, or that nothing did; null: none, or a warning. */
  readonly mood: 'severe' | 'calm' | null;
  /** How many lines of the log stand after it. */
  readonly fromEnd: number;
}

/** A stack is near the end of a tail. */
const MAX_TAIL_CHARS = 256 * 1024;
/** Of lines that are nearly empty there would be too many. */
const MAX_LINES = 5_000;
/** So that no expression ever sees more. */
export const MAX_LINE_CHARS = 2_000;
/** "web-1 | 2026-01-02T03:04:05Z ERROR [main] app - text" has four. */
const MAX_PREFIXES = 6;

const LEVEL = '(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|CRITICAL|CRIT|FATAL|SEVERE|PANIC)';

/** Each ends with exactly one blank: what follows may be indented. */
const PREFIXES: readonly RegExp[] = [
  /^[A-Za-z][\w.-]{0,62}[ \t]{0,40}\|(?: |$)/, // docker compose
  /^\d{1,3}\|[\w.-]{1,40}[ \t]{0,20}\|(?: |$)/, // PM2
  /^\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d| [+-]\d{4})?\]?:?(?:[ \t]|$)/,
  /^\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?(?: |$)/,
  /^(?:stdout|stderr) [FP](?: |$)/, // Kubernetes
  /^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,64} [^\s:[\]]{1,64}(?:\[\d{1,10}\])?:(?: |$)/, // syslog, journald
  /^[\w.-]{1,40}\[[\w.-]{1,20}\]:(?: |$)/, // app[web.1]:
  /^\[[^\]\s]{1,60}\](?: |$)/, // [worker-3]
  /^\d{1,10}#\d{1,10}: (?:\*\d{1,20} )?/, // nginx: process and connection
  /^\d{1,10}:[A-Z] \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d\.\d{3} [*#.-] /, // redis
];

const LEVELS: readonly RegExp[] = [
  new RegExp(`^${LEVEL}:[\\w.]{1,80}:`), // ERROR:root:
  new RegExp(`^- [\\w.]{1,80} - ${LEVEL} - `), // - logger - ERROR -
  new RegExp(`^\\[?${LEVEL}\\]?[ \\t]{1,3}(?:\\d{1,10} --- )?(?:\\[[^\\]]{0,60}\\] )?[\\w.$/]{1,100} {0,40} [-:] `), // log4j, Spring
  new RegExp(`^\\[${LEVEL}[ \\t]{0,10}\\][ \\t]{1,6}`, 'i'), // [error    ] of structlog
  /^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{1,9} {1,8}\d{1,10} [\w.-]{1,80}:\d{1,6}\] /, // glog
];

/** Behind a time, this is a level; without one it may be part of what is said, as it always is in two famous sayings. */
const BARE_LEVEL = new RegExp(`^${LEVEL}:?[ \\t]{1,6}(?!ERROR: |DATA RACE)`);

export function readLines(tail: string): readonly LogLine[] {
  const lines = withoutEscapes(tail.slice(-MAX_TAIL_CHARS))
    .split(/\r?\n|\r/)
    .slice(-MAX_LINES);
  // What ends with a line break has no line after it.
  const last = lines.length - (lines.at(-1) === '' ? 2 : 1);
  return lines.flatMap((line, at) => {
    const fromEnd = Math.max(0, last - at);
    const field = FIELD.exec(line.slice(0, MAX_LINE_CHARS))?.[1];
    const texts = unfoldJson(line.trimEnd());
    // The level may stand before the object.
    const before = texts[0] === line.trimEnd() ? null : clean(line.slice(0, Math.max(0, line.indexOf('{'))));
    return texts.flatMap(splitStack).map((text) => ({ ...withLevel(withField(clean(text), field), before), fromEnd }));
  });
}

type Cleaned = Omit<LogLine, 'fromEnd'>;

/** The level as a field of JSON or logfmt: "level":"error", "level":50, level=error. */
const FIELD = /["\s,{]?\b(?:level|severity|levelname|lvl)"?[:=] ?"?([A-Za-z]{3,9}|[1-6]0)\b/;

const withField = (line: Cleaned, field: string | undefined): Cleaned =>
  field === undefined || line.logged ? line : { ...line, logged: true, mood: moodOf(field) };

const withLevel = (line: Cleaned, before: Cleaned | null): Cleaned =>
  before?.logged && !line.logged ? { ...line, logged: true, mood: before.mood } : line;

function moodOf(level: string): LogLine['mood'] {
  if (/^(?:[56]0|E\d{4}|F\d{4})|ERR|CRIT|FATAL|SEVERE|PANIC|EMERG|ALERT/i.test(level)) return 'severe';
  return /^(?:[123]0|I\d{4})|TRACE|DEBUG|INFO|NOTICE/i.test(level) ? 'calm' : null;
}

function clean(line: string): Cleaned {
  let text = line.slice(0, MAX_LINE_CHARS);
  let logged = false;
  let mood: LogLine['mood'] = null;
  for (let count = 0; count < MAX_PREFIXES; count++) {
    const named = prefixLength(text, LEVELS);
    const length = named > 0 ? 0 : prefixLength(text, PREFIXES);
    const bare = named + length > 0 || count === 0 ? 0 : prefixLength(text, [BARE_LEVEL]);
    const level = named + bare;
    if (length + level === 0) break;
    logged ||= level > 0;
    if (level > 0) mood ??= moodOf(text.slice(0, level));
    text = text.slice(length + level);
  }
  const [bare] = BARE_LEVEL.exec(text) ?? [];
  return { text, logged: logged || bare !== undefined, mood: mood ?? (bare === undefined ? null : moodOf(bare)) };
}

function prefixLength(text: string, prefixes: readonly RegExp[]): number {
  for (const prefix of prefixes) {
    const found = prefix.exec(text);
    if (found) return found[0].length;
  }
  return 0;
}

const FRAME_END = /:\d{1,7}:\d{1,7}\)?$/;

/** "Error: boom at f (/app/a.js:1:2) at g (/app/b.js:3:4)", as loggers with one line per entry write it. */
function splitStack(line: string): readonly string[] {
  const parts = line.split(' at ');
  let first = parts.length;
  while (first > 1 && FRAME_END.test(parts[first - 1]!.trimEnd().slice(-300))) first--;
  if (parts.length - first < 2) return [line];
  return [parts.slice(0, first).join(' at '), ...parts.slice(first).map((part) => `    at ${part.trim()}`)];
}
