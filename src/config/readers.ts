/** One reader per kind of value: what it accepts, and what it says about everything else. */

import type { SignalName } from '../base/pure/exit.ts';
import { NAME_PATTERN } from '../base/pure/ids.ts';
import { nearest } from '../base/pure/suggest.ts';
import { isTimeZone } from '../base/pure/wall-time.ts';
import { parsePattern } from '../supervision/rules/health/pattern.ts';
import { durationHint, MAX_DURATION_MS, parseDuration } from './duration.ts';
import { ALL_SIGNALS, FATAL_SIGNALS, SIGNAL_ALIASES, STOP_SIGNALS } from './signals.ts';
import { MAX_SIZE_BYTES, parseSize, sizeHint } from './size.ts';
import { inWords, printable, quoted, shorten, untransportable } from './text.ts';
import type { Mistake, ScalarNode, TreeNode } from './tree.ts';

export type Reading<T> = { readonly value: T } | Mistake;
export type Reader<T> = (node: TreeNode) => Reading<T>;

export const refuse = (message: string, hint: string | null = null): Mistake => ({ message, hint });

/** A short form: what is read, as the map that it stands for. */
export const readAs =
  <V, T>(read: Reader<V>, whole: (value: V) => T): Reader<T> =>
  (node) => {
    const reading = read(node);
    return 'value' in reading ? { value: whole(reading.value) } : reading;
  };

/** As it stands in the file: what a variable held may be a secret and is not for messages. */
const written = (node: TreeNode): string => (node.kind === 'scalar' ? node.source : '');

/** A reader of single values; `expected` completes "must be …". */
export function scalarReader<T>(expected: string, read: (node: ScalarNode) => Reading<T>): Reader<T> {
  return (node) => {
    if (node.kind === 'map' || node.kind === 'list') return refuse(`must be ${expected}, not a ${node.kind}`);
    if (node.kind === 'broken') return refuse('');
    if (node.value === null) return refuse(`is empty; it must be ${expected}`, 'Give it a value, or remove the line.');
    return read(node);
  };
}

/** Numbers and booleans are not turned into text behind anybody's back: 1.10 would become 1.1 and 010 would become 10. */
export const readText: Reader<string> = scalarReader('text', ({ value, source }) => {
  if (typeof value !== 'string') {
    const kind = typeof value === 'number' ? 'a number' : 'true or false';
    return refuse(`must be text, not ${kind}`, `Put it in quotes: "${printable(shorten(source))}".`);
  }
  const obstacle = untransportable(value);
  return obstacle === null ? { value } : refuse(obstacle, 'Remove it: no program can receive it.');
});

/** A relative path is relative to the first file; `~` is a service of shells and there is none here. */
export const readPath: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  if (read.value === '') return refuse('is empty; it must be a path', 'Give it a value, or remove the line.');
  if (!/^~(?:\/|$)/.test(read.value)) return read;
  return refuse('"~" is not expanded', `Write \${HOME}${printable(shorten(written(node).slice(1)))}.`);
};

/** Text without blanks: a token, the name of a type of errors. What it holds is never shown. */
export const readBare: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const text = read.value.trim();
  if (text === '') return refuse('is empty', 'Is the variable set?');
  return /[\u0000-\u0020\u007f]/.test(text)
    ? refuse('contains blanks or line breaks', 'Give the bare text.')
    : { value: text };
};

export const readBoolean: Reader<boolean> = scalarReader('true or false', ({ value, source, expanded }) => {
  if (typeof value === 'boolean') return { value };
  const meant = /^(?:yes|on|true|1)$/i.test(source) ? 'true' : /^(?:no|off|false|0)$/i.test(source) ? 'false' : null;
  if (meant === null || expanded) return refuse('must be true or false', fromVariable(expanded));
  return refuse('must be true or false', `Write ${meant}${meant === source ? ', without quotes' : ''}.`);
});

const fromVariable = (expanded: boolean): string | null =>
  expanded ? 'A variable always gives text; write the value itself here.' : null;

interface Range {
  readonly min: number;
  readonly max: number;
  readonly whole?: boolean;
}

