/** Perl: what `die`, `croak` and the compiler say. `warn` says it in the same way: only what stands last is what it died of. */
import type { FoundCrash, Parser, RawFrame } from '../crash.ts';
import { frame } from './shared.ts';

const SAID = /^(.+?) at (\S{1,300}) line (\d{1,7})(?:, <\S{0,60}> (?:line|chunk) \d{1,12})?(\.|, near ".*|, at EOF)$/;
const CALLED = /^\s+(?:eval \{\.\.\.\}|([\w:]{1,200})\(.*\)|require \S+) called at (\S{1,300}) line (\d{1,7})$/;
/** What the compiler adds about the files on the way. */
const ADDED =
  /^(?:BEGIN failed--compilation aborted|Compilation failed in require) at (\S{1,300}) line (\d{1,7})(?:, <\S{0,60}> (?:line|chunk) \d{1,12})?\.$|^Execution of \S{1,300} aborted due to compilation errors\.$|^\S{1,300} had compilation errors\.$/;
/** Something that is no text was given to `die`. */
const REFERENCE = /^((?:[\w:]{1,200}=)?(?:HASH|ARRAY|SCALAR|CODE|REF))\(0x[0-9a-f]{1,16}\)$/;
const MAX_CALLS = 200;

export const parsePerl: Parser = (lines) => {
  const found: FoundCrash[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [, reference] = REFERENCE.exec(lines[at]!) ?? [];
    if (reference !== undefined)
      found.push({ language: 'perl', first: at, last: at, chain: [{ type: 'die', message: reference, frames: [] }] });
    const [, message, file, line, end] = SAID.exec(lines[at]!) ?? [];
    if (message === undefined || ADDED.test(lines[at]!)) continue;
    const { frames, last } = after(lines, at, end!.startsWith(','));
    const isSyntax = /^syntax error|^Missing right|^Can't find string terminator|^Global symbol/.test(message);
    const thrown = { type: isSyntax ? 'syntax error' : 'die', message, frames: [frame(null, file, line), ...frames] };
    found.push({ language: 'perl', first: at, last, chain: [thrown] });
    at = last;
  }
  return found;
};

/** The calls of `confess`, and who asked for the file that cannot be compiled. */
function after(
  lines: readonly string[],
  from: number,
  isNear: boolean,
): { readonly frames: RawFrame[]; readonly last: number } {
  const frames: RawFrame[] = [];
  let last = from;
  for (let at = from + 1; at < lines.length && at - from < MAX_CALLS; at++) {
    const line = lines[at]!;
    const [, name, file, number] = CALLED.exec(line) ?? [];
    const [added, importer, importedAt] = ADDED.exec(line) ?? [];
    // The source that a syntax error is near may go over two lines.
    const isSource = isNear && at === from + 1 && /^"?\)?/.test(line) && line.endsWith('"');
    if (file !== undefined) frames.push(frame(name, file, number));
    else if (importer !== undefined) frames.push(frame(null, importer, importedAt));
    else if (added === undefined && !isSource) break;
    last = at;
  }
  return { frames, last };
}
