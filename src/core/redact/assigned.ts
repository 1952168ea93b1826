/** Secrets that are told by the name before them: KEY=VALUE, JSON, YAML, headers, options of commands, XML. */
import { HIDDEN } from './hidden.ts';

const NAMES =
  'pass(?:word|wd|phrase|code)|pass(?![a-z])|pwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|account[-_]?key|signing[-_]?key|encryption[-_]?key|master[-_]?key|license[-_]?key|authorization|credentials?|cookie|dsn';
const QUOTE = `\\\\?["'\`]?`;
const NAME = `(?=[\\w.-]*?(?:${NAMES}))[\\w.-]+`;
/** A missing closing quote means that the text was cut. */
const QUOTED = `\\\\"(?:[^"\\\\\\n]|\\\\[^"\\n])*(?:\\\\")?|"(?:[^"\\\\\\n]|\\\\.)*"?|'(?:[^'\\\\\\n]|\\\\.)*'?`;
const VALUE = `${QUOTED}|(?:bearer|basic|digest|token|apikey)[ \\t]+[^\\s"',;]+|[\\w.:]+\\((?:${QUOTED})\\)?|\\[[^\\]\\n]*\\]?|\\{[^}\\n]*\\}?|[^\\s,;&"']+`;

const ASSIGNMENT = new RegExp(`(?<![\\w.-])(${QUOTE}(${NAME})${QUOTE}[ \\t]*(?:=>|:=|[:=])[ \\t]*)(${VALUE})`, 'gi');
/** --password hunter2 */
const OPTION = new RegExp(`(?<![\\w-])(--?(${NAME})[ \\t]+)(${QUOTED}|[^\\s"'-][^\\s"']*)`, 'gi');
const ELEMENT = new RegExp(
  `(<((?=[\\w:.-]*?(?:${NAMES}))[\\w:.-]{1,100})(?:\\s[^<>\\n]{0,200})?>)[^<\\n]+(?=</)`,
  'gi',
);
/** The whole rest of the line, or of what is in quotes: they have parts. Those of a digest are in quotes themselves. */
const HEADER = /(?<![\w-])((?:(?:set-)?cookie2?|(?:proxy-)?authorization):[ \t]*)(digest[ \t][^\n]*|[^\s"'][^\n"']*)/gi;
const USER_OPTION = /((?<![\w-])(?:-u|--user|--proxy-user)[ =]{1,4}["']?[^\s:"']{1,200}:)[^\s"']+/g;
const SHORT_OPTION =
  /((?<![\w-])(?:mysql|mysqldump|mysqladmin|mariadb|mariadb-dump)[ \t][^\n]{0,200}? -p|(?<![\w-])sshpass -p ?|(?<![\w-])redis-cli[ \t][^\n]{0,200}?-a )[^\s"']+/g;

export function hideAssigned(text: string): string {
  return text
    .replace(HEADER, (all, head: string, value: string) =>
      isHarmless('', value) ? all : `${head}${schemeOf(value)}${HIDDEN}`,
    )
    .replace(ASSIGNMENT, (all, head: string, name: string, value: string, at: number) =>
      isHarmless(name, value) || isHost(text, at, value) ? all : `${head}${HIDDEN}`,
    )
    .replace(OPTION, (all, head: string, name: string, value: string) =>
      isHarmless(name, value) ? all : `${head}${HIDDEN}`,
    )
    .replace(ELEMENT, `$1${HIDDEN}`)
    .replace(USER_OPTION, `$1${HIDDEN}`)
    .replace(SHORT_OPTION, `$1${HIDDEN}`);
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

function isHarmless(name: string, value: string): boolean {
  if (HARMLESS_NAME.test(name) || NOTHING.test(value) || EXPRESSION.test(value) || PROSE.test(value)) return true;
  if (FILE_NAME.test(name) && LINE_NUMBER.test(value)) return true;
  // How many tokens a model read and wrote is no secret; nor is where a shell stands.
  return (
    (/tokens|token_?(?:limit|usage|ids?|index|budget)/i.test(name) && COUNT.test(value)) ||
    (/^(?:old)?pwd$/i.test(name) && value.startsWith('/'))
  );
}

/** "http://token-service:8080/": a host and its port. */
const isHost = (text: string, at: number, value: string): boolean =>
  text.slice(Math.max(0, at - 3), at) === '://' && /^\d{1,5}(?:\D|$)/.test(value);
