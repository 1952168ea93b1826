/**
 * Text without what differs from one crash to the next of the same kind: numbers, ids, addresses, times, temporary paths; and
 * paths as people want to read them. Each expression begins at a word's first character and reads each character a bounded number of times.
 */

const MAX_CHARS = 300;

const STEPS: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?/g, '#'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '#'],
  [/\b0x[0-9a-f]+\b/gi, '#'],
  [/(?<![\w/.])(?:\/private)?\/(?:tmp|var\/tmp|var\/folders|dev\/shm|run\/user)\/[^\s'"`,;:)]+/g, '#'],
  [/(?<![\w.])\/(?:[^\s'"`,;:()/]+\/)+(?=[^\s'"`,;:()/])/g, '/'], // only the name of a file
  [/(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])/gi, '#'], // IPv6
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b/g, '#'],
  [/\[::\]|\blocalhost\b/g, '#'],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b/gi, '#'], // hashes
  [/\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{20,}\b/g, '#'], // ids and tokens
  [/(?<=[-_.])(?=[a-z]*\d)[a-z0-9]{4,10}(?=[\s'"`,;:)]|$)/g, '#'], // the ends of names of pods and containers
  [/\d+(?:[.,]\d+)*/g, '#'],
  [/#(?:[\s:#/-]*#)+/g, '#'],
  [/\s+/g, ' '],
];

/** Until nothing more is found: what one step leaves out may show something to another. Each time it gets shorter, or has fewer digits. */
export function normalise(text: string): string {
  let plain = text.slice(0, MAX_CHARS);
  for (let before = ''; plain !== before; ) {
    before = plain;
    for (const [expression, replacement] of STEPS) plain = plain.replace(expression, replacement);
    plain = plain.trim();
  }
  return plain;
}

/** The first line that says something. What follows in a message is mostly data. */
export const firstLine = (text: string): string =>
  text
    .split('\n')
    .find((line) => line.trim() !== '')
    ?.trim() ?? '';

// Paths in crashes: as people want to read them, and as they stay the same on every machine.

const TEMP = /^(?:\/private)?\/(?:tmp|var\/tmp|var\/folders\/[^/]+\/[^/]+\/T|dev\/shm|run\/user\/\d+)\/(?:[^/]+\/)?/;

/** Relative to where the component runs, if it lies there. */
export function shownPath(file: string, cwd: string | undefined): string {
  const path = file.replace(/^\.\//, '');
  if (cwd === undefined || cwd === '/' || cwd === '') return path;
  const root = cwd.endsWith('/') ? cwd : `${cwd}/`;
  return path.startsWith(root) && path.length > root.length ? path.slice(root.length) : path;
}

/** The file and its folder: where a project is installed differs from machine to machine. */
export function steadyPath(file: string, cwd: string | undefined): string {
  const path = shownPath(file.replaceAll('\\', '/'), cwd).replace(TEMP, '');
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '..')
    .slice(-2)
    .join('/');
}

/** "../b.mjs" as seen from "src/x/a.mjs". */
export function beside(file: string, relative: string): string {
  const parts = file.split('/').slice(0, -1);
  for (const part of relative.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}
