/**
 * JavaScript: uncaught errors and rejections, causes and aggregates as Node prints them, syntax errors, and the heap that is full.
 * A stack begins at its first frame; the error is named in the lines before it.
 */
import type { FoundCrash, Parser, RawFrame, Thrown } from '../crash.ts';
import { frame, isBlank, isIndented, lookBack, MAX_FOREIGN_LINES, MAX_MESSAGE_LINES } from './shared.ts';

const CALL = /^\s*at (?:async )?(.*)$/;
const PLACE =
  /^((?:node:|file:|[a-z-]+:\/\/|[A-Za-z]:\\|\/|\.{0,2}\/|[\w@[])[^():]*(?:\([\w-]+\)[^():]*)*):(\d+)(?::(\d+))?$/;
const NO_PLACE = /^(?:native|<anonymous>|index \d+|unknown location|eval at .*)$/;
const NAMED =
  /^\s*(?:\[?(cause|errors)\]?: \[?)?(?:Uncaught |\(node:\d+\) UnhandledPromiseRejectionWarning: |\[)?((?:[A-Za-z_$][\w$]*\.)*[A-Z][\w$]*)(?: \[(\w+)\])?(?::(?: (.*))?|\]?)$/;
const SURE_NAME = /(?:Error|Exception|Rejection|Warning|Fault|Failure)$/;
const PLAIN_REJECTION = /^\[UnhandledPromiseRejection: .*\breason "(.*)"\.\]/;
const HEAP = /^FATAL ERROR: (.+)$/;
const SOURCE = /^((?:file:\/\/|\/|[A-Za-z]:\\|\.{0,2}\/)[^:]*|[\w./@-]+\.[cm]?[jt]sx?):(\d+)$/;
/** The calls of the engine itself, which tell nothing about the program. */
const NATIVE = /^$|^-+ (?:Native|JavaScript) stack trace -+$|^\s{0,4}\d{1,3}: 0x[0-9a-f]+ /;
const MAX_NATIVE_LINES = 80;
const TRACE_UNCAUGHT = '(Use `node --trace-uncaught';
/** A message may be a list of all that is wrong. */
const MAX_HEADER_LINES = 30;
/** Properties of an error may be whole buffers. */
const MAX_PROPERTY_LINES = 300;

/** "cause" or "errors": how it hangs on the one before; null: it begins a crash. */
interface Link {
  readonly thrown: Thrown;
  readonly link: 'cause' | 'errors' | null;
}

interface Reading {
  readonly lines: readonly string[];
  readonly found: FoundCrash[];
  open: { readonly first: number; last: number; readonly links: Link[] } | null;
  /** Between the brackets of an aggregate. */
  inErrors: boolean;
}

export const parseNode: Parser = (lines) => {
  const reading: Reading = { lines, found: [], open: null, inErrors: false };
  for (let at = 0; at < lines.length; at++) at = read(reading, at);
  close(reading);
  return reading.found;
};

function close(reading: Reading, uncaught = false): void {
  const { open, found } = reading;
  if (open)
    found.push({ language: 'node', first: open.first, last: open.last, chain: causeFirst(open.links), uncaught });
  reading.open = null;
}

/** Takes in one line, or a whole stack; returns the last line taken. */
function read(reading: Reading, at: number): number {
  const { lines } = reading;
  // The very last line of a program that died of it.
  if (/^Node\.js v\d/.test(lines[at]!)) close(reading, reading.open !== null && at - reading.open.last <= 2);
  const { open } = reading;
  if (!isIndented(lines[at])) reading.inErrors = false;
  else if (/^\s+\[errors\]: \[/.test(lines[at]!)) reading.inErrors = true;
  const simple = withoutStack(lines, at);
  if (simple) {
    close(reading);
    reading.found.push(simple);
    return simple.last;
  }
  if (callOf(lines[at]!) === null) return at;
  const stack = readStack(lines, at);
  const named = nameBefore(lines, at, open?.last ?? -1);
  const thrown = thrownOf(lines, named, stack.frames);
  const link = named.link ?? (reading.inErrors && isIndented(lines[named.first]) ? 'errors' : null);
  const isNear = open !== null && at - open.last <= MAX_FOREIGN_LINES;
  if (isNear && named.thrown === null) extend(open.links, stack.frames);
  else if (isNear && link !== null) open.links.push({ thrown, link });
  else {
    close(reading);
    reading.open = { first: named.first, last: at, links: [{ thrown, link }] };
  }
  reading.open!.last = endOf(lines, stack.last);
  return stack.last;
}

/** Null: this line is no frame of JavaScript. */
function callOf(line: string): RawFrame | null {
  const [, call] = CALL.exec(line.replace(/(?: \{|,)$/, '')) ?? [];
  if (call === undefined) return null;
  const open = call.endsWith(')') ? call.lastIndexOf(' (') : -1;
  const name = open < 0 ? null : plainName(call.slice(0, open));
  const place = open < 0 ? call : call.slice(open + 2, -1);
  const [, file, number, column] = PLACE.exec(place) ?? [];
  if (file?.endsWith('.rs')) return null;
  if (file !== undefined && (column !== undefined || place.startsWith('node:')))
    return frame(name, file, number, column);
  return open >= 0 && NO_PLACE.test(place) ? frame(name, null) : null;
}

/** Null: the file itself, outside of any function. */
const plainName = (name: string): string | null =>
  /^(?:Object|Module)\.<anonymous>$/.test(name) ? null : name.replace(/ \[as [^\]]*\]$/, '');

function readStack(
  lines: readonly string[],
  first: number,
): { readonly frames: readonly RawFrame[]; readonly last: number } {
  const frames: RawFrame[] = [];
  let last = first;
  for (let at = first; at < lines.length; at++) {
    const call = callOf(lines[at]!);
    if (call === null) break;
    frames.push(call);
    last = at;
  }
  return { frames, last };
}

interface Name {
  readonly first: number;
  readonly thrown: Omit<Thrown, 'frames'> | null;
  readonly link: Link['link'];
}

/** The error of the stack that begins at `end`: the nearest line before that names one, and all lines between. */
function nameBefore(lines: readonly string[], end: number, previous: number): Name {
  let reach = Math.min(MAX_HEADER_LINES, end - previous - 1);
  const wall = lookBack(lines, end, reach, (line) => callOf(line) !== null);
  if (wall >= 0) reach = end - wall - 1;
  const at = lookBack(lines, end, reach, (line) => nameOf(line) !== null);
  if (at < 0) return { first: end, thrown: null, link: null };
  const { link, ...thrown } = nameOf(lines[at]!)!;
  const between = lines.slice(at + 1, end);
  // A message with a blank line in it says so by an open beginning, or ends with one; otherwise this is the error of somebody else.
  const isOpen = /(?:^|:)$/.test(thrown.message) || endsBlank(lines, at, end);
  if (between.some(isBlank) && !isOpen) return { first: end, thrown: null, link: null };
  const rest = between.filter((line) => !isBlank(line));
  const message = [thrown.message, ...rest].join('\n').trim();
  return { first: at, thrown: { ...thrown, message }, link };
}

/** A message that ends with a line break. Errors of Python stand below their calls. */
function endsBlank(lines: readonly string[], at: number, end: number): boolean {
  const isBelowCalls = isIndented(lines[at - 1]) && !/^\s*[\^~]+$/.test(lines[at - 1]!);
  return isBlank(lines[end - 1]) && !isIndented(lines[at]) && !isBelowCalls;
}

/** "fatal, exiting: Error: late", "[jobs] failed - TypeError: no": what a program puts before the error that it prints. */
const SAID_BEFORE = /^(.{1,120}?[:>\])-] )(?=(?:[A-Za-z_$][\w$]*\.)*(?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?:)/;
const WORD_BEFORE = /^[A-Za-z][\w -]{0,40}: /;

function nameOf(line: string): (Omit<Thrown, 'frames'> & { readonly link: Link['link'] }) | null {
  const own = named(line);
  if (own !== null && SURE_NAME.test(own.type!)) return own;
  const [, before] = SAID_BEFORE.exec(line) ?? [];
  if (before !== undefined) return named(line.slice(before.length));
  return own ?? (WORD_BEFORE.test(line) ? named(line.replace(WORD_BEFORE, '')) : null);
}

function named(line: string): ReturnType<typeof nameOf> {
  const [, link, name, code, message] = NAMED.exec(line) ?? [];
  if (name === undefined || (!SURE_NAME.test(name) && message === undefined)) return null;
  if (!SURE_NAME.test(name) && (isIndented(line) || !/[a-z]/.test(name))) return null;
  // "Error" says nothing; its code does. That of a missing module stands far below.
  const known = code ?? (message?.startsWith("Cannot find module '") ? 'MODULE_NOT_FOUND' : undefined);
  const type = known !== undefined && name === 'Error' ? known : name;
  return { type, message: message ?? '', link: (link as Link['link']) ?? null };
}

/** Where the source of a syntax error lies stands only above the error. */
function thrownOf(lines: readonly string[], { first, thrown }: Name, frames: readonly RawFrame[]): Thrown {
  const named = withReason(thrown ?? { type: null, message: '' });
  // The calls of a file that cannot be read are those of whoever asked for it.
  const isUnread = named.type === 'SyntaxError' && frames[0]?.file?.startsWith('node:') === true;
  const at = lookBack(lines, first, 8, (line) => SOURCE.test(line));
  const [, file, number] = at < 0 ? [] : SOURCE.exec(lines[at]!)!;
  const code = at < 0 || !/^\s*\^/.test(lines[at + 2] ?? '') ? {} : { source: lines[at + 1]!.trim() };
  const isShown = frames.some((call) => call.file !== null && !call.file.startsWith('node:'));
  if (file === undefined || (isShown && !isUnread)) return { ...named, ...code, frames };
  return { ...named, ...code, frames: [frame(null, file, number), ...frames] };
}

/** Node explains at length what a rejection is; what was rejected stands at the end. */
function withReason(thrown: Omit<Thrown, 'frames'>): Omit<Thrown, 'frames'> {
  if (thrown.type !== 'UnhandledPromiseRejection') return thrown;
  return { ...thrown, message: /\breason "(.*)"\.$/s.exec(thrown.message)?.[1] ?? thrown.message };
}

/** Properties of the error, up to the closing brace. */
function endOf(lines: readonly string[], last: number): number {
  let end = last;
  // The braces that close what a cause stands in.
  while (end - last < MAX_MESSAGE_LINES && /^\s*[}\]],?$/.test(lines[end + 1] ?? '')) end++;
  if (!lines[last]!.endsWith('{')) return end;
  while (end - last < MAX_PROPERTY_LINES && /^\s+\S|^[}\]],?$/.test(lines[end + 1] ?? '')) {
    if (callOf(lines[end + 1]!) !== null || nameOf(lines[end + 1]!) !== null) break;
    end++;
    if (/^\}/.test(lines[end]!)) break;
  }
  return end;
}

