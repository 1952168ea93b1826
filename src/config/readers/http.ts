/** Readers of the headers of a request. */
import { type Reader, readText, refuse } from '../readers.ts';
import { quoted } from '../text.ts';

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
