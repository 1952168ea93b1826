/** The options of `logs`, as the daemon is asked. */
import { AppError } from '../base/pure/errors.ts';
import { type Pattern, parsePattern } from '../supervision/rules/health/pattern.ts';
import type { LogsQuery } from '../logs/ports.ts';
import type { LogOptions } from './options.ts';

const DEFAULT_LINES = 100;
const MAX_LINES = 10_000;

export function logsQuery(components: readonly string[], options: LogOptions): LogsQuery {
  const { since, until, grep, previous = false } = options;
  const isSpan = since !== undefined || previous;
  return {
    components,
    tail: options.tail ?? (isSpan ? MAX_LINES : DEFAULT_LINES),
    after: {},
    sinceMs: since?.getTime(),
    untilMs: until?.getTime(),
    grep: grep === undefined ? undefined : patternOf(grep),
    previous,
  };
}

/** A text is a text here, also one with slashes around it. */
function patternOf(grep: string | RegExp): Pattern {
  const source = typeof grep === 'string' ? asText(grep) : `/${grep.source}/${grep.flags}`;
  const pattern = parsePattern(source);
  if ('problem' in pattern) throw new AppError('USAGE', { problem: `${pattern.problem}. ${pattern.hint}` });
  return pattern;
}

const asText = (text: string): string =>
  /^\/.*\/[A-Za-z]*$/s.test(text) ? `/${text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}/` : text;
