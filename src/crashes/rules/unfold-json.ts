/** Lines of JSON logs as the text that the program meant: its message, then its stack. */

/** Fields with a stack, by their path; the first that is there counts. */
const STACKS = [
  ...[
    'stack',
    'stack_trace',
    'stackTrace',
    'stacktrace',
    'exc_info',
    'exception',
    'exc',
    'exc_text',
    'traceback',
    'error.stack',
    'err.stack',
  ],
  ...[
    'error.stack_trace',
    'error.stackTrace',
    'exception.stacktrace',
    'error.exception',
    'Exception',
    '@x',
    'error',
    'err',
  ],
] as const;
const MESSAGES = ['log', 'message', 'msg', 'MESSAGE', 'event', '@m', 'text'] as const;

/** Only such texts are worth being taken apart when they are no JSON: one that was cut, or a quoted string. */
const FOLDED = /\\n(?:\\t|\s{2,8})?(?:at |File \\?"|goroutine |from |Caused by: )/;

export function unfoldJson(line: string): readonly string[] {
  const begin = line.indexOf('{');
  // A collector may put its own prefix before the object.
  if (begin >= 0 && begin < 200 && line.endsWith('}') && line.includes('"')) {
    const texts = textsOf(line.slice(begin));
    if (texts !== null) return texts.flatMap((text) => text.trimEnd().split(/\r?\n/));
  }
  return FOLDED.test(line) ? unescaped(line) : [line];
}

function textsOf(json: string): readonly string[] | null {
  let entry: unknown;
  try {
    entry = JSON.parse(json);
  } catch {
    return null;
  }
  const stack = firstText(entry, STACKS);
  const message = firstText(entry, MESSAGES);
  if (stack === null) return message === null ? null : [message];
  // Most loggers repeat the message as the first line of the stack.
  return message === null || stack.includes(message) ? [stack] : [message, stack];
}

function firstText(entry: unknown, paths: readonly string[]): string | null {
  for (const path of paths) {
    let at: unknown = entry;
    for (const key of path.split('.')) at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
    if (typeof at === 'string' && at !== '') return at;
    if (Array.isArray(at)) {
      const told = tracebackOf(at);
      if (told !== null) return told;
    }
  }
  return null;
}

const MAX_FRAMES = 200;

/** The lists of structlog's dict_tracebacks, as Python would write them: the last one of a chain comes first. */
function tracebackOf(list: readonly unknown[]): string | null {
  const errors = list.filter(isObject).filter((one) => typeof one['exc_type'] === 'string');
  if (errors.length === 0) return null;
  const link = (one: Record<string, unknown>) => (one['is_cause'] === true ? DIRECT : DURING);
  return errors
    .slice(0, 10)
    .map((one, at) => (at === 0 ? written(one) : `${written(one)}\n\n${link(errors[at]!)}\n`))
    .reverse()
    .join('\n');
}

const DIRECT = 'The above exception was the direct cause of the following exception:';
const DURING = 'During handling of the above exception, another exception occurred:';

function written({ exc_type: type, exc_value: value, frames }: Record<string, unknown>): string {
  const calls = (Array.isArray(frames) ? frames.slice(-MAX_FRAMES) : []).filter(isObject).map(callOf);
  return ['Traceback (most recent call last):', ...calls, value ? `${type}: ${value}` : String(type)].join('\n');
}

function callOf({ filename, lineno, name, line }: Record<string, unknown>): string {
  const source = typeof line === 'string' && line.trim() !== '' ? `\n    ${line.trim()}` : '';
  return `  File "${filename}", line ${lineno}, in ${name}${source}`;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function unescaped(line: string): readonly string[] {
  return line.split('\\n').map((part) => part.replaceAll('\\t', '\t').replaceAll('\\"', '"'));
}
