/** Java and its relatives: exceptions with their causes, what they suppressed, errors of the virtual machine itself. */
import type { FoundCrash, Parser, RawFrame, Thrown } from '../crash.ts';
import { frame, isBlank, lookBack, MAX_FOREIGN_LINES, MAX_MESSAGE_LINES } from './shared.ts';

const FRAME =
  /^\s+at (?:[\w.$@-]*\/){0,2}([\w.$<>]+)\.([\w$<>-]+)\(([\w$.-]+\.\w+(?::\d+)?|Native Method|Unknown Source|<\w+>)\)/;
const MORE = /^\s+\.\.\. (\d{1,4}) (?:more|common frames omitted)$/;
const NAMED =
  /^(\s*)(Caused by: |Suppressed: |Exception in thread "[^"]*" |Wrapped by: )?((?:[a-z_][\w$]*\.)+[A-Z_][\w$]*)(?:: (.*))?$/;
const NO_STACK =
  /^(?:Terminating due to |Exception: )(java\.lang\.\w+)(?:: (.*)| thrown from the UncaughtExceptionHandler.*)$/;
const LAUNCHER = /^Error: Could not find or load main class (\S{1,300})$/;
/** What the launcher says when there is nothing to run, and the virtual machine when it cannot be made. */
const LAUNCH_FAILED =
  /^(?:Error: )?((?:Main method not found in class|Unable to initialize main class|LinkageError occurred while loading main class|Unable to access jarfile|An unexpected error occurred while trying to open file|Unrecognized (?:VM )?option:?|Invalid (?:maximum|initial) heap size:|Improperly specified VM option|Could not reserve enough space for|Error occurred during initialization of) .{1,300})$/;
const LAUNCH_MORE =
  /^(?:\s+\S|or a JavaFX application class must extend|Caused by: |Error: (?:Could not create the Java Virtual Machine|A fatal exception has occurred)|Too small |Did you mean |Initial heap size |The size of )/;
const NATIVE = /^#\s+(SIG[A-Z]+|EXCEPTION_[A-Z_]+) \(0x[0-9a-f]+\) at pc=/;
const NATIVE_FRAME = /^# (?:[CVvJj])\s+\[?([\w.+-]+)/;

interface Trace {
  readonly kind: 'main' | 'cause' | 'suppressed';
  readonly type: string | null;
  readonly message: string;
  readonly frames: RawFrame[];
  /** Of the thread in which nobody caught it. */
  readonly thread?: string | undefined;
}

interface Reading {
  readonly lines: readonly string[];
  readonly found: FoundCrash[];
  traces: Trace[];
  first: number;
  last: number;
}

export const parseJvm: Parser = (lines) => {
  const reading: Reading = { lines, found: [], traces: [], first: 0, last: -1 };
  for (let at = 0; at < lines.length; at++) read(reading, at);
  close(reading);
  return reading.found;
};

function close(reading: Reading): void {
  const { traces, first, last } = reading;
  const { thread } = traces[0] ?? {};
  // Other threads go on after one of them has ended.
  const fate = thread === undefined ? {} : { uncaught: thread === 'main', survived: thread !== 'main' };
  if (traces.length > 0) reading.found.push({ language: 'jvm', first, last, chain: chainOf(traces), ...fate });
  reading.traces = [];
}

function read(reading: Reading, at: number): void {
  const { lines, last } = reading;
  const line = lines[at]!;
  if (reading.traces.length > 0 && at - last > MAX_FOREIGN_LINES) close(reading);
  const call = FRAME.exec(line);
  const more = MORE.exec(line);
  if (call || more) {
    const name = nameBefore(lines, at, last);
    if (reading.traces.length === 0 || name?.kind === 'main') {
      close(reading);
      reading.first = name?.at ?? at;
    }
    const { traces } = reading;
    if (name !== null || traces.length === 0)
      traces.push({ kind: 'main', type: null, message: '', ...name, frames: [] });
    if (call) traces.at(-1)!.frames.push(frameOf(call));
    else share(traces, Number(more![1]));
    reading.last = at;
    return;
  }
  const alone = withoutStack(lines, at);
  if (alone === null) return;
  close(reading);
  reading.found.push(alone);
}

function frameOf([, type = '', method = '', place = '']: RegExpExecArray): RawFrame {
  const [, name, line] = /^([\w$.-]+\.\w+)(?::(\d+))?$/.exec(place) ?? [];
  const folders = type.split('.').slice(0, -1);
  return frame(`${type}.${method}`, name === undefined ? null : [...folders, name].join('/'), line);
}

