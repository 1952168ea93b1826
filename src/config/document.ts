/** One file's text as a tree with places. Whatever the text is, this ends soon, with a tree or with problems. */
import {
  Composer,
  type CST,
  type Document,
  type ErrorCode,
  isAlias,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type ParsedNode,
  Parser,
  type YAMLMap,
} from 'yaml';
import type { Problems } from './problem.ts';
import { printable, quoted, shorten } from './text.ts';
import type { BrokenNode, Entry, MapNode, Path, Place, ScalarNode, TreeNode } from './tree.ts';

export const MAX_FILE_BYTES = 1_000_000;
/** Deeper than any real configuration; the parser recurses per level and takes the whole process down at about 100,000. */
const MAX_DEPTH = 100;
/** A 1 MB file of real lines has well under this many; one made of nothing but commas would keep the parser busy for 20 s. */
const MAX_TOKENS = 300_000;

const OPTIONS = {
  version: '1.2',
  schema: 'core',
  merge: false,
  strict: true,
  prettyErrors: false,
  logLevel: 'silent',
  // We look for duplicates ourselves: the parser compares every key with every other, which is quadratic.
  uniqueKeys: false,
} as const;

/** The file as a map, or null after saying what is wrong with it. JSON is read as YAML, which contains it. */
export function readDocument(file: string, text: string, problems: Problems): MapNode | null {
  const start: Place = { file, line: 1, column: 1 };
  const refuse = (message: string, hint: string | null, at: Place = start): null => {
    problems.add(at, [], message, hint);
    return null;
  };
  if (text.length > MAX_FILE_BYTES) return refuse(TOO_LARGE, 'Split it, and give the parts with -f FILE -f FILE.');
  const lines = new LineCounter();
  const parsed = parse(text, lines);
  if (typeof parsed === 'string') return refuse(parsed, null);
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(1, line), column: Math.max(1, col) };
  };
  if (parsed.error) return refuse(parsed.error.message, parsed.error.hint, at(parsed.error.offset));
  const [document, second] = parsed.documents;
  if (second) return refuse('there is a second document here', 'Keep one document per file.', at(second.range[0]));
  if (!document?.contents) return refuse('the file is empty', EXAMPLE);
  if (document.directives.yaml.version !== '1.2') return refuse('only YAML 1.2 is understood', 'Remove "%YAML".');
  const tree = toTree(document.contents, at, problems);
  if (tree.kind === 'map') return tree;
  if (tree.kind === 'broken') return null;
  const empty = tree.kind === 'scalar' && tree.value === null;
  return refuse(empty ? 'the file is empty' : 'a configuration is a map of keys and values', EXAMPLE, tree.at);
}

export const TOO_LARGE = 'the file is larger than 1 MB';
const EXAMPLE = 'Start with:\ncomponents:\n  api:\n    process: { command: [./bin/server] }';

interface Parsed {
  readonly documents: readonly Document.Parsed[];
  /** The first one only: after a syntax error the parser guesses, and its guesses make more errors. */
  readonly error: { readonly message: string; readonly hint: string | null; readonly offset: number } | null;
}

