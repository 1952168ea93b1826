/** Mistakes in the program itself that have a name. */
import { firstMatch, type Rule } from './cause.ts';

const syntax: Rule = ({ errorType, message, where }) =>
  errorType !== null && /^(?:SyntaxError|IndentationError|TabError|syntax error)$/.test(errorType) && where !== ''
    ? `the code cannot be read${where}: ${(message ?? '').split('\n', 1)[0]}`
    : null;

const recursion: Rule = ({ text, where }) =>
  /RecursionError|maximum recursion depth|Maximum call stack size exceeded|StackOverflow|[Ss]tack overflow|goroutine stack exceeds|SystemStackError|stack level too deep/.test(
    text,
  )
    ? `a function calls itself without end${where}`
    : null;

const NOTHING: readonly RegExp[] = [
  /Cannot (?:read|set) propert(?:y|ies) (?:of (?:undefined|null) \((?:reading|setting) )?'([^']{1,200})'/,
  /'NoneType' object has no attribute '([^']{1,200})'/,
  /undefined method [`']([^'`]{1,200})' for nil/,
  /Cannot invoke "([^"]{1,300})" because/,
  /'NoneType' object is not|NullPointerException|NullReferenceException|nil pointer dereference|`None` value|(?:null|undefined) is not (?:an object|iterable)/,
];

const nothingThere: Rule = ({ text, where }) => {
  const name = firstMatch(text, NOTHING);
  if (name === null) return null;
  const use = name === '' ? 'something' : `'${name}' of something`;
  return `the code uses ${use} that is empty (null)${where}`;
};

const FIXED: readonly (readonly [RegExp, string])[] = [
  [/all goroutines are asleep - deadlock/, 'all goroutines wait for each other (deadlock)'],
  [
    /concurrent map (?:iteration and map )?(?:read|write|writes)|concurrent map/,
    'several goroutines use a map at the same time without a lock',
  ],
  [/^DATA RACE/, 'two goroutines use the same memory without a lock (data race)'],
  [/database is locked|SQLITE_BUSY/, 'another process holds the database locked'],
  [
    /JSONDecodeError|Unexpected token .{1,40} in JSON|is not valid JSON|Unexpected end of JSON input|JsonReaderException|invalid character .{1,20} looking for beginning/,
    'it read something that is not valid JSON',
  ],
  [
    /^(?:SIGSEGV|SIGBUS)\b|Segmentation fault|signal SIGSEGV/,
    'native code touched memory that is not its own (segmentation fault)',
  ],
  [/^killed child: \d+ Killed/, 'a command of the script was killed (SIGKILL), which is often for lack of memory,'],
  [/^KeyboardInterrupt\b/, 'it was interrupted (SIGINT)'],
];

const named: Rule = ({ text, where }) => {
  const found = FIXED.find(([expression]) => expression.test(text));
  return found ? `${found[1]}${where}` : null;
};

const sent: Rule = ({ errorType, frames }) =>
  errorType !== null && frames.length === 0 && /^SIG(?:QUIT|TERM|INT|HUP|ABRT|USR[12])$/.test(errorType)
    ? `it was sent ${errorType}`
    : null;

export const CODE: readonly Rule[] = [sent, recursion, nothingThere, named, syntax];
