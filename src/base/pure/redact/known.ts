/** Values that are known to be secret, because the variables that hold them have telling names. */
import type { Span } from './span.ts';

/** Where a text was cut out of a longer one, half of a secret may be left. */
export interface Cut {
  readonly start?: boolean;
  readonly end?: boolean;
}

/** Names whose values nobody else should see. */
export const SECRET_NAME =
  /(pass(word|wd|phrase|code)?(?![a-z])|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|account[-_]?key|[-_]key$|^key$|auth|credential|cookie|dsn)/i;
/** Whether a variable of this name holds something that nobody else should see. */
export const tellsSecret = (name: string): boolean => SECRET_NAME.test(name) && !PLACE_NAME.test(name);
/** They tell where a secret lies, not what it is. */
const PLACE_NAME = /(?:file|path|dir|sock)$|^xauthority$/i;
/**
 * Words that are in every log, of switches, programs, accounts and logins. Whoever takes one for a password is not served by a log in
 * which every "test" is hidden; behind a telling name or in an address it is hidden all the same.
 */
const ORDINARY = new Set(
  `true false none null undefined enabled enable disabled disable yes required optional default auto always never unset empty missing
  password passwd passphrase secret secrets token tokens auth login basic bearer digest plain credentials cookie session value string
  admin administrator root user users username guest anonymous nobody owner master main primary replica public private internal external
  test tests testing demo example sample dummy local localhost develop development staging stage prod production
  postgres postgresql mysql mariadb mongo mongodb redis rabbitmq minio elastic elasticsearch kibana grafana influx influxdb clickhouse
  cassandra neo4j oracle sqlite memcached keycloak wordpress django flask rails laravel docker podman kafka nats vault consul temporal
  airflow superset metabase jenkins gitlab github prometheus nginx apache keepwell
  error errors warn warning info debug trace fatal critical failed failure success exception message
  http https service server client worker database connection request response start stop ready running file path host port name type
  data json yaml text node python java ruby bash shell application`.split(/\s+/),
);
/** A number of a few digits is a port, a count or a line. */
const SHORT_NUMBER = /^\d{1,5}$/;
const USERINFO = /^[a-z][a-z0-9+.-]{0,30}:\/\/[^\s:/@]{0,200}:([^\s/@]{1,500})@/i;

/** Shorter ones are found in every text. */
const MIN_CHARS = 4;
const MIN_DIFFERENT_CHARS = 3;
/** Of a value that was cut in half, so much must be left to be told from chance. */
const MIN_PART_CHARS = 6;
/** A value of several lines, such as a key, may be written with something before each line. */
const MIN_LINE_CHARS = 16;

/** The values among `env` that `redact` should know. */
export const secretValues = (env: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(env)
    .flatMap(([name, value]) => {
      if (tellsSecret(name)) return [value];
      return USERINFO.exec(value)?.slice(1, 2) ?? [];
    })
    .filter((value) => !isOrdinary(value));

/** Too common to be told from other text. */
function isOrdinary(value: string): boolean {
  const word = value.trim();
  if (word.length < MIN_CHARS || ORDINARY.has(word.toLowerCase()) || SHORT_NUMBER.test(word)) return true;
  return !/[\p{L}\p{N}]/u.test(word) || new Set(word).size < MIN_DIFFERENT_CHARS;
}

export function knownIn(text: string, known: readonly string[], cut: Cut): readonly Span[] {
  const spans: Span[] = [];
  for (const value of known) {
    for (const form of formsOf(value)) {
      for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length)) {
        spans.push({ from: at, to: at + form.length });
      }
      if (cut.start) {
        const length = overlap(form, text);
        if (length >= MIN_PART_CHARS) spans.push({ from: 0, to: length });
      }
      if (cut.end) {
        const end = text.trimEnd();
        const length = overlap(end, form);
        if (length >= MIN_PART_CHARS) spans.push({ from: end.length - length, to: end.length });
      }
    }
  }
  return spans;
}

/** As it is, as in a URL, as in JSON, and line by line. */
function formsOf(value: string): ReadonlySet<string> {
  if (isOrdinary(value)) return new Set();
  const whole = value.trim();
  const lines = whole.split(/\r?\n/).filter((line) => line.length >= MIN_LINE_CHARS);
  return new Set([whole, inUrl(whole), JSON.stringify(whole).slice(1, -1), ...(lines.length > 1 ? lines : [])]);
}

function inUrl(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    return value; // half of a surrogate pair
  }
}

/** How many of the last characters of `left` are the first ones of `right`: by the table of Knuth, Morris and Pratt, in linear time. */
function overlap(left: string, right: string): number {
  const end = left.slice(-right.length);
  const borders = new Uint32Array(right.length);
  for (let at = 1, length = 0; at < right.length; at++) {
    while (length > 0 && right[at] !== right[length]) length = borders[length - 1]!;
    if (right[at] === right[length]) length++;
    borders[at] = length;
  }
  let length = 0;
  for (let at = 0; at < end.length; at++) {
    while (length > 0 && (length === right.length || end[at] !== right[length])) length = borders[length - 1]!;
    if (end[at] === right[length]) length++;
  }
  return length;
}
