/** What sh, bash, dash, busybox and zsh say when a script cannot go on. These are single lines. */
import type { FoundCrash, Parser } from '../crash.ts';
import { frame } from './shared.ts';

/** "./run.sh: line 3: words", "./run.sh: 3: words", "sh: 1: words", "bash: line 1: words". */
const AT_LINE = /^([\w./@+~-]{1,300}): (?:[\w.[]{1,20}: )?(?:line )?(\d{1,6}): {1,8}(.+)$/;
/** "bash: foo: command not found": a shell that reads commands. */
const AT_PROMPT = /^((?:\/\S{1,100}\/)?(?:ba|da|z|k|a)?sh): (.+)$/;
const ZSH = /^([\w./@+~-]{1,300}):(\d{1,6}): (.+)$/;

/** The words of the shells, and the type that they come to. */
const TYPES: readonly (readonly [RegExp, string])[] = [
  [/: (?:command )?not found$|^command not found: /, 'command not found'],
  [
    /: unbound variable$|: parameter (?:null or )?not set$|^[A-Za-z_]\w{0,100}: .{0,200}(?:must be|not set|required|missing|unset)/,
    'unbound variable',
  ],
  [/^[Ss]yntax error|^parse error|unexpected EOF|unexpected end of file/, 'syntax error'],
  [/: Permission denied$|^permission denied: /, 'permission denied'],
  [/: bad interpreter: |: cannot execute: required file not found$/, 'bad interpreter'],
  [/Exec format error$|cannot execute binary file/, 'exec format error'],
  [
    /: No such file or directory$|^(?:cannot|can't) (?:open|create|cd to) |: not a directory$|^no such file or directory: /i,
    'no such file',
  ],
  [
    /^\s*\d{1,10} (?:Killed|Segmentation fault|Aborted|Bus error|Illegal instruction|Terminated|Floating point exception)\b/,
    'killed child',
  ],
  [
    /: (?:readonly variable|is read only|bad substitution|Bad substitution|not a valid identifier|Illegal number.*|numeric argument required)$/,
    'script error',
  ],
  [/: Argument list too long$/, 'argument list too long'],
];

export const parseShell: Parser = (lines) =>
  lines.flatMap((line, at): readonly FoundCrash[] => {
    const [, script, number, words] = AT_LINE.exec(line) ?? ZSH.exec(line) ?? withoutLine(line) ?? [];
    if (script === undefined || words === undefined) return [];
    const type = TYPES.find(([expression]) => expression.test(words))?.[1];
    if (type === undefined) return [];
    const isScript = !/(?:^|\/)(?:ba|da|z|k|a)?sh$/.test(script);
    const frames = isScript ? [frame(null, script, number)] : [];
    const message = steadyWords(
      type,
      words
        .trim()
        .replace(/\s+/g, ' ')
        .replace(/^exec: /, ''),
    );
    return [{ language: 'shell', first: at, last: at, chain: [{ type, message, frames }] }];
  });

function withoutLine(line: string): readonly (string | undefined)[] | null {
  const [, shell, words] = AT_PROMPT.exec(line) ?? [];
  return shell === undefined ? null : ['', shell, undefined, words];
}

/** Each shell has its own words for these two. */
function steadyWords(type: string, words: string): string {
  const [, name] = /^(?:command not found: (\S+)|(\S+): .*)$/.exec(words)?.filter((group) => group !== undefined) ?? [];
  const isSteady = type === 'command not found' || /: (?:unbound variable|parameter not set)$/.test(words);
  return isSteady && name !== undefined ? `${name}: ${type}` : words;
}
