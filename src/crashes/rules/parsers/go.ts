/** Go: panics, fatal errors of the runtime, data races, and the dump of all goroutines that follows. */
import type { FoundCrash, Parser, RawFrame, Thrown } from '../crash.ts';
import { frame, isBlank, lookBack, MAX_FOREIGN_LINES } from './shared.ts';

const PANIC = /^(\t?)panic: (.*?)(?: \[recovered(?:, repanicked)?\])?$/;
const SERVED = /^http: panic serving [^ ]+: (.*)$/;
const FATAL = /^(fatal error|unexpected fault address|SIG[A-Z]{3,6}): ?(.*)$/;
const SENT = /^SIG(?:QUIT|TERM|INT|HUP|ABRT|USR[12])$/;
const RACE = 'WARNING: DATA RACE';
const GOROUTINE = /^goroutine \d+ (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[[^\]]*\]:$/;
const PLACE = /^\s+(\S[^:]*\.(?:go|s|c)):(\d+)(?: \+0x[0-9a-f]+)?(?: fp=0x[0-9a-f]+ sp=0x[0-9a-f]+ pc=0x[0-9a-f]+)?$/;
const RUNTIME_ERROR = /^(runtime error): (.*)$/;
/** Panics while panicking. */
const MAX_PANICS = 10;
/** How far after the words of a panic its goroutine begins: a signal, the arguments, lines of others. */
const MAX_TO_STACK = 15;

export const parseGo: Parser = (lines) => {
  const found: FoundCrash[] = [];
  for (let at = 0; at < lines.length; at++) {
    const words = wordsOf(lines, at);
    const isOrphan = words === null && GOROUTINE.test(lines[at]!) && /\[running/.test(lines[at]!);
    if (words === null && !isOrphan) continue;
    const begin = words?.last ?? at;
    const stack = readStack(lines, begin, words?.kind === 'race');
    if (stack.frames.length === 0 && !words?.alone) {
      at = Math.max(begin, stack.last);
      continue;
    }
    const errors = words?.errors ?? [{ type: null, message: '' }];
    // Where it was when somebody sent it a signal tells nothing about why.
    const calls = errors[0]!.type !== null && SENT.test(errors[0]!.type) ? [] : beforePanic(stack.frames);
    const chain = errors.map((error, index): Thrown => ({ ...error, frames: index === 0 ? calls : [] }));
    const survived = words === null || words.kind === 'served' || stack.frames.some(isPrinted);
    found.push({ language: 'go', first: at, last: stack.last, chain, survived, uncaught: !survived });
    at = stack.last;
  }
  return found;
};

/** A program that prints its own stack has recovered. */
const isPrinted = (call: RawFrame): boolean => /^runtime\/debug\.(?:Print)?Stack$/.test(call.function ?? '');

interface Words {
  readonly kind: 'panic' | 'served' | 'fatal' | 'race';
  readonly last: number;
  /** The innermost first. */
  readonly errors: readonly Omit<Thrown, 'frames'>[];
  /** It means something without a stack too. */
  readonly alone: boolean;
}

function wordsOf(lines: readonly string[], at: number): Words | null {
  const line = lines[at]!;
  if (line === RACE)
    return { kind: 'race', last: at, errors: [{ type: 'DATA RACE', message: race(lines, at) }], alone: true };
  const [, served] = SERVED.exec(line) ?? [];
  if (served !== undefined) return { kind: 'served', last: at, errors: [panic(served)], alone: false };
  const [, type, message] = FATAL.exec(line) ?? [];
  if (type !== undefined) return { kind: 'fatal', last: at, errors: [{ type, message: message ?? '' }], alone: false };
  if (!PANIC.test(line)) return null;
  const errors = [];
  let last = at;
  for (let next = at; next < lines.length && next - last <= 2 && errors.length < MAX_PANICS; next++) {
    const [, nested, words] = PANIC.exec(lines[next]!) ?? [];
    if (words === undefined || (next > at && nested === '')) continue;
    errors.push(panic(words));
    last = next;
  }
  return { kind: 'panic', last, errors, alone: false };
}

function panic(words: string): Omit<Thrown, 'frames'> {
  const [, type, message] = RUNTIME_ERROR.exec(words) ?? [];
  return type === undefined ? { type: 'panic', message: words } : { type, message: message! };
}

/** "write and previous read of the same memory": who, without addresses. */
function race(lines: readonly string[], at: number): string {
  const kinds = lines
    .slice(at + 1, at + 1 + 60)
    .flatMap((line) => /^((?:Previous )?(?:atomic )?(?:[Ww]rite|[Rr]ead)) (?:at|of)\b/.exec(line)?.[1] ?? [])
    .slice(0, 2);
  return `${kinds.join(' and ').toLowerCase() || 'access'} of the same memory without a lock`;
}

/** What recovered and panicked again stands above the call that panicked first. */
const beforePanic = (frames: readonly RawFrame[]): readonly RawFrame[] =>
  frames.slice(frames.findLastIndex((call) => call.function === 'panic') + 1);

interface Stack {
  readonly frames: RawFrame[];
  last: number;
  /** How many stacks have begun; the first is that of the goroutine that ended it. */
  begun: number;
}

/** The frames of the first goroutine, and how far the dump of all of them goes. */
function readStack(lines: readonly string[], begin: number, isRace: boolean): Stack {
  const stack: Stack = { frames: [], last: begin, begun: isRace ? 1 : 0 };
  const isHead = (line: string) => GOROUTINE.test(line) || (isRace && /^(?:Previous |Goroutine \d+ )/.test(line));
  for (let at = begin; at < lines.length; at++) {
    const line = lines[at]!;
    if (at > begin && (isNextCrash(line) || (stack.begun > 0 && FATAL.test(line)))) break;
    if (at - stack.last > (stack.begun === 0 ? MAX_TO_STACK : MAX_FOREIGN_LINES)) break;
    if (isHead(line)) Object.assign(stack, { last: at, begun: stack.begun + 1 });
    else if (stack.begun > 0) addCall(stack, lines, at);
    // The stack of the runtime itself comes first when it overflowed.
    else if (PLACE.test(line)) stack.last = at;
  }
  while (/^(?:exit status \d+|Found \d+ data race|={10,}$)/.test(lines[stack.last + 1] ?? '')) stack.last++;
  return stack;
}

const isNextCrash = (line: string): boolean => PANIC.test(line) || SERVED.test(line) || line === RACE;

function addCall(stack: Stack, lines: readonly string[], at: number): void {
  const [, file, number] = PLACE.exec(lines[at]!) ?? [];
  if (file === undefined) return;
  stack.last = at;
  const name = stack.begun === 1 ? functionBefore(lines, at) : null;
  if (name !== null) stack.frames.push(frame(name, file, number));
}

/** Null: it tells where a goroutine was created, which is no call. */
function functionBefore(lines: readonly string[], at: number): string | null {
  const before = lookBack(lines, at, 3, (line) => !isBlank(line) && line.includes('(') && !PLACE.test(line));
  const created = lookBack(lines, at, 2, (line) => /^\s*created by /.test(line));
  if (before < 0 || created > before || created === at - 1) return null;
  const call = lines[before]!.trim();
  return call.slice(0, call.lastIndexOf('('));
}
