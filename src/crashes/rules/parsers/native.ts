/** C and C++: assertions, what the C library says about corrupted memory, uncaught exceptions, and the reports of sanitizers. */
import type { FoundCrash, Parser, RawFrame, Thrown } from '../crash.ts';
import { frame, MAX_MESSAGE_LINES } from './shared.ts';

const ASSERTION =
  /^(?:[^\s:]{1,200}: )?([^\s:]{1,300}\.(?:c|cc|cpp|cxx|C|h|hh|hpp|hxx|inl|m|mm)):(\d{1,7}): (.{1,300}?): Assertion [`'](.{1,400})' failed\.$/;
const MEMORY =
  /^(?:\S{1,200}: )?(?:\*\*\* )?((?:double free or corruption|free\(\): |malloc\(\): |malloc_consolidate\(\): |munmap_chunk\(\): |realloc\(\): |corrupted (?:size|double-linked)|invalid fastbin|buffer overflow detected|stack smashing detected|break adjusted to free malloc space|sysmalloc: )[^*]{0,120}?)(?:\*\*\*: .{0,200})?$/;
const TERMINATE =
  /^terminate called (?:after throwing an instance of '(.{1,300})'|(without an active exception|recursively))$/;
const WHAT = /^\s+what\(\): {1,3}(.*)$/;
const LIBCXX =
  /^libc\+\+abi: terminating due to uncaught exception of type ([^:]{1,200}(?:::[^:]{1,200}){0,6})(?:: (.*))?$/;
const PURE = /^(pure virtual method called|deleted virtual method called)$/;
const SANITIZER = /^(?:=+\d{1,10}=+)?(?:ERROR|WARNING): (\w{1,20}Sanitizer): (.+)$/;
const RUNTIME = /^(\S{1,300}\.\w{1,4}):(\d{1,7}):(\d{1,5}): runtime error: (.+)$/;
const CALL =
  /^\s*#\d{1,3} 0x[0-9a-f]{1,16} (?:in )?(.+?)(?: (\/?[^\s():]{1,300}):(\d{1,7})(?::(\d{1,5}))?)?(?: ?\(.*\))?$/;
const REPORT_END = /^(?:=+\d{1,10}=+ABORTING|SUMMARY: )/;
/** A report with its map of shadow bytes. */
const MAX_REPORT_LINES = 200;

export const parseNative: Parser = (lines) => {
  const found: FoundCrash[] = [];
  for (let at = 0; at < lines.length; at++) {
    const one = assertion(lines[at]!, at) ?? memory(lines[at]!, at) ?? terminated(lines, at) ?? sanitizer(lines, at);
    if (one === null) continue;
    found.push(one);
    at = one.last;
  }
  return found;
};

const one = (first: number, last: number, thrown: Thrown): FoundCrash => ({
  ...{ language: 'native', first, last, chain: [thrown], uncaught: true },
});

function assertion(line: string, at: number): FoundCrash | null {
  const [, file, number, name, expression] = ASSERTION.exec(line) ?? [];
  if (file === undefined) return null;
  const frames = [frame(functionOf(name!), file, number)];
  return one(at, at, { type: 'assertion failed', message: expression!, frames });
}

function memory(line: string, at: number): FoundCrash | null {
  const [, message] = MEMORY.exec(line) ?? [];
  return message === undefined ? null : one(at, at, { type: 'memory corrupted', message: message.trim(), frames: [] });
}

/** Uncaught exceptions: the type by its full name, as programmers write it. */
function terminated(lines: readonly string[], at: number): FoundCrash | null {
  const line = lines[at]!;
  const [, type, other] = TERMINATE.exec(line) ?? [];
  if (type !== undefined || other !== undefined) {
    const [, what] = WHAT.exec(lines[at + 1] ?? '') ?? [];
    let last = what === undefined ? at : at + 1;
    const more: string[] = [];
    // The rest of a message of several lines, up to what can be told apart from it.
    while (what !== undefined && more.length < MAX_MESSAGE_LINES && /^\s+\S/.test(lines[last + 1] ?? ''))
      more.push(lines[++last]!.trim());
    const message = [what ?? other ?? '', ...more].join('\n').trim();
    return one(at, last, { type: type ?? 'terminate called', message, frames: [] });
  }
  const [, name, message = ''] = LIBCXX.exec(line) ?? [];
  if (name !== undefined) return one(at, at, { type: name, message, frames: [] });
  const [, pure] = PURE.exec(line) ?? [];
  if (pure === undefined) return null;
  const last = /^terminate called/.test(lines[at + 1] ?? '') ? at + 1 : at;
  return one(at, last, { type: 'pure virtual call', message: pure, frames: [] });
}

function sanitizer(lines: readonly string[], at: number): FoundCrash | null {
  const [, name, words] = SANITIZER.exec(lines[at]!) ?? [];
  if (name === undefined) return undefinedBehaviour(lines, at);
  const frames: RawFrame[] = [];
  let [last, stacks] = [at, 0];
  for (let next = at + 1; next < lines.length && next - at < MAX_REPORT_LINES; next++) {
    const line = lines[next]!;
    if (/^\s*#0 /.test(line)) stacks++;
    const call = CALL.exec(line);
    if (call && stacks === 1) frames.push(callOf(call));
    if (call || REPORT_END.test(line)) last = next;
    if (/ABORTING$/.test(line) || SANITIZER.test(line)) break;
  }
  const found = one(at, last, { type: name, message: kindOf(words!), frames });
  // A race is reported while the program goes on; that it ends with 66 is what tells.
  return found;
}

/** "heap-use-after-free on address 0x… at pc …" without the places in memory. */
const kindOf = (words: string): string =>
  words
    .replace(/ (?:on|at|of|for) (?:unknown )?address.*$/, '')
    .replace(/ \((?:pid|0x).*$/, '')
    .replace(/: 0x.*$/, '');

function undefinedBehaviour(lines: readonly string[], at: number): FoundCrash | null {
  const [, file, line, column, message] = RUNTIME.exec(lines[at]!) ?? [];
  if (file === undefined) return null;
  const thrown = { type: 'UndefinedBehaviorSanitizer', message: message!, frames: [frame(null, file, line, column)] };
  // By default it goes on after it.
  return { language: 'native', first: at, last: at, chain: [thrown] };
}

function callOf([, name, file, line, column]: RegExpExecArray): RawFrame {
  return frame(functionOf(name!), file, line, column);
}

/** "int main(int, char**)" is main. */
const functionOf = (name: string): string => {
  const plain = name.replace(/\(.*$/, '').trim();
  return plain.slice(plain.lastIndexOf(' ') + 1);
};
