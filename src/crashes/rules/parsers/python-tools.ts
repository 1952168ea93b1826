/** How tools draw errors: rich with a frame around the traceback, pytest, and those with the type alone (cleo, collision of PHP). */
import type { FoundCrash, Parser, RawFrame, Thrown } from '../crash.ts';
import { frame, isBlank, lookBack, MAX_FOREIGN_LINES, MAX_MESSAGE_LINES } from './shared.ts';

const THROWN = /^((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Timeout|Warning|Failure|Exit)?)(?:: (.*))?$/;
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
    const [, type, message = ''] = THROWN.exec(lines[next + 1] ?? '') ?? [];
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