export const readNumber = ({ min, max, whole = false }: Range): Reader<number> => {
  const expected = `a ${whole ? 'whole ' : ''}number from ${min} to ${max}`;
  return scalarReader(expected, ({ value, source, expanded }) => {
    if (typeof value === 'number' && value >= min && value <= max && (!whole || Number.isInteger(value)))
      return { value };
    if (typeof value === 'number') return refuse(`must be ${expected}, not ${printable(shorten(source))}`);
    const isQuoted = !expanded && /^\d+(?:\.\d+)?$/.test(source) && Number(source) >= min && Number(source) <= max;
    return refuse(`must be ${expected}`, isQuoted ? `Write ${source}, without quotes.` : fromVariable(expanded));
  });
};

/** One of a few words; `foreign` knows the words other tools use for the same. */
export const readOneOf = <const T extends string>(
  words: readonly T[],
  foreign: Readonly<Record<string, T>> = {},
): Reader<T> => {
  const expected = inWords(words, 'or');
  return scalarReader(expected, ({ value, source }) => {
    const found = words.find((word) => word === value);
    if (found !== undefined) return { value: found };
    const key = source.toLowerCase();
    const meant = Object.hasOwn(foreign, key) ? foreign[key] : source.length > 40 ? null : nearest(source, words);
    return refuse(`must be ${expected}, not ${quoted(source)}`, meant ? `Did you mean "${meant}"?` : null);
  });
};

/** Minutes since midnight. */
export const readDayTime: Reader<number> = scalarReader('a time of day such as "08:00"', ({ value, source }) => {
  const found = typeof value === 'string' ? /^([01]\d|2[0-3]):([0-5]\d)$/.exec(value) : null;
  if (found !== null) return { value: Number(found[1]) * 60 + Number(found[2]) };
  return refuse(
    `must be a time of day, not ${quoted(source)}`,
    'Write hours and minutes, in quotes: "08:00" or "22:30".',
  );
});

export const readTimeZone: Reader<string> = scalarReader('the name of a time zone', ({ value, source }) =>
  typeof value === 'string' && isTimeZone(value)
    ? { value }
    : refuse(`${quoted(source)} is not a time zone`, 'Write its name: Europe/Berlin, America/New_York or UTC.'),
);

interface DurationRange {
  readonly zero: boolean;
}

export const readDuration = ({ zero }: DurationRange): Reader<number> =>
  scalarReader('a duration such as 10s', ({ value, source }) => {
    const ms = typeof value === 'string' ? parseDuration(value) : null;
    if (ms === null) return refuse(`must be a duration, not ${quoted(source)}`, durationHint(source));
    if (ms > MAX_DURATION_MS) return refuse('is longer than a year', 'Use at most 365d.');
    return ms > 0 || zero ? { value: ms } : refuse('must be longer than 0s');
  });

/** `what` there is none of with "never". */
export const readDurationOrNever =
  (what: string): Reader<number | 'never'> =>
  (node) => {
    if (node.kind === 'scalar' && node.value === 'never') return { value: 'never' };
    const read = readDuration({ zero: false })(node);
    return 'value' in read ? read : refuse(read.message, read.hint ?? `Write "never" for no ${what} at all.`);
  };

interface SizeRange {
  readonly minBytes: number;
  /** In the words of a configuration. */
  readonly min: string;
}

export const readSize = ({ minBytes, min }: SizeRange): Reader<number> =>
  scalarReader('a size such as 512MiB', ({ value, source }) => {
    const bytes = typeof value === 'string' ? parseSize(value) : null;
    if (bytes === null) return refuse(`must be a size, not ${quoted(source)}`, sizeHint(source));
    if (bytes > MAX_SIZE_BYTES) return refuse('is more than any machine has', 'Use at most 1024TiB.');
    return bytes >= minBytes ? { value: bytes } : refuse(`must be at least ${min}`);
  });

/** Octal, as `chmod` writes it, and in quotes: YAML would read 027 as twenty-seven. */
export const readUmask: Reader<number> = scalarReader(
  'an octal number in quotes such as "027"',
  ({ value, source }) => {
    const isOctal = /^0?[0-7]{3}$/.test(source);
    if (typeof value === 'string' && isOctal) return { value: Number.parseInt(value, 8) };
    const hint = isOctal ? `Put it in quotes: "${source}".` : 'Write three octal digits in quotes, for example "027".';
    return refuse(`must be an octal number in quotes, not ${quoted(source)}`, hint);
  },
);

