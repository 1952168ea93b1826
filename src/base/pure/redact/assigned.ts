/** Secrets that are told by the name before them: KEY=VALUE, JSON, YAML, headers, options of commands, XML. */
import { type Span, spansOf } from './span.ts';

const NAMES =
  'pass(?:word|wd|phrase|code)|pass(?![a-z])|pwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|account[-_]?key|signing[-_]?key|encryption[-_]?key|master[-_]?key|license[-_]?key|authorization|credentials?|cookie|dsn';
const QUOTE = `\\\\?["'\`]?`;
/** A missing closing quote means that the text was cut. */
const QUOTED = `\\\\"(?:[^"\\\\\\n]|\\\\[^"\\n])*(?:\\\\")?|"(?:[^"\\\\\\n]|\\\\.)*"?|'(?:[^'\\\\\\n]|\\\\.)*'?`;
const VALUE = `${QUOTED}|(?:bearer|basic|digest|token|apikey)[ \\t]+[^\\s"',;]+|[\\w.:]+\\((?:${QUOTED})\\)?|\\[[^\\]\\n]*\\]?|\\{[^}\\n]*\\}?|[^\\s,;&"']+`;

const NAME_CHAR = /[\w.-]/;
/** Between a name and its value. */
const SEPARATOR = new RegExp(`${QUOTE}[ \\t]*(?:=>|:=|[:=])[ \\t]*`, 'y');
const BLANKS = /[ \t]+/y;
const ASSIGNED_VALUE = new RegExp(VALUE, 'iy');
/** --password hunter2 */
const OPTION_VALUE = new RegExp(`${QUOTED}|[^\\s"'-][^\\s"']*`, 'iy');
const ELEMENT = new RegExp(
  `(<(?=[\\w:.-]{0,100}?(?:${NAMES}))[\\w:.-]{1,100}(?:\\s[^<>\\n]{0,200})?>)[^<\\n]+(?=</)`,
  'gi',
);
/** The whole rest of the line, or of what is in quotes: they have parts. Those of a digest are in quotes themselves. */
const HEADER = /(?<![\w-])((?:(?:set-)?cookie2?|(?:proxy-)?authorization):[ \t]*)(digest[ \t][^\n]*|[^\s"'][^\n"']*)/gi;
const USER_OPTION = /((?<![\w-])(?:-u|--user|--proxy-user)[ =]{1,4}["']?[^\s:"']{1,200}:)[^\s"']+/g;
const SHORT_OPTION =
  /((?<![\w-])(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)[ \t][^\n]{0,200}? -p|(?<![\w-])sshpass -p ?|(?<![\w-])redis-cli[ \t][^\n]{0,200}?-a )[^\s"']+/g;

export function assignedIn(text: string): readonly Span[] {
  return [
    ...headersIn(text),
    ...namedIn(text),
    ...spansOf(text, ELEMENT),
    ...spansOf(text, USER_OPTION),
    ...spansOf(text, SHORT_OPTION),
  ];
}

const headersIn = (text: string): readonly Span[] =>
  [...text.matchAll(HEADER)].flatMap(({ index, 1: head = '', 2: value = '' }) =>
    isHarmless(value) ? [] : [withoutScheme(value, index + head.length)],
  );

/**
 * Telling words are looked for, and then the whole name around each. The other way round, from the beginning of each name to a
 * telling word, takes quadratic time where a text is one long name.
 */
function namedIn(text: string): readonly Span[] {
  const spans: Span[] = [];
  const word = new RegExp(NAMES, 'gi');
  let looked = 0;
  for (let hit = word.exec(text); hit; hit = word.exec(text)) {
    let from = hit.index;
    while (from > looked && NAME_CHAR.test(text[from - 1]!)) from--;
    looked = hit.index + hit[0].length;
    while (looked < text.length && NAME_CHAR.test(text[looked]!)) looked++;
    const name = text.slice(from, looked);
    const value = HARMLESS_NAME.test(name) ? null : valueBehind(text, looked, name);
    if (value !== null) {
      const said = text.slice(value.from, value.to);
      if (!isHarmless(said) && !isAboutIt(name, said) && !isHost(text, from, said))
        spans.push(withoutScheme(said, value.from));
      looked = value.to;
    }
    word.lastIndex = looked;
  }
  return spans;
}

/** What follows a name that ends at `end`. */
function valueBehind(text: string, end: number, name: string): Span | null {
  const assigned = reach(SEPARATOR, text, end);
  const to = assigned === null ? null : reach(ASSIGNED_VALUE, text, assigned);
  if (assigned !== null && to !== null) return { from: assigned, to };
  const blanks = /^[.-]*-/.test(name) ? reach(BLANKS, text, end) : null;
  const optionTo = blanks === null ? null : reach(OPTION_VALUE, text, blanks);
  return blanks === null || optionTo === null ? null : { from: blanks, to: optionTo };
}

/** Where a match that begins at `from` ends. */
function reach(sticky: RegExp, text: string, from: number): number | null {
  sticky.lastIndex = from;
  return sticky.test(text) ? sticky.lastIndex : null;
}

function withoutScheme(value: string, at: number): Span {
  return { from: at + schemeOf(value).length, to: at + value.length };
}

/** Which kind of login it is helps, and is no secret. */
const schemeOf = (value: string): string => /^(?:Bearer|Basic|Digest|Negotiate)[ \t]+/i.exec(value)?.[0] ?? '';

/** Names of types of errors, and of things about a secret that are not the secret. */
const HARMLESS_NAME =
  /(?:error|exception|warning|failure|fault)$|(?:file|path|dir|name|type|length|len|size|count|expiry|expires|expires_?(?:in|at)|ttl|url|uri|endpoint|header|provider|policy)$/i;
/** Files of source code: "token.js:18:16". */
const FILE_NAME =
  /\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|kts?|cs|fs|scala|php|sh|c|cc|cpp|h|hpp|swift|exs?|erl|ya?ml|json|toml|log|txt|vue)$/i;
const LINE_NUMBER = /^(?:line$|\d{1,7}(?:$|[:)\]]))/;
const COUNT = /^\d{1,9}(?:\.\d+)?[)\]}]?$/;
const NOTHING =
  /^["']?(?:null|none|nil|undefined|true|false|empty|missing|unset|n\/a|\[redacted\].*|\*{3,}|<[\w -]+>|["'])?["']?[)\]}]?$/i;
