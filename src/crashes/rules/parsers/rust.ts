/** Rust: panics in the old and the new form, backtraces, errors that `main` returned, and aborts of the runtime. */
import type { FoundCrash, Parser, RawFrame, Thrown } from '../crash.ts';
import { frame, isBlank, MAX_FOREIGN_LINES, MAX_MESSAGE_LINES } from './shared.ts';

const PANIC = /^thread '([^']*)'(?: \(\d+\))? panicked at (.*)$/;
const OLD = /^'(.*)', ([^,]+?):(\d+):(\d+)$/;
const NEW = /^([^']+?):(\d+):(\d+):$/;
const AFTER_MESSAGE = /^(?:note: |stack backtrace:|thread ')/;
const CALL = /^\s+\d{1,4}: +(?:0x[0-9a-f]+ - )?(\S.*)$/;
const PLACE = /^\s+at (\S[^:]*):(\d+)(?::(\d+))?$/;
const HASH = /::h[0-9a-f]{16}$/;
const ALLOCATION = /^(memory allocation of \d+ bytes failed)$/;
const RUNTIME = /^fatal runtime error: (.+)$/;
const RETURNED = /^Error: (.+)$/;
/** The numbered causes of color-eyre stand below an empty beginning. */
const LISTED = /^Error: ?$/;
const CAUSE = /^\s+(?:\d{1,3}: )?(\S.*)$/;

export const parseRust: Parser = (lines) => {
  const found: FoundCrash[] = [];
  for (let at = 0; at < lines.length; at++) {
    const one = panic(lines, at) ?? returned(lines, at) ?? abort(lines, at);
    if (one === null) continue;
    found.push(joined(one, found.at(-1)));
    at = one.last;
  }
  return found;
};

/** A thread that is waited for and has panicked makes the one that waits panic: the first is the fault. */
function joined(found: FoundCrash, before: FoundCrash | undefined): FoundCrash {
  const isJoined = !found.survived && /`Err` value: Any \{ \.\. \}/.test(found.chain[0]!.message);
  if (!isJoined || before?.survived !== true || found.first - before.last > MAX_FOREIGN_LINES) return found;
  return { ...found, first: before.first, chain: [...before.chain, ...found.chain] };
}

function panic(lines: readonly string[], at: number): FoundCrash | null {
  const [, thread, words] = PANIC.exec(lines[at]!) ?? [];
  if (words === undefined) return null;
  const isMain = thread === 'main';
  const { message, file, line, column, last } = panicWords(lines, at, words);
  const stack = backtrace(lines, last);
  const place = file === undefined ? [] : [frame(null, file, line, column)];
  // The place of the panic is a frame without a name, unless the backtrace has it.
  const isThere = stack.frames.some(
    (call) => call.file !== null && call.line === place[0]?.line && endsAlike(call, file),
  );
  const frames = isThere ? stack.frames : [...place, ...stack.frames];
  const chain = [{ type: 'panic', message, frames }];
  return { language: 'rust', first: at, last: stack.last, chain, survived: !isMain, uncaught: isMain };
}

const endsAlike = (call: RawFrame, file: string | undefined): boolean =>
  file !== undefined && call.file!.endsWith(file.replace(/^\.\//, ''));

function panicWords(lines: readonly string[], at: number, words: string) {
  const [, old, oldFile, oldLine, oldColumn] = OLD.exec(words) ?? [];
  if (old !== undefined) return { message: old, file: oldFile, line: oldLine, column: oldColumn, last: at };
  const [, file, line, column] = NEW.exec(words) ?? [];
  if (file === undefined) return oldOverLines(lines, at, words);
  let last = at;
  while (last - at < MAX_MESSAGE_LINES && !isBlank(lines[last + 1]) && !AFTER_MESSAGE.test(lines[last + 1]!)) {
    // Only indented lines go on with a message: others may be of other threads.
    if (last > at && !/^\s/.test(lines[last + 1]!)) break;
    last++;
  }
  return { message: lines.slice(at + 1, last + 1).join('\n'), file, line, column, last };
}

/** The old form with a message of several lines: "'assertion failed\n  left: `1`', src/main.rs:4:5". */
function oldOverLines(lines: readonly string[], at: number, words: string) {
  for (let last = at + 1; last <= Math.min(at + MAX_MESSAGE_LINES, lines.length - 1); last++) {
    const [, end, file, line, column] = /^(.*)', ([^,]+?):(\d+):(\d+)$/.exec(lines[last]!) ?? [];
    if (end === undefined) continue;
    const message = [words.replace(/^'/, ''), ...lines.slice(at + 1, last), end].join('\n');
    return { message, file, line, column, last };
  }
  return { message: words, file: undefined, line: undefined, column: undefined, last: at };
}

function backtrace(
  lines: readonly string[],
  from: number,
): { readonly frames: readonly RawFrame[]; readonly last: number } {
  const frames: RawFrame[] = [];
  let last = from;
  for (let at = from + 1; at < lines.length && at - last <= MAX_FOREIGN_LINES; at++) {
    const line = lines[at]!;
    if (PANIC.test(line)) break;
    const [, call] = CALL.exec(line) ?? [];
    const [, file, number, column] = PLACE.exec(line) ?? [];
    if (call !== undefined) frames.push(frame(call.replace(HASH, ''), null));
    else if (file !== undefined && frames.length > 0) frames.push(frame(frames.pop()!.function, file, number, column));
    else if (!/^(?:note: |stack backtrace:)/.test(line)) continue;
    last = at;
  }
  return { frames, last };
}

const RETURNS = { codes: [1], signals: [] } as const;

/** What `main` returned: "Error: …", and with anyhow its causes, the innermost last. */
function returned(lines: readonly string[], at: number): FoundCrash | null {
  if (LISTED.test(lines[at]!) && /^\s+0: \S/.test(lines[at + 1] ?? '')) return listed(lines, at);
  const [, message] = RETURNED.exec(lines[at]!) ?? [];
  if (message === undefined) return null;
  const outer: Thrown = { type: 'Error', message, frames: [] };
  if (lines[at + 1] !== '' || lines[at + 2] !== 'Caused by:') {
    // The debug form of an error, which no other language writes.
    return /^(?:[A-Z]\w*(?: \{ .*\}|\(.*\))|NotPresent|".*")$/.test(message)
      ? { language: 'rust', first: at, last: at, chain: [outer], ends: RETURNS }
      : null;
  }
  const { causes, last } = causesFrom(lines, at + 2);
  return { language: 'rust', first: at, last: backtrace(lines, last).last, chain: [...causes, outer], ends: RETURNS };
}

function causesFrom(
  lines: readonly string[],
  from: number,
): { readonly causes: readonly Thrown[]; readonly last: number } {
  const causes: Thrown[] = [];
  let last = from;
  while (last - from < MAX_MESSAGE_LINES && CAUSE.test(lines[last + 1] ?? '')) {
    last++;
    causes.unshift({ type: 'Error', message: CAUSE.exec(lines[last]!)![1]!, frames: [] });
  }
  return { causes, last };
}

function listed(lines: readonly string[], at: number): FoundCrash {
  const { causes, last: end } = causesFrom(lines, at);
  let last = end;
  const place = lines.slice(end + 1, end + 4).findIndex((line) => /^Location:$/.test(line));
  const [, file, line, column] =
    place < 0 ? [] : (/^\s+(\S[^:]*):(\d{1,7})(?::(\d{1,5}))?$/.exec(lines[end + 2 + place] ?? '') ?? []);
  if (file !== undefined) last = end + 2 + place;
  const [cause, ...rest] = causes as [Thrown, ...Thrown[]];
  const frames = file === undefined ? [] : [frame(null, file, line, column)];
  return { language: 'rust', first: at, last, chain: [{ ...cause, frames }, ...rest], ends: RETURNS };
}

function abort(lines: readonly string[], at: number): FoundCrash | null {
  const message = ALLOCATION.exec(lines[at]!)?.[1] ?? RUNTIME.exec(lines[at]!)?.[1];
  if (message === undefined) return null;
  return { language: 'rust', first: at, last: at, chain: [{ type: 'fatal runtime error', message, frames: [] }] };
}
