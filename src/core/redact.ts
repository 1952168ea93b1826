/** Takes secrets out of text before it is stored or shown: by the name in front of a value, and by the shape of the value. */
const HIDDEN = '[redacted]';

/** Names whose values nobody else should see. */
export const SECRET_NAME =
  /(pass(word|wd|phrase)?|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|auth|credential|cookie|dsn)/i;

/**
 * A name with one of these in it, and its value. Every expression here is tried at a word's first character only, and reads each
 * character a bounded number of times: a program may end after writing a megabyte without a blank.
 */
const ASSIGNMENT =
  /(?<![\w.-])(["']?(?=[\w.-]*?(?:pass(?:word|wd|phrase)?|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|authorization|credentials?|cookie|dsn))[\w.-]+["']?\s*[:=]\s*)("[^"]*"|'[^']*'|(?:bearer|basic)\s+\S+|[^\s,;&"']+)/gi;

const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, HIDDEN],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${HIDDEN}`],
  [/(?<![\w-])(?=[\w-]*?eyJ)[\w-]{11,}\.[\w-]{8,}\.[\w-]*/g, HIDDEN], // JSON web token
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, HIDDEN],
  [/\b(?:gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,})/g, HIDDEN],
  [/\bxox[abeoprs]-[\w-]{10,}/g, HIDDEN],
  [/\bsk-[\w-]{16,}/g, HIDDEN],
  [/\bAIza[\w-]{30,}/g, HIDDEN],
  [/((?<![a-z0-9+.-])[a-z0-9+.-]+:\/\/[^\s:/@]*:)[^\s/@]+(@)/gi, `$1${HIDDEN}$2`], // userinfo of a URL
];

/** `known`: exact values that must never appear, such as those of the component's secret-looking variables. */
export function redact(text: string, known: readonly string[] = []): string {
  let clean = text;
  for (const value of known) if (value.length >= 4) clean = clean.replaceAll(value, HIDDEN);
  clean = clean.replace(ASSIGNMENT, `$1${HIDDEN}`);
  for (const [shape, replacement] of SHAPES) clean = clean.replace(shape, replacement);
  return clean;
}

/** The values among `env` that `redact` should know. */
export const secretValues = (env: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(env).flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
