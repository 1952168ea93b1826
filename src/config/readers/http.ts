/** Readers of what an HTTP question can ask for beside its address. */
import { type Reader, readText, refuse, scalarReader } from '../readers.ts';
import { printable, quoted, shorten } from '../text.ts';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** These decide how the connection is used, which is the probe's own business: each asks on a new one and closes it. */
const OF_THE_CONNECTION = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'upgrade', 'te', 'trailer'],
  ...['transfer-encoding', 'content-length', 'expect'],
]);

export const readHeaderName: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  if (!TOKEN.test(read.value))
    return refuse(
      `${quoted(read.value)} cannot be the name of a header`,
      'Use letters, digits and dashes: Accept-Language.',
    );
  if (OF_THE_CONNECTION.has(read.value.toLowerCase()))
    return refuse(`${read.value} is set by Keepwell for every question`, 'Remove it.');
  return read;
};

export const readHeaderValue: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  if (/[\r\n]/.test(read.value)) return refuse('contains a line break', 'A header is one line.');
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(read.value)
    ? read
    : refuse('contains characters that no header can carry', 'Use ASCII characters.');
};

export const STATUSES = { min: 100, max: 599 } as const;

export const readStatus: Reader<number> = scalarReader('an HTTP status such as 200', ({ value, source, expanded }) => {
  if (typeof value === 'number' && Number.isInteger(value) && value >= STATUSES.min && value <= STATUSES.max)
    return { value };
  const isQuoted = !expanded && /^[1-5]\d\d$/.test(source);
  const shown = typeof value === 'number' ? `, not ${printable(shorten(source))}` : '';
  return refuse(
    `must be an HTTP status from ${STATUSES.min} to ${STATUSES.max}${shown}`,
    isQuoted ? `Write ${source}, without quotes.` : 'Write 200 or [200, 204]; without "status", 200 to 399 pass.',
  );
});

/** What a question reads of an answer. */
const MAX_BODY_BYTES = 10_240;

export const readContains: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  if (read.value === '') return refuse('is empty, so every answer contains it', 'Give it a value, or remove the line.');
  const isTooLong = Buffer.byteLength(read.value) > MAX_BODY_BYTES;
  return isTooLong ? refuse('is longer than the 10 KiB that are read of an answer') : read;
};
