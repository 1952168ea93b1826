/** Values that are known to be secret, because the variables that hold them have telling names. */
import { HIDDEN } from './hidden.ts';

/** Where a text was cut out of a longer one, half of a secret may be left. */
export interface Cut {
  readonly start?: boolean;
  readonly end?: boolean;
}

/** Names whose values nobody else should see. */
export const SECRET_NAME =
  /(pass(word|wd|phrase|code)?(?![a-z])|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|account[-_]?key|[-_]key$|^key$|auth|credential|cookie|dsn)/i;
/** They tell where a secret lies, not what it is. */
const PLACE_NAME = /(?:file|path|dir|sock)$|^xauthority$/i;
/** Switches, which are in every log. */
const NO_SECRET = /^(?:true|false|none|null|undefined|enabled|disabled|yes|required|optional|default)$/i;
const USERINFO = /^[a-z][a-z0-9+.-]{0,30}:\/\/[^\s:/@]{0,200}:([^\s/@]{1,500})@/i;

/** Shorter ones are found in every text. */
const MIN_CHARS = 4;
/** Of a value that was cut in half, so much must be left to be told from chance. */
const MIN_PART_CHARS = 6;
/** A value of several lines, such as a key, may be written with something before each line. */
const MIN_LINE_CHARS = 16;

/** The values among `env` that `redact` should know. */
export const secretValues = (env: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(env).flatMap(([name, value]) => {
    if (SECRET_NAME.test(name) && !PLACE_NAME.test(name)) return NO_SECRET.test(value) ? [] : [value];
    return USERINFO.exec(value)?.slice(1, 2) ?? [];
  });

export function hideKnown(text: string, known: readonly string[], cut: Cut): string {
  let clean = text;
  for (const value of known) {
    for (const form of formsOf(value)) clean = clean.replaceAll(form, HIDDEN);
    if (cut.start) clean = withoutBegin(clean, value);
    if (cut.end) clean = withoutEnd(clean, value);
  }
  return clean;
}

/** As it is, as in a URL, as in JSON, and line by line. */
function formsOf(value: string): ReadonlySet<string> {
  if (value.length < MIN_CHARS) return new Set();
  const lines = value.split(/\r?\n/).filter((line) => line.length >= MIN_LINE_CHARS);
  return new Set([value, inUrl(value), JSON.stringify(value).slice(1, -1), ...(lines.length > 1 ? lines : [])]);
}

function inUrl(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    return value; // half of a surrogate pair
  }
}

/** The text begins with the last part of the value. */
function withoutBegin(text: string, value: string): string {
  for (let length = value.length - 1; length >= MIN_PART_CHARS; length--) {
    if (text.startsWith(value.slice(-length))) return HIDDEN + text.slice(length);
  }
  return text;
}

/** The text ends with the first part of the value. */
function withoutEnd(text: string, value: string): string {
  const trimmed = text.trimEnd();
  for (let length = value.length - 1; length >= MIN_PART_CHARS; length--) {
    if (trimmed.endsWith(value.slice(0, length)))
      return trimmed.slice(0, -length) + HIDDEN + text.slice(trimmed.length);
  }
  return text;
}