/** A line of another thread stood between the frames. */
function extend(links: Link[], frames: readonly RawFrame[]): void {
  const { thrown, link } = links.pop()!;
  links.push({ thrown: { ...thrown, frames: [...thrown.frames, ...frames] }, link });
}

/** The cause of a cause is nearer to the truth; of an aggregate, the first error. */
function causeFirst(links: readonly Link[]): readonly Thrown[] {
  const chain: Thrown[] = [];
  let took = false;
  for (const { thrown, link } of links) {
    if (link === 'errors' && took) chain.splice(1, 0, thrown);
    else chain.unshift(thrown);
    took ||= link === 'errors';
  }
  return chain;
}

/** Ends of a program that come without a stack. */
function withoutStack(lines: readonly string[], at: number): FoundCrash | null {
  const line = lines[at]!;
  const [, heap] = HEAP.exec(line) ?? [];
  if (heap !== undefined) {
    let last = at;
    while (last - at < MAX_NATIVE_LINES && NATIVE.test(lines[last + 1] ?? '-')) last++;
    return { ...one(at, last, { type: 'FATAL ERROR', message: heap, frames: [] }), uncaught: true };
  }
  const [, reason] = PLAIN_REJECTION.exec(line) ?? [];
  if (reason !== undefined) return one(at, at, { type: 'UnhandledPromiseRejection', message: reason, frames: [] });
  if (/^Node\.js v\d/.test(line)) return thrownValue(lines, at);
  if (!line.startsWith(TRACE_UNCAUGHT)) return null;
  const source = lookBack(lines, at, MAX_MESSAGE_LINES, (before) => SOURCE.test(before));
  const message =
    lines.slice(Math.max(source, at - MAX_MESSAGE_LINES), at).findLast((before) => !isBlank(before)) ?? '';
  const [, file, number] = source < 0 ? [] : SOURCE.exec(lines[source]!)!;
  const frames = file === undefined ? [] : [frame(null, file, number)];
  return one(source < 0 ? at : source, at, { type: 'Uncaught', message: message.replace(/^Uncaught /, ''), frames });
}

/** What was thrown is no error: below the line of code it is shown as it is, without a stack. */
function thrownValue(lines: readonly string[], end: number): FoundCrash | null {
  const at = lookBack(lines, end, MAX_HEADER_LINES, (line) => SOURCE.test(line));
  if (at < 0) return null;
  const mark = lines.slice(at, at + 4).findIndex((line) => /^\s*\^+$/.test(line));
  const shown = mark < 0 ? [] : lines.slice(at + mark + 1, end).filter((line) => !isBlank(line));
  if (
    shown.length === 0 ||
    shown.some((line) => callOf(line) !== null || nameOf(line) !== null || line.startsWith(TRACE_UNCAUGHT))
  )
    return null;
  const [, file, number] = SOURCE.exec(lines[at]!)!;
  return {
    ...one(at, end, { type: 'Uncaught', message: shown.join('\n'), frames: [frame(null, file, number)] }),
    uncaught: true,
  };
}

const one = (first: number, last: number, thrown: Thrown): FoundCrash => ({
  language: 'node',
  first,
  last,
  chain: [thrown],
});
