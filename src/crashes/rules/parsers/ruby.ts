/** Ruby: uncaught exceptions with their causes, the order of older versions on a terminal, and what Rails writes. */
import type { FoundCrash, Parser, RawFrame, Thrown } from '../crash.ts';
import { frame, isBlank, MAX_FOREIGN_LINES, MAX_MESSAGE_LINES } from './shared.ts';

const PLACE = "((?:[A-Za-z]:)?[^\\s:'`\"][^:'`\"]*|<internal:[^>]+>|-e):(\\d+)(?::in [`'](.+?)')?";
const RAISED = new RegExp(`^${PLACE}: (.*)$`);
const TYPED = /^(.*) \(((?:[A-Z]\w*::)*[A-Z]\w*)\)$/;
const FROM = new RegExp(`^\\s+(?:\\d{1,4}: )?from ${PLACE}$`);
const RAILS = /^((?:[A-Z]\w*::)*[A-Z]\w*) \((.*)\):$/;
const RAILS_FRAME = new RegExp(`^\\s*${PLACE}$`);
/** Ruby wraps what it says about the source since 3.1. */
const MORE = /^\s+[\^~]|^\s{2,}|^$/;

export const parseRuby: Parser = (lines) => {
  const found: FoundCrash[] = [];
  let at = 0;
  while (at < lines.length) {
    const one = rails(lines, at) ?? bug(lines, at) ?? raised(lines, at);
    if (one) found.push(one);
    at = one ? one.last + 1 : at + 1;
  }
  return found;
};

interface Head {
  readonly thrown: Thrown;
  readonly last: number;
}

/** "app.rb:3:in 'f': message (Type)", over one or more lines. */
function head(lines: readonly string[], at: number): Head | null {
  const [, file, line, name, rest] = RAISED.exec(lines[at]!) ?? [];
  if (file === undefined || (name === undefined && !/\.rb$|^-e$|^<internal/.test(file))) return null;
  const place = frame(nameOf(name), file, line);
  const [, message, type] = TYPED.exec(rest!) ?? [];
  if (type !== undefined) {
    // A file that cannot be read stands in the message: the calls are those of whoever asked for it.
    const [, broken, brokenAt, words] = (type === 'SyntaxError' ? UNREAD.exec(message!) : null) ?? [];
    const unread = broken === undefined ? [] : [frame(null, broken, brokenAt)];
    let last = at;
    while (last - at < MAX_MESSAGE_LINES && isMore(lines, last + 1)) last++;
    return { thrown: { type, message: words ?? message!, frames: [...unread, place] }, last };
  }
  for (let last = at + 1; last <= at + MAX_MESSAGE_LINES && last < lines.length; last++) {
    if (RAISED.test(lines[last]!) || FROM.test(lines[last]!)) return null;
    const [, end, late] = TYPED.exec(lines[last]!) ?? [];
    if (late === undefined) continue;
    const text = [rest!, ...lines.slice(at + 1, last), end!].join('\n').trim();
    return { thrown: { type: late, message: text, frames: [place] }, last };
  }
  return null;
}

/** The rest of a message is indented; what stands before the frames belongs to it in any case. */
function isMore(lines: readonly string[], at: number): boolean {
  const line = lines[at];
  if (line === undefined || FROM.test(line) || RAISED.test(line)) return false;
  return /^ {2,}\S/.test(line) || (MORE.test(line) && followedByFrame(lines, at));
}

/** The lines that show the source stand between the message and the frames. */
function followedByFrame(lines: readonly string[], at: number): boolean {
  if (FROM.test(lines[at]!)) return false;
  return lines.slice(at + 1, at + 1 + MAX_MESSAGE_LINES).some((line) => FROM.test(line));
}

function raised(lines: readonly string[], at: number): FoundCrash | null {
  const before = reversed(lines, at);
  const begin = before === null ? at : before.last + 1;
  const first = begin < lines.length ? head(lines, begin) : null;
  if (first === null) return null;
  const chain: Thrown[] = [];
  let next: Head | null = first;
  let last = at;
  while (next !== null) {
    const calls = frames(lines, next.last);
    const older = chain.length === 0 ? (before?.frames ?? []) : [];
    chain.push({ ...next.thrown, frames: [...next.thrown.frames, ...older, ...calls.frames] });
    last = calls.last;
    next = last + 1 < lines.length ? head(lines, last + 1) : null;
    if (next !== null && !isRescued(chain.at(-1)!, next, frames(lines, next.last).frames)) next = null;
  }
  const survived = /^#<Thread:.{0,300}> terminated with exception/.test(lines[at - 1] ?? '');
  // Ruby notes by itself what was being rescued when an error was raised: that is no cause. The last one raised comes first.
  const [thrown, handled] = chain as [Thrown, Thrown?];
  return { language: 'ruby', first: at, last, chain: [thrown], survived, ...(handled ? { handled } : {}) };
}

