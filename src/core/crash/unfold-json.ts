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
  }
  return null;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function unescaped(line: string): readonly string[] {
  return line.split('\\n').map((part) => part.replaceAll('\\t', '\t').replaceAll('\\"', '"'));
}