/** The exception that the frames from `end` on belong to; null: they go on with the one before. */
function nameBefore(lines: readonly string[], end: number, previous: number) {
  const reach = Math.min(MAX_MESSAGE_LINES + 1, end - previous - 1);
  const at = lookBack(lines, end, reach, (line) => NAMED.test(withoutWords(line)));
  if (at < 0) return reach > 0 ? withoutPackage(lines, end - 1) : null;
  const [, indent, words, type, message = ''] = NAMED.exec(withoutWords(lines[at]!))!;
  const rest = lines.slice(at + 1, end).filter((line) => !isBlank(line));
  // What hangs on a suppressed exception is indented like it.
  const isSuppressed = words === 'Suppressed: ' || (words === 'Caused by: ' && indent !== '');
  const kind: Trace['kind'] = isSuppressed ? 'suppressed' : words === 'Caused by: ' ? 'cause' : 'main';
  const [, thread] = /^Exception in thread "([^"]*)" $/.exec(words ?? '') ?? [];
  return { at, kind, type: shortName(type!), message: [message, ...rest].join('\n').trim(), thread };
}

/** "Failed to start application: com.acme.ConfigurationException: no": what a logger puts before it on the same line. */
const SAID_BEFORE = /^\S.{0,200}?[:>\])-] (?=(?:[a-z_][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error)(?::|$))/;
const CAUSE_WORDS = /^(?:Caused by|Suppressed|Wrapped by): |^Exception in thread /;
const withoutWords = (line: string): string => (CAUSE_WORDS.test(line) ? line : line.replace(SAID_BEFORE, ''));

const NO_PACKAGE = /^(?:\S.{0,200}?[:>\])-] )?([A-Z][\w$]*(?:Exception|Error))(?:: (.*))?$/;

/** An exception without a package could be one of another language: only the line right above the frames counts. */
function withoutPackage(lines: readonly string[], at: number) {
  const [, type, message = ''] = NO_PACKAGE.exec(lines[at] ?? '') ?? [];
  if (type === undefined) return null;
  return {
    at,
    kind: 'main' as const,
    type: type.slice(type.lastIndexOf('$') + 1),
    message: message.trim(),
    thread: undefined,
  };
}

const shortName = (type: string): string => type.slice(type.lastIndexOf('.') + 1);

/** "... 12 more": the last frames are those of the exception before. */
function share(traces: readonly Trace[], count: number): void {
  const last = traces.at(-1)!;
  const enclosing = traces.slice(0, -1).findLast(({ kind }) => kind !== 'suppressed');
  if (enclosing) last.frames.push(...enclosing.frames.slice(-count));
}

/** The last cause is the innermost. What was suppressed is no cause. */
function chainOf(traces: readonly Trace[]): readonly Thrown[] {
  const own = traces.filter(({ kind }) => kind !== 'suppressed');
  return (own.length === 0 ? traces : own).map(({ type, message, frames }) => ({ type, message, frames })).reverse();
}

/** Why it could not be launched, when the lines below say so. */
function reasonIn(lines: readonly string[]): readonly Thrown[] {
  for (const line of lines) {
    const [, , , type, message = ''] = NAMED.exec(line) ?? [];
    if (type !== undefined) return [{ type: shortName(type), message, frames: [] }];
    if (/^(?:Too small|Initial heap size) /.test(line)) return [{ type: 'launch failed', message: line, frames: [] }];
  }
  return [];
}

/** Ends of the virtual machine that come without a stack. */
function withoutStack(lines: readonly string[], at: number): FoundCrash | null {
  const line = lines[at]!;
  const found = (thrown: Thrown, last = at): FoundCrash => ({ language: 'jvm', first: at, last, chain: [thrown] });
  const [, type, message = ''] = NO_STACK.exec(line) ?? [];
  if (type !== undefined)
    return { ...found({ type: shortName(type), message, frames: [] }), ends: { codes: [1, 3], signals: ['SIGABRT'] } };
  const [, main] = LAUNCHER.exec(line) ?? [];
  if (main !== undefined) {
    const last = /^Caused by: java\.lang\.ClassNotFoundException/.test(lines[at + 1] ?? '') ? at + 1 : at;
    return found({ type: 'ClassNotFoundException', message: main, frames: [] }, last);
  }
  const [, failed] = LAUNCH_FAILED.exec(line) ?? [];
  if (failed !== undefined) {
    let last = at;
    while (last - at < MAX_MESSAGE_LINES && LAUNCH_MORE.test(lines[last + 1] ?? '')) last++;
    const outer: Thrown = { type: 'launch failed', message: failed.replace(/, please define .*$/, ''), frames: [] };
    return { language: 'jvm', first: at, last, chain: [...reasonIn(lines.slice(at + 1, last + 1)), outer] };
  }
  const [, signal] = NATIVE.exec(line) ?? [];
  if (signal === undefined) return null;
  const next = lines.slice(at, at + 20).findIndex((one) => NATIVE_FRAME.test(one));
  const library = next < 0 ? null : NATIVE_FRAME.exec(lines[at + next]!)![1]!;
  const where = library === null ? '' : ` in ${library}`;
  return found({ type: signal, message: `native code failed${where}`, frames: [] }, at + Math.max(0, next));
}
