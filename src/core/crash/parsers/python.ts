/**
 * Python: tracebacks, chains of them, exception groups, syntax errors, and what faulthandler writes. A traceback may be interleaved
 * with lines of other threads, and may have lost its beginning.
 */
import type { Found, Parser, RawFrame, Thrown } from '../crash.ts';
import { frame, isBlank, isIndented, MAX_FOREIGN_LINES, MAX_MESSAGE_LINES } from './shared.ts';

const HEADER = 'Traceback (most recent call last):';
const FRAME = /^\s+File "([^"]+)", line (\d+)(?:,? in (.+))?$/;
const LINK =
  /^(?:During handling of the above exception, another exception occurred:|The above exception was the direct cause of the following exception:)$/;
/** The margin that exception groups draw. */
const MARGIN = /^\s*[|+] /;
const RULE = /^\s*\+(?:-\+)?-{4,}(?: (?:\d+|\.\.\.) -+)?$/;
const THROWN = /^((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:: (.*)|:?)$/;
const SURE_NAME =
  /(?:Error|Exception|Warning|Interrupt|Exit|Group|Iteration|Timeout|Empty|Full|Failure|DoesNotExist)\d*$/;
const LEVEL_NAME = /^(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)$/;
const FATAL = /^Fatal Python error: (.+)$/;

interface Open {
  /** As written: the nearest to the error last. */
  readonly frames: RawFrame[];
  foreign: number;
  /** How far the text is to the right, when something unknown stands before each line. */
  readonly column: number;
}

interface Reading {
  readonly lines: readonly string[];
  readonly found: Building[];
  open: Open | null;
  /** The next traceback belongs to the last one found. */
  linked: boolean;
}

export const parsePython: Parser = (lines) => {
  const reading: Reading = { lines, found: [], open: null, linked: false };
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
    if (!reading.linked && !isInGroup(lines[at]!, found.at(-1), at)) found.push(newBuilding(lines, at));
    reading.open = { frames: [], foreign: 0, column: columnOf(lines, at, header) };
    reading.linked = false;
  } else if (file !== undefined) {
    if (open === null) found.push(newBuilding(lines, at));
    reading.open ??= { frames: [], foreign: 0, column: 0 };
    reading.open.frames.push(frame(functionName(name), file, number));
    reading.open.foreign = 0;
  } else if (open !== null) {
    return readOn(reading, open, line, at);
  } else if (LINK.test(line)) {
    reading.linked = found.length > 0;
  } else if (FATAL.test(line)) {
    const fatal = fatalError(lines, at);
    found.push(newBuilding(lines, at));
    found.at(-1)!.add(fatal.thrown, fatal.last);
    return fatal.last;
  }
  return at;
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
  const end = messageEnd(lines, at);
  const rest = lines.slice(at + 1, end + 1).map((one) => withoutMargin(one).trim());
  const message = [thrown.message, ...rest].join('\n').trim();
  found.at(-1)!.add({ ...thrown, message, frames: open.frames.reverse() }, end);
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

/** Lines that are indented belong to the message, and so does one that is followed by such a line. */
function messageEnd(lines: readonly string[], at: number): number {
  let end = at;
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
  result(): readonly Found[];
}

function newBuilding(lines: readonly string[], first: number): Building {
  const chain: Thrown[] = [];
  let last = first;
  const survived = /^Exception ignored in\b/.test(lines[first - 1] ?? '');
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
    result: () => (chain.length === 0 ? [] : [{ language: 'python', first, last, chain: causeFirst(chain), survived }]),
  };
}

const isGroup = ({ type }: Thrown): boolean => type?.endsWith('ExceptionGroup') === true;

/** Python writes causes before what they led to, but the members of a group after it. */
function causeFirst(chain: readonly Thrown[]): readonly Thrown[] {
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