const UNREAD = /^(\S{1,300}):(\d{1,7}): (.+)$/;
const BUG = /^(?:(\S{1,300}):(\d{1,7}): )?\[BUG\] (.{1,300})$/;

/** The interpreter itself failed. */
function bug(lines: readonly string[], at: number): FoundCrash | null {
  const [, file, line, message] = BUG.exec(lines[at]!) ?? [];
  if (message === undefined) return null;
  const frames = file === undefined ? [] : [frame(null, file, line)];
  return { language: 'ruby', first: at, last: at, chain: [{ type: '[BUG]', message, frames }], uncaught: true };
}

/**
 * Two crashes one after the other are no chain. Of an error that was raised while another was rescued, the calls below the rescue are
 * the same, and the last call above it is in the method that rescued.
 */
function isRescued({ frames: raised }: Thrown, { thrown }: Head, calls: readonly RawFrame[]): boolean {
  const rescued = [...thrown.frames, ...calls];
  let shared = 0;
  while (shared < Math.min(raised.length, rescued.length) && isSame(raised.at(-1 - shared)!, rescued.at(-1 - shared)!))
    shared++;
  const above = raised.at(-1 - shared);
  const below = shared === 0 ? undefined : raised.at(-shared);
  const failed = rescued.at(-1 - shared);
  return above !== undefined && [below, failed].some((call) => call !== undefined && isSameMethod(above, call));
}

const isSameMethod = (one: RawFrame, other: RawFrame): boolean =>
  one.function === other.function && one.file === other.file;
const isSame = (one: RawFrame, other: RawFrame): boolean => isSameMethod(one, other) && one.line === other.line;

function frames(
  lines: readonly string[],
  from: number,
): { readonly frames: readonly RawFrame[]; readonly last: number } {
  const calls: RawFrame[] = [];
  let last = from;
  for (let at = from + 1; at < lines.length && at - last <= MAX_FOREIGN_LINES; at++) {
    const [, file, line, name] = FROM.exec(lines[at]!) ?? [];
    if (file === undefined) {
      if (head(lines, at) !== null) break;
      continue;
    }
    calls.push(frame(nameOf(name), file, line));
    last = at;
  }
  return { frames: calls, last };
}

/** Ruby 2.5 to 2.7 on a terminal: the calls first, the error last. */
function reversed(
  lines: readonly string[],
  at: number,
): { readonly frames: readonly RawFrame[]; readonly last: number } | null {
  if (!/Traceback \(most recent call last\):$/.test(lines[at]!) || !FROM.test(lines[at + 1] ?? '')) return null;
  const { frames: calls, last } = frames(lines, at);
  return { frames: [...calls].reverse(), last };
}

/** "NoMethodError (undefined method …):" and its places below, as Rails logs it. */
function rails(lines: readonly string[], at: number): FoundCrash | null {
  const [, type, message] = RAILS.exec(lines[at]!) ?? [];
  if (type === undefined) return null;
  const calls: RawFrame[] = [];
  let last = at;
  for (let next = at + 1; next < lines.length && next - last <= 3; next++) {
    if (isBlank(lines[next]!)) continue;
    const [, file, line, name] = RAILS_FRAME.exec(lines[next]!) ?? [];
    if (file === undefined) continue;
    calls.push(frame(nameOf(name), file, line));
    last = next;
  }
  if (calls.length === 0) return null;
  return { language: 'ruby', first: at, last, chain: [{ type, message: message!, frames: calls }], survived: true };
}

/** "block in Object#call" and "call" are the same place; "<main>" is no function. */
function nameOf(name: string | undefined): string | null {
  const plain = name?.replace(/^(?:block|rescue|ensure)(?: \(\d+ levels\))? in /, '').replace(/^Object#/, '');
  return plain === undefined || /^<(?:main|top \(required\)|module:|class:)/.test(plain) ? null : plain;
}
