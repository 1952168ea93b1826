/** One file's text as a tree with places. Whatever the text is, this ends soon, with a tree or with problems. */
import { Composer, type CST, type Document, Lexer, LineCounter, Parser } from 'yaml';
import { yamlWords } from './words/yaml-errors.ts';
import type { Problems } from './problem.ts';
import { toTree } from './to-tree.ts';
import type { MapNode, Place } from './tree.ts';

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
