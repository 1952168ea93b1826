/** PHP: uncaught exceptions with those they were made of, and errors of the interpreter. */
import type { FoundCrash, Parser, RawFrame, Thrown } from '../crash.ts';
import { frame, isBlank, MAX_MESSAGE_LINES } from './shared.ts';

/** The command line writes it with "PHP " to its log and without to the screen, often both. */
const FATAL = /^(?:PHP )?(Fatal|Parse|Recoverable fatal|Compile|Core) error: {1,3}(.*)$/;
const UNCAUGHT = /^Uncaught ([A-Za-z_\\][\w\\]{0,200}):? ?(.*)$/;
const NEXT = /^Next ([A-Za-z_\\][\w\\]{0,200})(?:: (.*))?$/;
const PLACE = /^(.*) in (\S.*?):(\d{1,7})$/;
const ON_LINE = /^(.*) in (\S.*) on line (\d{1,7})$/;
const CALL = /^#\d{1,4} (?:(.+?)\((\d{1,7})\)|\[internal function\]): (.+)$/;
const MAIN = /^#\d{1,4} \{main\}$/;
/** As a handler of the program prints an exception. */
const PRINTED =
  /^((?:[A-Za-z_]\w{0,100}\\){0,8}[A-Z]\w{0,100}(?:Exception|Error)): (.*) in (\/\S.*?\.\w{1,5}):(\d{1,7})$/;
const THROWN = /^\s+thrown in .+ on line \d+$/;
const MAX_CALLS = 200;

export const parsePhp: Parser = (lines) => {
  const found: FoundCrash[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [, kind, words] = FATAL.exec(lines[at]!) ?? [];
    const one =
      words === undefined ? printed(lines, at) : (uncaught(lines, at, words) ?? plain(lines, at, kind!, words));
    if (one !== null) found.push(one);
    at = one?.last ?? at;
  }
  return found;
};

function printed(lines: readonly string[], at: number): FoundCrash | null {
  const [, type, message, file, line] = PRINTED.exec(lines[at]!) ?? [];
  if (file === undefined) return null;
  const { calls, last } = callsFrom(lines, /^Stack trace:$/.test(lines[at + 1] ?? '') ? at + 2 : at + 1);
  if (last <= at + 1 && !MAIN.test(lines[last] ?? '')) return null;
  const thrown = {
    type: type!.slice(type!.lastIndexOf('\\') + 1),
    message: message!,
    frames: [frame(null, file, line), ...calls],
  };
  return { language: 'php', first: at, last, chain: [thrown], ends: { codes: [1, 255], signals: [] } };
}

function plain(lines: readonly string[], at: number, kind: string, words: string): FoundCrash | null {
  const [, message, file, line] = ON_LINE.exec(words) ?? [];
  if (message === undefined) return null;
  const type = kind === 'Parse' ? 'ParseError' : 'Fatal error';
  // From version 8.5 on a stack may follow.
  const { calls, last } = /^Stack trace:$/.test(lines[at + 1] ?? '')
    ? callsFrom(lines, at + 2)
    : { calls: [], last: at };
  return one(at, last, [{ type, message, frames: [frame(null, file, line), ...calls] }]);
}

function uncaught(lines: readonly string[], at: number, words: string): FoundCrash | null {
  const [, type, rest] = UNCAUGHT.exec(words) ?? [];
  if (type === undefined) return null;
  const chain: Thrown[] = [];
  let next: { readonly type: string; readonly rest: string; readonly at: number } | null = { type, rest: rest!, at };
  let last = at;
  while (next !== null && chain.length < MAX_MESSAGE_LINES) {
    const thrown = read(lines, next.at, next.type, next.rest);
    chain.push(thrown.thrown);
    last = thrown.last;
    const from = isBlank(lines[last + 1]) ? last + 2 : last + 1;
    const [, following, message = ''] = NEXT.exec(lines[from] ?? '') ?? [];
    next = following === undefined ? null : { type: following, rest: message, at: from };
  }
  if (THROWN.test(lines[last + 1] ?? '')) last++;
  return one(at, last, chain);
}

/** One exception of the chain: its message may take several lines, its place stands at the end of them. */
function read(lines: readonly string[], at: number, type: string, rest: string) {
  const texts = [rest];
  let end = at;
  while (
    !PLACE.test(texts.at(-1)!) &&
    texts.length <= MAX_MESSAGE_LINES &&
    !/^Stack trace:$/.test(lines[end + 1] ?? '')
  ) {
    if (lines[end + 1] === undefined) break;
    texts.push(lines[++end]!);
  }
  const [, words, file, line] = PLACE.exec(texts.pop()!) ?? [];
  const message = [...texts, words ?? ''].join('\n').trim();
  const place: readonly RawFrame[] = file === undefined ? [] : [frame(null, file, line)];
  const { calls, last } = /^Stack trace:$/.test(lines[end + 1] ?? '')
    ? callsFrom(lines, end + 2)
    : { calls: [], last: end };
  return { thrown: { type: type.slice(type.lastIndexOf('\\') + 1), message, frames: [...place, ...calls] }, last };
}

function callsFrom(
  lines: readonly string[],
  from: number,
): { readonly calls: readonly RawFrame[]; readonly last: number } {
  const calls: RawFrame[] = [];
  let at = from;
  while (at < lines.length && at - from < MAX_CALLS) {
    const [, file, line, call] = CALL.exec(lines[at]!) ?? [];
    if (call === undefined && !MAIN.test(lines[at]!)) break;
    if (call !== undefined) calls.push(frame(call.replace(/\(.*$/, ''), file, line));
    at++;
  }
  return { calls, last: at - 1 };
}

const one = (first: number, last: number, chain: readonly Thrown[]): FoundCrash => ({
  ...{ language: 'php', first, last, chain, uncaught: true },
});
