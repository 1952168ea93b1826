/** How bad a line is, as far as it says so itself. */

export type Level = 'error' | 'warn' | 'info' | 'debug';

const LOOKED_AT = 300;
const ERROR =
  /\b(?:error|err|fatal|critical|crit|panic|exception|severe|emerg|alert)\b|\b\w+(?:Error|Exception):|^Traceback /i;
const WARN = /\b(?:warn|warning)\b/i;
const DEBUG = /\b(?:debug|trace|verbose)\b/i;
const INFO = /\b(?:info|notice)\b/i;
/** Bunyan and pino write numbers. */
const NUMBER = /"level":\s*(\d{2})\b/;
const NAMED = /"(?:level|severity|lvl)":\s*"(\w+)"|\b(?:level|severity|lvl)=(\w+)/i;

/** Null: it does not say. `plain`: without escape sequences. A named level counts before any word in the text. */
export function levelOf(plain: string): Level | null {
  const text = plain.slice(0, LOOKED_AT);
  const number = NUMBER.exec(text);
  if (number !== null) return byNumber(Number(number[1]));
  const named = NAMED.exec(text);
  return byWord(named === null ? text : (named[1] ?? named[2])!);
}

const byNumber = (level: number): Level =>
  level >= 50 ? 'error' : level >= 40 ? 'warn' : level >= 30 ? 'info' : 'debug';

/** The word that comes first: "warn: last error was 3 s ago" is a warning. */
function byWord(text: string): Level | null {
  const found = (
    [
      ['error', ERROR],
      ['warn', WARN],
      ['info', INFO],
      ['debug', DEBUG],
    ] as const
  ).flatMap(([level, pattern]) => {
    const at = text.search(pattern);
    return at === -1 ? [] : [{ level, at }];
  });
  return found.sort((one, other) => one.at - other.at)[0]?.level ?? null;
}

export const SHOWN_LEVELS = ['all lines', 'warnings', 'errors'] as const;
export type ShownLevels = (typeof SHOWN_LEVELS)[number];