/** A name of this machine or its number; who it is, is looked up at each start. */
export const readAccount: Reader<string> = scalarReader('a name or a number', ({ value, source }) => {
  const isId = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32 - 1;
  if (isId) return { value: String(value) };
  const isName = typeof value === 'string' && /^(?:[A-Za-z_][A-Za-z0-9_.-]{0,255}\$?|\d{1,10})$/.test(value);
  if (isName) return { value };
  const both = typeof value === 'string' && /^[^:]+:[^:]+$/.test(value);
  return refuse(
    `${quoted(source)} is not the name or number of an account`,
    both ? 'Give the user and the group each their own line: "user:" and "group:".' : null,
  );
});

function signalProblem(source: string, usable: readonly string[], purpose: string): Mistake {
  const upper = source.toUpperCase();
  const full = upper.startsWith('SIG') ? upper : `SIG${upper}`;
  const meant =
    SIGNAL_ALIASES[full] ?? (usable.includes(full) ? full : source.length > 40 ? null : nearest(full, usable));
  if (ALL_SIGNALS.includes(source)) return refuse(`${source} ${purpose}`);
  return refuse(
    `${quoted(source)} is not a signal of Linux`,
    meant ? `Did you mean ${meant}?` : 'For example SIGTERM.',
  );
}

export const readStopSignal: Reader<SignalName> = scalarReader('a signal such as SIGTERM', ({ value, source }) =>
  STOP_SIGNALS.includes(String(value))
    ? { value: value as SignalName }
    : signalProblem(source, STOP_SIGNALS, 'would freeze the component instead of ending it'),
);

export const readDeath: Reader<number | SignalName> = scalarReader<number | SignalName>(
  'an exit code or a signal',
  ({ value, source }) => {
    if (value === 0)
      return refuse('0 is a clean exit, not a failure', 'Use "policy: on-failure" to accept a clean exit.');
    if (typeof value === 'number') {
      const valid = Number.isInteger(value) && value > 0 && value <= 255;
      return valid
        ? { value }
        : refuse(`an exit code is a whole number from 1 to 255, not ${printable(shorten(source))}`);
    }
    if (FATAL_SIGNALS.includes(String(value))) return { value: value as SignalName };
    if (/^\d+$/.test(source))
      return refuse('must be a number, not text', `Write ${source.slice(0, 20)}, without quotes.`);
    return signalProblem(source, FATAL_SIGNALS, 'never ends a process');
  },
);

/** The nearest valid name; '' when nothing of the text can be used. */
export const nameFrom = (text: string): string =>
  text
    .toLowerCase()
    .slice(0, 200)
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 63)
    .replace(/[-._]+$/, '');

export const readName: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  if (NAME_PATTERN.test(read.value) && !read.value.includes('..')) return read;
  const better = nameFrom(written(node));
  const rule =
    'Use a-z, 0-9, dot, dash and underscore, starting with a letter or digit, at most 63 characters, no "..".';
  return refuse(
    `${quoted(written(node))} is not a valid name`,
    better === '' ? rule : `${rule} For example: ${better}`,
  );
};

/** A text or a /regular expression/: one that is wrong would otherwise be found out when the line comes. */
export const readPattern: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const parsed = parsePattern(read.value);
  if (!('problem' in parsed)) return read;
  // What is wrong quotes the pattern, and what a variable held is not for messages.
  if (node.kind === 'scalar' && node.expanded) return refuse('what the variable holds is not a pattern');
  return refuse(printable(parsed.problem), printable(parsed.hint));
};

/** What Docker accepts as a name or as an id. */
export const readContainerName: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read) || /^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(read.value)) return read;
  const bare = /^\/([A-Za-z0-9][A-Za-z0-9_.-]*)$/.exec(written(node))?.[1];
  return refuse(
    `${quoted(written(node))} is not the name of a container`,
    bare ? `Write ${bare}, without the slash.` : 'Use the name or the id that "docker ps" shows.',
  );
};

/** What execve accepts: anything but nothing, an equals sign and NUL. */
export const readEnvName: Reader<string> = (node) => {
  const read = readText(node);
  if ('value' in read && read.value === 'KEEPWELL_RUN') {
    return refuse('KEEPWELL_RUN is set by Keepwell for every run', 'Use another name.');
  }
  if (!('value' in read) || (read.value !== '' && !read.value.includes('='))) return read;
  return refuse(`${quoted(written(node))} cannot be the name of a variable`, 'Write "NAME: value", without "=".');
};

export const readVersion: Reader<1> = scalarReader('1', ({ value }) =>
  value === 1 ? { value } : refuse('must be 1, the only version of this format', 'Write 1, or remove the line.'),
);
