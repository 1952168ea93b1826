/** Readers of what is asked of gRPC servers and of Temporal. */
import { durationText } from '../duration.ts';
import { type Reader, readDuration, readText, refuse } from '../readers.ts';

/** The most that Temporal takes for a name. */
const MAX_LABEL_CHARS = 1_000;

/** The name of a namespace or a task queue. */
export const readLabel: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  if (read.value.trim() === '') return refuse('is empty', 'Give it a value, or remove the line.');
  const isTooLong = read.value.length > MAX_LABEL_CHARS;
  return isTooLong ? refuse(`is longer than the ${MAX_LABEL_CHARS} characters that Temporal takes`) : read;
};

/** The full name of a gRPC service; empty: the server as a whole. */
export const readService: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  if (read.value.length > MAX_LABEL_CHARS) return refuse(`is longer than ${MAX_LABEL_CHARS} characters`);
  return /\s/.test(read.value)
    ? refuse('contains a space', 'Write the full name of the service: acme.orders.v1.Orders')
    : read;
};

/** A worker without work asks Temporal once in this time. */
const LONG_POLL_MS = 60_000;

const readPositive = readDuration({ zero: false });

export const readMaxAge: Reader<number> = (node) => {
  const read = readPositive(node);
  if (!('value' in read) || read.value >= LONG_POLL_MS) return read;
  const least = durationText(LONG_POLL_MS);
  return refuse(`must be at least ${least}: a worker without work polls once a minute`, `Write ${least} or more.`);
};
