/**
 * Python: tracebacks, chains of them, exception groups, syntax errors, and what faulthandler writes. A traceback may be interleaved
 * with lines of other threads, and may have lost its beginning. Also as tools draw errors.
 */

import type { FoundCrash, Parser, RawFrame, Thrown } from '../crash.ts';
import { frame, isBlank, isIndented, lookBack, MAX_FOREIGN_LINES, MAX_MESSAGE_LINES } from './shared.ts';

const HEADER = 'Traceback (most recent call last):';
const FRAME = /^\s+File "([^"]+)", line (\d+)(?:,? in (.+))?$/;
/** "raise … from …": what stands above is the cause. */
const DIRECT = 'The above exception was the direct cause of the following exception:';
/** What stands above was being handled when something else failed: a cache miss, a retry. It is no cause. */
const DURING = 'During handling of the above exception, another exception occurred:';
/** What says of a traceback below it that the program goes on. */
const SURVIVED =
  /^(?:Exception ignored in\b|Exception in thread |(?:Task|Future) exception was never retrieved|Exception in (?:callback|ASGI application)|--- Logging error ---|Process [\w-]{1,60}:$|Exception occurred during processing of request|Unhandled exception in client_connected_cb|future: <|handle: <|task: <)/;
/** The margin that exception groups draw. */
const MARGIN = /^\s*[|+] /;
const RULE = /^\s*\+(?:-\+)?-{4,}(?: (?:\d+|\.\.\.) -+)?$/;
const THROWN = /^((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:: (.*)|:?)$/;
const SURE_NAME =
  /(?:Error|Exception|Warning|Interrupt|Exit|Group|Iteration|Timeout|Empty|Full|Failure|DoesNotExist)\d*$/;
const LEVEL_NAME = /^(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)$/;
const FATAL = /^Fatal Python error: (.+)$/;

interface Open {
  /** The line of code that the last frame shows. */
  source: string | null;
  /** As written: the nearest to the error last. */
  readonly frames: RawFrame[];
  foreign: number;
  /** How far the text is to the right, when something unknown stands before each line. */
  readonly column: number;
}

/** The shortest line that does not stand in a line of code by chance. */
const MIN_QUOTED_CHARS = 8;

type Link = 'direct' | 'during' | null;

interface Reading {
  readonly lines: readonly string[];
  readonly found: Building[];
  open: Open | null;
  /** How the next traceback belongs to the last one found; null: it does not. */
  linked: Link;
}

export const parsePython: Parser = (lines) => {
  const reading: Reading = { lines, found: [], open: null, linked: null };
  for (let at = 0; at < lines.length; at++) at = read(reading, at);
  return reading.found.flatMap((one) => one.result());
};

/** Takes in one line, or more; returns the last one taken. */
function read(reading: Reading, at: number): number {
  const { lines, found, open } = reading;
  const line = withoutMargin(shifted(lines[at]!, open));
  const header = line.indexOf(HEADER);
  const [, file, number, name] = FRAME.exec(line) ?? [];
  if (header >= 0) {
    const { linked } = reading;
    if (linked === null && !isInGroup(lines[at]!, found.at(-1), at)) found.push(newBuilding(lines, at));
    else if (linked === 'during') found.at(-1)!.forget();
    reading.open = { source: null, frames: [], foreign: 0, column: columnOf(lines, at, header) };
    reading.linked = null;
  } else if (file !== undefined) {
    if (open === null) found.push(newBuilding(lines, at));
    reading.open ??= { source: null, frames: [], foreign: 0, column: 0 };
    reading.open.frames.push(frame(functionName(name), file, number));
    reading.open.foreign = 0;
    reading.open.source = sourceBelow(lines, at, open);
  } else if (open !== null) {
    return readOn(reading, open, line, at);
  } else if (found.length > 0 && (line === DIRECT || line === DURING)) {
    reading.linked = line === DIRECT ? 'direct' : 'during';
  } else if (found.at(-1)?.isGroup && isInGroup(lines[at]!, found.at(-1), at)) {
    // A member that was never raised has no traceback.
    const thrown = thrownBy(line);
    if (thrown !== null) found.at(-1)!.add({ ...thrown, frames: [] }, at);
  } else if (FATAL.test(line)) {
    const fatal = fatalError(lines, at);
    found.push(newBuilding(lines, at));
    found.at(-1)!.add(fatal.thrown, fatal.last);
    return fatal.last;
  }
  return at;
}

function sourceBelow(lines: readonly string[], at: number, open: Open | null): string | null {
  const line = withoutMargin(shifted(lines[at + 1] ?? '', open));
  return isIndented(line) && !FRAME.test(line) ? line.trim() : null;
}

/** Null: the module itself. */
const functionName = (name: string | undefined): string | null => (name === '<module>' ? null : (name ?? null));

/** Below the frames: source, the error itself, or a line of another thread. */
function readOn(reading: Reading, open: Open, line: string, at: number): number {
  const { lines, found } = reading;
  if (isIndented(line) || isBlank(line)) return at;
  const thrown = thrownBy(line);
  if (thrown === null) {
    if (++open.foreign > MAX_FOREIGN_LINES) reading.open = null;
    return at;
  }
  const end = messageEnd(lines, at, open.source ?? '');
  const rest = lines.slice(at + 1, end + 1).map((one) => withoutMargin(one).trim());
  const message = [thrown.message, ...rest].join('\n').trim();
  const source = open.source === null ? {} : { source: open.source };
  found.at(-1)!.add({ ...thrown, message, frames: open.frames.reverse(), ...source }, end);
  reading.open = null;
  return end;
}

/** "worker-3> Traceback …": what stands before it stands before the frames too. */
function columnOf(lines: readonly string[], at: number, header: number): number {
  const next = lines[at + 1]?.indexOf('File "') ?? -1;
  return header > 0 && next === header + 2 ? header : 0;
}

const shifted = (line: string, open: Open | null): string => (open && open.column > 0 ? line.slice(open.column) : line);
const withoutMargin = (line: string): string => (RULE.test(line) ? '' : line.replace(MARGIN, ''));

/** A traceback with a margin belongs to the group that began before it. */
const isInGroup = (line: string, before: Building | undefined, at: number): boolean =>
  before?.isGroup === true && /^\s*\|/.test(line) && at - before.last <= MAX_FOREIGN_LINES;

function thrownBy(line: string): Omit<Thrown, 'frames'> | null {
  const [, type, message] = THROWN.exec(line) ?? [];
  if (type === undefined) return null;
  const name = type.slice(type.lastIndexOf('.') + 1);
  const isName = SURE_NAME.test(name) || (/^[A-Z]/.test(name) && /[a-z]/.test(name) && !LEVEL_NAME.test(name));
  return isName ? { type: name, message: message ?? '' } : null;
}

/**
 * Lines that are indented belong to the message, and so does one that is followed by such a line, and all up to one that stands in
 * the line of code that raised it.
 */
function messageEnd(lines: readonly string[], at: number, source: string): number {
  let end = at;
  for (let next = at + 1; next <= at + MAX_MESSAGE_LINES && next < lines.length; next++) {
    if (lines[next]!.includes(HEADER) || FRAME.test(lines[next]!)) break;
    const text = withoutMargin(lines[next]!).trim();
    if (text.length >= MIN_QUOTED_CHARS && source.includes(text)) end = next;
  }
  while (end - at < MAX_MESSAGE_LINES) {
    const next = withoutMargin(lines[end + 1] ?? '');
    const after = withoutMargin(lines[end + 2] ?? '');
    const isPart =
      isIndented(next) || (!isBlank(next) && isIndented(after) && !FRAME.test(after) && !next.includes(HEADER));
    if (isBlank(next) || FRAME.test(next) || !isPart) break;
    end++;
  }
  return end;
}

interface Building {
  readonly last: number;
  readonly isGroup: boolean;
  add(thrown: Thrown, last: number): void;
  /** All so far was being handled when the next one was raised. */
  forget(): void;
  result(): readonly FoundCrash[];
}

function newBuilding(lines: readonly string[], first: number): Building {
  let chain: Thrown[] = [];
  let handled: Thrown | undefined;
  let last = first;
  const survived = lookBack(lines, first, 3, (line) => SURVIVED.test(line)) >= 0;
  return {
    get last() {
      return last;
    },
    get isGroup() {
      return chain.some(isGroup);
    },
    add(thrown, end) {
      chain.push(thrown);
      last = end;
    },
    forget() {
      handled = chain.at(-1) ?? handled;
      chain = [];
    },
    result: () =>
      chain.length === 0
        ? []
        : [{ language: 'python', first, last, chain: causeFirst(chain), survived, ...(handled ? { handled } : {}) }],
  };
}

const isGroup = ({ type }: Thrown): boolean => type?.endsWith('ExceptionGroup') === true;

/** Python writes causes before what they led to, but the members of a group after it. */
function causeFirst(all: readonly Thrown[]): readonly Thrown[] {
  // asyncio ends what takes too long by cancelling it: that it took too long is the error.
  const chain = all.length > 1 && all[0]!.type === 'CancelledError' ? all.slice(1) : all;
  const group = chain.findIndex(isGroup);
  if (group < 0) return chain;
  const members = chain.slice(group + 1).filter((one) => !isGroup(one));
  return members.length === 0 ? chain : [...members, ...chain.filter((one) => !members.includes(one))];
}

/** What faulthandler and the interpreter itself write, newest call first. */
function fatalError(lines: readonly string[], at: number): { readonly thrown: Thrown; readonly last: number } {
  const message = FATAL.exec(lines[at]!)![1]!;
  const frames: RawFrame[] = [];
  let last = at;
  for (let next = at + 1; next < lines.length && next - last <= 3; next++) {
    const [, file, number, name] = FRAME.exec(lines[next]!) ?? [];
    if (file === undefined) continue;
    frames.push(frame(functionName(name), file, number));
    last = next;
  }
  return { thrown: { type: 'Fatal Python error', message, frames }, last };
}

// How tools draw errors: rich with a frame around the traceback, pytest, and those with the type alone (cleo, collision of PHP).

const BOX_THROWN =
  /^((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Timeout|Warning|Failure|Exit)?)(?:: (.*))?$/;
const nameOf = (type: string): string => type.slice(type.lastIndexOf('.') + 1);

export const parsePythonTools: Parser = (lines) => {
  const found: FoundCrash[] = [];
  for (let at = 0; at < lines.length; at++) {
    const one = rich(lines, at) ?? pytest(lines, at) ?? alone(lines, at);
    if (one === null) continue;
    found.push(one);
    at = one.last;
  }
  return found;
};

const BOX = /^[╭┌]─.{0,200} Traceback \(most recent call last\) .{0,200}$/u;
const BOX_END = /^[╰└]─/u;
const BOX_FRAME = /^│ (\S.{0,400}?\.pyw?|<[^>]{1,100}>):(\d{1,7}) in (\S{1,200}) {0,400}│?$/u;
const BOX_SOURCE = /^│ ❱ {0,10}\d{1,7} ?(?:│ ?)?(.{0,400}?) {0,400}│?$/u;
/** A stack of rich shows some lines of code around each call. */
const MAX_BOX_LINES = 2_000;

function rich(lines: readonly string[], at: number): FoundCrash | null {
  if (!BOX.test(lines[at]!)) return null;
  const frames: RawFrame[] = [];
  let source: string | undefined;
  for (let next = at + 1; next < lines.length && next - at < MAX_BOX_LINES; next++) {
    const [, file, line, name] = BOX_FRAME.exec(lines[next]!) ?? [];
    if (file !== undefined) frames.unshift(frame(name === '<module>' ? null : name, file, line));
    source = BOX_SOURCE.exec(lines[next]!)?.[1] ?? source;
    if (!BOX_END.test(lines[next]!)) continue;
    const [, type, message = ''] = BOX_THROWN.exec(lines[next + 1] ?? '') ?? [];
    if (type === undefined) return null;
    const thrown: Thrown = { type: nameOf(type), message, frames, ...(source === undefined ? {} : { source }) };
    return { language: 'python', first: at, last: next + 1, chain: [thrown] };
  }
  return null;
}

const AT = /^(\S{1,300}\.py):(\d{1,7}): ((?:[A-Za-z_]\w*\.)*[A-Z]\w*)$/;
const EXPLAINED = /^E {3,}((?:[A-Za-z_]\w*\.)*[A-Z]\w*)(?:: (.*))?$/;
const SHOWN = /^> {3,}(\S.*)$/;

/** "E   KeyError: 'x'" and below it "test_it.py:5: KeyError". */
function pytest(lines: readonly string[], at: number): FoundCrash | null {
  const [, file, line, type] = AT.exec(lines[at]!) ?? [];
  if (file === undefined) return null;
  const explained = lookBack(lines, at, MAX_FOREIGN_LINES * 2, (before) => EXPLAINED.test(before));
  const [, named, message = ''] = explained < 0 ? [] : EXPLAINED.exec(lines[explained]!)!;
  if (named === undefined || nameOf(named) !== nameOf(type!)) return null;
  const shown = lookBack(lines, explained, MAX_MESSAGE_LINES, (before) => SHOWN.test(before));
  const source = shown < 0 ? {} : { source: SHOWN.exec(lines[shown]!)![1]! };
  const thrown: Thrown = { type: nameOf(named), message, frames: [frame(null, file, line)], ...source };
  return { language: 'python', first: explained, last: at, chain: [thrown], ends: { codes: [1, 2], signals: [] } };
}

const ALONE = /^ {2,4}(?:[\w\\]{1,200}\\)?([A-Z]\w{2,60}(?:Error|Exception|Exit|Interrupt)) {0,4}$/;
const CALL = /^ {2}at (\S{1,300}):(\d{1,7})(?: in (\S{1,200}))?$/;
const PHP = { codes: [1, 255], signals: [] } as const;

/** The type, the message and the place, each alone between blank lines. */
function alone(lines: readonly string[], at: number): FoundCrash | null {
  const [, type] = ALONE.exec(lines[at]!) ?? [];
  if (type === undefined || !isBlank(lines[at + 1])) return null;
  for (let next = at + 2; next <= at + 2 + MAX_MESSAGE_LINES && next < lines.length; next++) {
    const [, file, line, name] = CALL.exec(lines[next]!) ?? [];
    if (file === undefined) continue;
    const words = lines.slice(at + 2, next).filter((text) => !isBlank(text));
    const message = words.map((text) => text.trim()).join('\n');
    let last = next;
    // The code around the place, numbered, and the calls.
    while (/^\s+\S|^$/.test(lines[last + 1] ?? '-') && last - next < 2 * MAX_FOREIGN_LINES) last++;
    const chain = [{ type, message, frames: [frame(name, file, line)] }];
    if (file.endsWith('.php')) return { language: 'php', first: at, last, chain, ends: PHP };
    return { language: 'python', first: at, last, chain };
  }
  return null;
}
