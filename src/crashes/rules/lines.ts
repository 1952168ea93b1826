/**
 * A tail as lines that parsers can read: without colours, carriage returns and the prefixes that loggers and collectors put before
 * each line, and with the texts inside JSON logs unfolded. Linear: each line is cut to a bounded length, and every expression is
 * anchored to its beginning.
 */

import { withoutEscapes } from '../../base/pure/escapes.ts';

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
const MAX_LINE_CHARS = 2_000;
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

// Lines of JSON logs as the text that the program meant: its message, then its stack.

/** Fields with a stack, by their path; the first that is there counts. */
const STACKS = [
  ...[
    'stack',
    'stack_trace',
    'stackTrace',
    'stacktrace',
    'exc_info',
    'exception',
    'exc',
    'exc_text',
    'traceback',
    'error.stack',
    'err.stack',
  ],
  ...[
    'error.stack_trace',
    'error.stackTrace',
    'exception.stacktrace',
    'error.exception',
    'Exception',
    '@x',
    'error',
    'err',
  ],
] as const;
const MESSAGES = ['log', 'message', 'msg', 'MESSAGE', 'event', '@m', 'text'] as const;

/** Only such texts are worth being taken apart when they are no JSON: one that was cut, or a quoted string. */
const FOLDED = /\\n(?:\\t|\s{2,8})?(?:at |File \\?"|goroutine |from |Caused by: )/;

function unfoldJson(line: string): readonly string[] {
  const begin = line.indexOf('{');
  // A collector may put its own prefix before the object.
  if (begin >= 0 && begin < 200 && line.endsWith('}') && line.includes('"')) {
    const texts = textsOf(line.slice(begin));
    if (texts !== null) return texts.flatMap((text) => text.trimEnd().split(/\r?\n/));
  }
  return FOLDED.test(line) ? unescaped(line) : [line];
}

function textsOf(json: string): readonly string[] | null {
  let entry: unknown;
  try {
    entry = JSON.parse(json);
  } catch {
    return null;
  }
  const stack = firstText(entry, STACKS);
  const message = firstText(entry, MESSAGES);
  if (stack === null) return message === null ? null : [message];
  // Most loggers repeat the message as the first line of the stack.
  return message === null || stack.includes(message) ? [stack] : [message, stack];
}

function firstText(entry: unknown, paths: readonly string[]): string | null {
  for (const path of paths) {
    let at: unknown = entry;
    for (const key of path.split('.')) at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
    if (typeof at === 'string' && at !== '') return at;
    if (Array.isArray(at)) {
      const told = tracebackOf(at);
      if (told !== null) return told;
    }
  }
  return null;
}

const MAX_FRAMES = 200;

/** The lists of structlog's dict_tracebacks, as Python would write them: the last one of a chain comes first. */
function tracebackOf(list: readonly unknown[]): string | null {
  const errors = list.filter(isObject).filter((one) => typeof one['exc_type'] === 'string');
  if (errors.length === 0) return null;
  const link = (one: Record<string, unknown>) => (one['is_cause'] === true ? DIRECT : DURING);
  return errors
    .slice(0, 10)
    .map((one, at) => (at === 0 ? written(one) : `${written(one)}\n\n${link(errors[at]!)}\n`))
    .reverse()
    .join('\n');
}

const DIRECT = 'The above exception was the direct cause of the following exception:';
const DURING = 'During handling of the above exception, another exception occurred:';

function written({ exc_type: type, exc_value: value, frames }: Record<string, unknown>): string {
  const calls = (Array.isArray(frames) ? frames.slice(-MAX_FRAMES) : []).filter(isObject).map(callOf);
  return ['Traceback (most recent call last):', ...calls, value ? `${type}: ${value}` : String(type)].join('\n');
}

function callOf({ filename, lineno, name, line }: Record<string, unknown>): string {
  const source = typeof line === 'string' && line.trim() !== '' ? `\n    ${line.trim()}` : '';
  return `  File "${filename}", line ${lineno}, in ${name}${source}`;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function unescaped(line: string): readonly string[] {
  return line.split('\\n').map((part) => part.replaceAll('\\t', '\t').replaceAll('\\"', '"'));
}