/** Code that names where the value comes from. */
const EXPRESSION =
  /^(?:os\.(?:environ|getenv)|process\.env|System\.getenv|Environment\.|ENV[.[]|(?:std::)?env::var|getenv|self\.|this\.|settings\.|config\.|options\.|args\.|await |new |\$\{?[A-Z_][A-Z0-9_]*\}?$|%[sdv]$|\{\w*\}$)/;
/** Sentences go on after a colon: "invalid token: signature verification failed". */
const PROSE =
  /^(?:no|not|the|an?|is|was|are|has|have|in|of|to|for|at|on|by|with|must|cannot|can|could|should|will|failed|failure|invalid|expired|malformed|required|expected|unexpected|unable|unknown|signature|error|denied|rejected|verification|authentication|permission|request|response|server|connection)$/i;

const isHarmless = (value: string): boolean => NOTHING.test(value) || EXPRESSION.test(value) || PROSE.test(value);

/** How many tokens a model read and wrote is no secret; nor is a line of a file, or where a shell stands. */
const isAboutIt = (name: string, value: string): boolean =>
  (FILE_NAME.test(name) && LINE_NUMBER.test(value)) ||
  (/tokens|token_?(?:limit|usage|ids?|index|budget)/i.test(name) && COUNT.test(value)) ||
  (/^(?:old)?pwd$/i.test(name) && value.startsWith('/'));

/** "http://token-service:8080/": a host and its port. */
const isHost = (text: string, at: number, value: string): boolean =>
  text.slice(Math.max(0, at - 3), at) === '://' && /^\d{1,5}(?:\D|$)/.test(value);