function parse(text: string, lines: LineCounter): Parsed | string {
  const { stackTraceLimit } = Error;
  // The parser makes an Error object per mistake; the stack traces nobody sees cost seconds in a file that is nothing but mistakes.
  Error.stackTraceLimit = 0;
  try {
    return compose(text, lines);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function compose(text: string, lines: LineCounter): Parsed | string {
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer({ ...OPTIONS, lineCounter: lines });
  const documents: Document.Parsed[] = [];
  let tokens = 0;
  let isHopeless = false;
  const take = (token: CST.Token): void => {
    if (isHopeless) return;
    documents.push(...composer.next(token));
    isHopeless = token.type === 'error' || documents.length > 1;
  };
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    tokens += 1;
    for (const token of parser.next(lexeme)) take(token);
    if (isHopeless) break;
    if (parser.stack.length > MAX_DEPTH) return 'the values are nested too deeply to be a configuration';
    if (tokens > MAX_TOKENS) return 'the file has too many values to be a configuration';
  }
  for (const token of parser.end()) take(token);
  documents.push(...composer.end());
  const error = documents.flatMap(({ errors }) => errors.slice(0, 1))[0] ?? composer.streamInfo().errors[0];
  return { documents, error: error ? { ...yamlWords(error.code, error.message), offset: error.pos[0] } : null };
}

// From the parser's nodes to ours. Refuses what makes YAML dangerous or ambiguous: tags, merge keys, odd keys, too many aliases.

/** Counted as they are followed, so ten levels of ten aliases are ten thousand million and stop at the hundredth. */
const MAX_ALIASES = 100;
/** A hundred aliases to a very large list. */
const MAX_VALUES = 300_000;

/** The plain types of YAML's core schema; writing them out changes nothing that could surprise. */
const HARMLESS_TAGS = /^(?:!|tag:yaml\.org,2002:(?:str|null|bool|int|float|map|seq))$/;

type Locate = (offset: number) => Place;

export function toTree(contents: ParsedNode, at: Locate, problems: Problems): TreeNode {
  return new Conversion(at, problems).node(contents, [], { file: '', line: 1, column: 1 });
}

class Conversion {
  readonly #at: Locate;
  readonly #problems: Problems;
  readonly #anchors = new Map<string, ParsedNode>();
  /** What is being converted right now: an alias to one of these contains itself. */
  readonly #open = new Set<ParsedNode>();
  #aliases = 0;
  #values = 0;

  constructor(at: Locate, problems: Problems) {
    this.#at = at;
    this.#problems = problems;
  }

  /** `fallback`: where a value would be that was left out altogether (`{ a }`). */
  node(node: ParsedNode | null, path: Path, fallback: Place): TreeNode {
    if (node === null) return { kind: 'scalar', at: fallback, value: null, source: '', expanded: false };
    const at = this.#at(node.range[0]);
    this.#values += 1;
    if (this.#values > MAX_VALUES) return this.#broken(at, [], 'there are too many values from here on');
    if (isAlias(node)) return this.#alias(node.source, at, path);
    if (node.anchor) this.#anchors.set(node.anchor, node);
    if (node.tag !== undefined && !HARMLESS_TAGS.test(node.tag)) {
      return this.#broken(at, path, `the tag ${printable(shorten(node.tag))} is not supported`, 'Remove the tag.');
    }
    if (isScalar(node)) return this.#scalar(node.value, node.source, at);
    this.#open.add(node);
    const converted: TreeNode = isSeq(node)
      ? { kind: 'list', at, items: node.items.map((item, i) => this.node(item as ParsedNode, [...path, i], at)) }
      : { kind: 'map', at, entries: this.#entries(node as YAMLMap.Parsed, path, at) };
    this.#open.delete(node);
    return converted;
  }

  #broken(at: Place, path: Path, message: string, hint: string | null = null): BrokenNode {
    this.#problems.add(at, path, message, hint);
    return { kind: 'broken', at, mistakes: [] };
  }

  #scalar(value: unknown, source: string, at: Place): ScalarNode {
    const plain = value === null || ['string', 'number', 'boolean'].includes(typeof value) ? value : source;
    return { kind: 'scalar', at, value: plain as ScalarNode['value'], source, expanded: false };
  }

  #alias(name: string, at: Place, path: Path): TreeNode {
    this.#aliases += 1;
    if (this.#aliases > MAX_ALIASES) return this.#broken(at, [], `more than ${MAX_ALIASES} aliases are used`);
    const target = this.#anchors.get(name);
    if (!target) return this.#broken(at, path, `there is no anchor &${printable(shorten(name))} before this alias`);
    if (this.#open.has(target)) return this.#broken(at, path, 'this alias contains itself');
    return this.node(target, path, at);
  }

  #entries(map: YAMLMap.Parsed, path: Path, mapAt: Place): ReadonlyMap<string, Entry> {
    const entries = new Map<string, Entry>();
    for (const { key, value } of map.items) {
      const keyAt = key ? this.#at(key.range[0]) : mapAt;
      const name = this.#keyText(key, keyAt, path);
      if (name === null) continue;
      const first = entries.get(name);
      if (first) {
        const { line, column } = first.keyAt;
        const message = `${quoted(name)} is given twice; the first is at line ${line}, column ${column}`;
        this.#problems.add(keyAt, [...path, name], message, 'Keep one of them.');
      } else entries.set(name, { keyAt, value: this.node(value, [...path, name], keyAt) });
    }
    return entries;
  }

  /** Keys are text as written: a component called `1` or `true` is called exactly that. */
  #keyText(key: ParsedNode | null, at: Place, path: Path): string | null {
    const text = isScalar(key) ? key.source : null;
    if (text === null || text === '') {
      this.#problems.add(at, path, text === '' ? 'a key is empty' : 'a key must be plain text');
      return null;
    }
    if (text === '<<') {
      this.#problems.add(at, [...path, text], 'merge keys (<<) are not supported', 'Write the values out.');
      return null;
    }
    return text;
  }
}

// The parser's error codes in words for somebody who wants to get on with it.

interface Words {
  readonly message: string;
  readonly hint: string | null;
}

const WORDS: Partial<Record<ErrorCode, Words>> = {
  TAB_AS_INDENT: { message: 'a tab is used for indentation', hint: 'Use spaces: YAML does not allow tabs there.' },
  BAD_INDENT: {
    message: 'the indentation does not fit, or a bracket is not closed',
    hint: 'Keys of one map start in the same column; every [ and { needs its ] and }.',
  },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'there are two keys on this line, or the next line is indented too far',
    hint: 'Put each key on its own line; put a text that contains ": " in quotes.',
  },
  MULTILINE_IMPLICIT_KEY: {
    message: 'this key goes over more than one line',
    hint: 'A ":" is probably missing on the line before.',
  },
  BAD_SCALAR_START: { message: 'a text cannot start with this character', hint: 'Put the text in quotes.' },
  BAD_DQ_ESCAPE: {
    message: 'this backslash sequence is not known in double quotes',
    hint: 'Write \\\\ for a backslash, or use single quotes.',
  },
  KEY_OVER_1024_CHARS: { message: 'this key is longer than 1024 characters', hint: null },
  BAD_DIRECTIVE: { message: 'a line that starts with % is not understood', hint: 'Remove it.' },
};

const BY_TEXT: readonly (readonly [RegExp, Words])[] = [
  [/closing ['"]quote/, { message: 'a quote is not closed', hint: 'Add the closing quote.' }],
  [/followed by map values/, { message: 'a ":" is missing after this key', hint: 'Write "key: value".' }],
];

export function yamlWords(code: ErrorCode, message: string): Words {
  const found = BY_TEXT.find(([pattern]) => pattern.test(message))?.[1] ?? WORDS[code];
  return found ?? { message: `this is not valid YAML: ${printable(shorten(message))}`, hint: null };
}
