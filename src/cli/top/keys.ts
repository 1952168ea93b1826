/** What a terminal in raw mode sends, as keys. Pure. */

/** A printable character as it is, or a name: "up", "enter", "ctrl-c". */
export type Key = string;

const NAMED: Readonly<Record<string, Key>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\u007f': 'backspace',
  '\b': 'backspace',
  '\u0003': 'ctrl-c',
  '\u000c': 'ctrl-l',
  '\u0015': 'ctrl-u',
  '\u001a': 'ctrl-z',
  '\u001b': 'escape',
  '\u001b[A': 'up',
  '\u001bOA': 'up',
  '\u001b[B': 'down',
  '\u001bOB': 'down',
  '\u001b[H': 'home',
  '\u001bOH': 'home',
  '\u001b[1~': 'home',
  '\u001b[7~': 'home',
  '\u001b[F': 'end',
  '\u001bOF': 'end',
  '\u001b[4~': 'end',
  '\u001b[8~': 'end',
  '\u001b[5~': 'page-up',
  '\u001b[6~': 'page-down',
};

/** Escape sequences whole, everything else character by character. A sequence comes in one piece from every terminal we know. */
const PIECES = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001bO[A-Za-z]|[\s\S]/gu;

export const keysOf = (text: string): readonly Key[] =>
  (text.match(PIECES) ?? []).flatMap((piece) => {
    const named = NAMED[piece];
    if (named !== undefined) return [named];
    return piece.startsWith('\u001b') || piece < ' ' ? [] : [piece];
  });
