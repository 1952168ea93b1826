/** What a line of output is compared with: a text to be found in it, or a regular expression written /expression/flags. */

export interface TextPattern {
  readonly kind: 'text';
  /** As it stands in the configuration. */
  readonly source: string;
  readonly text: string;
}

export interface ExpressionPattern {
  readonly kind: 'expression';
  /** As it stands in the configuration. */
  readonly source: string;
  readonly expression: string;
  readonly flags: string;
}

export type Pattern = TextPattern | ExpressionPattern;

export interface PatternProblem {
  readonly problem: string;
  /** What to do, as a sentence. */
  readonly hint: string;
}

/** Longer ones are a mistake. It also bounds what looking for a text costs where it is done without a deadline. */
export const MAX_PATTERN_CHARS = 500;

/** The last slash ends the expression, so that slashes within need no backslash. Paths with a dot or digit at the end are texts. */
const WRITTEN_AS_EXPRESSION = /^\/(.*)\/([A-Za-z]*)$/s;

/** Every line is compared by itself, and only whether it fits matters: the other flags would change nothing or too much. */
const FLAGS: ReadonlySet<string> = new Set(['i', 'u']);
const FLAGS_HINT = 'The flags are i (capital or small letters are the same) and u (Unicode).';
const LINE_BREAK_HINT = 'Each line is matched separately: write one pattern for one line.';

export function parsePattern(source: string): Pattern | PatternProblem {
  if (source.trim() === '') return { problem: 'the pattern is empty', hint: 'Write the text to look for.' };
  if (source.length > MAX_PATTERN_CHARS) {
    const problem = `the pattern is longer than ${MAX_PATTERN_CHARS} characters`;
    return { problem, hint: 'Look for a shorter part of the line.' };
  }
  if (/[\r\n]/.test(source)) return { problem: 'the pattern has a line break in it', hint: LINE_BREAK_HINT };
  const written = WRITTEN_AS_EXPRESSION.exec(source);
  return written ? parseExpression(source, written[1]!, written[2]!) : { kind: 'text', source, text: source };
}

function parseExpression(source: string, expression: string, flags: string): Pattern | PatternProblem {
  const asText = `To look for this very text, write ${escaped(source)}.`;
  if (expression === '') return { problem: 'the expression is empty', hint: asText };
  const wrong = [...flags].find((flag, at) => !FLAGS.has(flag) || flags.indexOf(flag) !== at);
  if (wrong !== undefined) {
    const problem = FLAGS.has(wrong) ? `the flag "${wrong}" is there twice` : `there is no flag "${wrong}"`;
    return { problem: `${problem} in ${source}`, hint: `${FLAGS_HINT} ${asText}` };
  }
  try {
    new RegExp(expression, flags);
  } catch (error) {
    return { problem: `${source} is not a regular expression: ${reason(error)}`, hint: asText };
  }
  return { kind: 'expression', source, expression, flags };
}

/** "Invalid regular expression: /(/: Unterminated group" without what the reader sees anyway. */
function reason(error: unknown): string {
  const { message } = error as Error;
  return message.slice(message.lastIndexOf(': ') + 2).toLowerCase();
}

/** The expression that finds this text and nothing else. */
const escaped = (text: string): string => `/${text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}/`;

/** In a sentence: "ready" with quotes, an expression as it is. */
export const describePattern = (pattern: Pattern): string =>
  pattern.kind === 'text' ? `"${pattern.text}"` : pattern.source;
