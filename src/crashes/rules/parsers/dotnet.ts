/** .NET: unhandled exceptions with the inner ones, whose frames come before those of the outer ones. */
import type { FoundCrash, Parser, RawFrame, Thrown } from '../crash.ts';
import { frame, isBlank, lookBack, MAX_FOREIGN_LINES, MAX_MESSAGE_LINES } from './shared.ts';

const FRAME =
  /^\s+at ((?:[\w<>`[\],+$|]+\.)+[\w<>`[\],+$|]+)\(([^()]*(?:\([^()]*\)[^()]*)*)\)(?: in (.+):line (\d+))?$/;
const NOT_JVM = /^[\w$.-]+\.(?:java|kt|scala|groovy|clj)(?::\d+)?$|^(?:Native Method|Unknown Source)$/;
const NAMED =
  /^\s*(?:Unhandled [Ee]xception[.:] ?|[\w. ]{0,60}: )?((?:[A-Za-z_]\w*\.)+[A-Z]\w*(?:`\d)?)(?: \(0x[0-9A-F]+\)| \(\d+\))?: (.*)$/;
const INNER =
  /^\s*---> (?:\(Inner Exception #\d+\) )?((?:[A-Za-z_]\w*\.)*[A-Z]\w*)(?: \(0x[0-9A-F]+\)| \(-?\d+(?:, 0x[0-9A-F]+)?\))?: (.*)$/;
const END_OF_INNER = /^\s+--- End of inner exception stack trace ---$/;
const JOINT = /^\s*--- End of stack trace from previous location/;
const SHORT = /^(?:(?:Process terminated\. |Fatal error\. )(.+)|(Stack overflow)\.)$/;
/** "Repeat 9602 times:" and a rule stand between the words and the calls. */
const MAX_TO_CALLS = 4;

interface Open {
  readonly type: string | null;
  readonly message: string;
  readonly frames: RawFrame[];
}

export const parseDotnet: Parser = (lines) => {
  const found: FoundCrash[] = [];
  for (let at = 0; at < lines.length; at++) {
    const one = exception(lines, at) ?? terminated(lines, at);
    if (one === null) continue;
    found.push(one);
    at = one.last;
  }
  return found;
};

function exception(lines: readonly string[], at: number): FoundCrash | null {
  if (callOf(lines[at]!) === null) return null;
  const reach = MAX_MESSAGE_LINES * 2;
  const wall = lookBack(lines, at, reach, (line) => callOf(line) !== null);
  const first = lookBack(lines, at, wall < 0 ? reach : at - wall - 1, (line) => NAMED.test(line) && !INNER.test(line));
  // An inner exception may have no calls at all.
  const end = first < 0 ? -1 : lines.slice(first, at).findIndex((line) => END_OF_INNER.test(line));
  const begin = end < 0 ? at : first + end;
  const open = first < 0 ? [{ type: null, message: '', frames: [] }] : heads(lines, first, begin);
  return read(lines, first < 0 ? at : first, begin, open);
}

/** The exception and its inner ones, as named before the first frame: the outermost first. */
function heads(lines: readonly string[], first: number, end: number): Open[] {
  const open: Open[] = [];
  for (const line of lines.slice(first, end)) {
    const [, type, message] = INNER.exec(line) ?? (open.length === 0 ? NAMED.exec(line) : null) ?? [];
    if (type !== undefined) open.push({ type: shortName(type), message: message!, frames: [] });
    else if (!isBlank(line) && open.length > 0) {
      const { frames, ...last } = open.pop()!;
      open.push({ ...last, message: `${last.message}\n${line.trim()}`, frames });
    }
  }
  return open;
}

function read(lines: readonly string[], first: number, begin: number, named: readonly Open[]): FoundCrash {
  const open = [...named];
  const chain: Open[] = [];
  let last = begin;
  for (let at = begin; at < lines.length && at - last <= MAX_FOREIGN_LINES; at++) {
    const line = lines[at]!;
    const call = callOf(line);
    if (call) open.at(-1)!.frames.push(call);
    else if (END_OF_INNER.test(line) && open.length > 1) chain.push(open.pop()!);
    else if (at > begin && NAMED.test(line) && !INNER.test(line)) break;
    else if (!JOINT.test(line)) continue;
    last = at;
  }
  return { language: 'dotnet', first, last, chain: [...chain, ...open.reverse()] as readonly Thrown[] };
}

function callOf(line: string): RawFrame | null {
  const [, name, args, file, number] = FRAME.exec(line) ?? [];
  if (name === undefined || NOT_JVM.test(args!)) return null;
  return frame(plainName(name), file?.replaceAll('\\', '/'), number);
}

/** Compiler-made names of asynchronous and local functions, back to what the programmer wrote. */
const plainName = (name: string): string =>
  name
    .replace(/<(\w+)>d__\d+(?:`\d)?\.MoveNext$/, '$1')
    .replace(/\.<>c(?:__DisplayClass\d+_\d+)?\.<(\w+)>b__\w+$/, '.$1')
    .replace(/<(\w+)>g__(\w+)\|[\d_]+$/, '$1.$2');

const shortName = (type: string): string => type.slice(type.lastIndexOf('.') + 1);

function terminated(lines: readonly string[], at: number): FoundCrash | null {
  const words = SHORT.exec(lines[at]!);
  if (!words) return null;
  const thrown: Open = { type: 'Fatal error', message: words[1] ?? words[2]!, frames: [] };
  const begin = lines.slice(at + 1, at + 1 + MAX_TO_CALLS).findIndex((line) => callOf(line) !== null);
  if (begin >= 0) return read(lines, at, at + 1 + begin, [thrown]);
  return { language: 'dotnet', first: at, last: at, chain: [thrown] };
}
