/** Files with [sections] and key=value lines, each value with the line it stood in. How comments and long lines look differs by tool. */

export interface IniEntry {
  readonly key: string;
  readonly value: string;
  /** From 1. */
  readonly line: number;
}

export interface IniSection {
  readonly name: string;
  readonly line: number;
  readonly entries: readonly IniEntry[];
}

export interface IniProblem {
  readonly line: number;
  readonly message: string;
}

export interface Ini {
  readonly sections: readonly IniSection[];
  readonly problems: readonly IniProblem[];
}

/** `supervisord`: lines that begin with a blank go on, " ;" begins a comment. `systemd`: a backslash at the end goes on, comments are whole lines. */
export type IniDialect = 'supervisord' | 'systemd';

const MAX_PROBLEMS = 20;
const SECTION = /^\[([^\]]+)\]\s*(?:[;#].*)?$/;

interface Open {
  readonly name: string;
  readonly line: number;
  readonly entries: { key: string; value: string; line: number }[];
}

export function readIni(text: string, dialect: IniDialect): Ini {
  const sections: Open[] = [];
  const problems: IniProblem[] = [];
  const fail = (line: number, message: string): void => {
    if (problems.length < MAX_PROBLEMS) problems.push({ line, message });
  };
  for (const { content, line, goesOn } of logicalLines(text, dialect)) {
    const section = sections.at(-1);
    if (goesOn) {
      const last = section?.entries.at(-1);
      if (last) last.value = `${last.value}\n${content.trim()}`.trim();
      else fail(line, 'this line is indented, and there is no value before it that it could belong to');
      continue;
    }
    const [, name] = SECTION.exec(content.trim()) ?? [];
    if (name !== undefined) {
      sections.push({ name: name.trim(), line, entries: [] });
      continue;
    }
    if (content.trim().startsWith('[')) {
      fail(line, 'the "]" of this section is missing');
      continue;
    }
    const [, key, value = ''] =
      (dialect === 'supervisord' ? /^([^=:]+?)\s*[=:]\s*(.*)$/s : /^([^=]+?)\s*=\s*(.*)$/s).exec(content.trim()) ?? [];
    if (key === undefined) fail(line, 'this is neither a [section] nor key=value');
    else if (!section) fail(line, `"${key.slice(0, 40)}" stands before the first [section]`);
    else section.entries.push({ key: key.trim(), value: value.trim(), line });
  }
  return { sections, problems };
}

interface Logical {
  readonly content: string;
  readonly line: number;
  /** It belongs to the value before it. */
  readonly goesOn: boolean;
}

function* logicalLines(text: string, dialect: IniDialect): Generator<Logical> {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const line = at + 1;
    let content = lines[at]!;
    if (/^\s*(?:[#;]|$)/.test(content)) continue;
    if (dialect === 'systemd') {
      while (content.endsWith('\\') && at + 1 < lines.length) {
        at += 1;
        // Comments may stand between the lines of a value.
        content = /^\s*[#;]/.test(lines[at]!) ? content : `${content.slice(0, -1)} ${lines[at]}`;
      }
      yield { content: content.replace(/\\$/, ''), line, goesOn: false };
    } else {
      const bare = content.replace(/\s;.*$/, '');
      yield { content: bare, line, goesOn: /^\s/.test(content) };
    }
  }
}

/** The words of a value, quoted as a shell would have it, and nothing else: no variable, no star means anything. Null: a quote is open. */
export function splitWords(text: string): readonly string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (quote !== null) {
      if (character === quote) quote = null;
      else if (character === '\\' && quote === '"' && /["\\$`]/.test(text[at + 1] ?? '')) word += text[++at]!;
      else word += character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      const isEscape = character === '\\' && at + 1 < text.length;
      word = (word ?? '') + (isEscape ? text[++at]! : character);
    }
  }
  if (quote !== null) return null;
  return word === null ? words : [...words, word];
}
