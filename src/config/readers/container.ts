/** Readers of what a container is made from: images, names, users, paths inside, networks, labels. */
import { type Reader, readText, refuse, scalarReader } from '../readers.ts';
import { printable, quoted, shorten } from '../text.ts';
import type { ScalarNode } from '../tree.ts';

const asWritten = (node: Parameters<Reader<string>>[0]): string => (node as ScalarNode).source;

/** The longest name of an image, without tag and digest, that Docker takes. */
const MAX_IMAGE_CHARS = 255;
const HOST =
  '(?:(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*(?::\\d+)?\\/)?';
const PART = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
export const IMAGE_PATTERN = `^(?:sha256:[0-9a-f]{64}|${HOST}${PART}(?:\\/${PART})*(?::[\\w][\\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?)$`;
const IMAGE = new RegExp(IMAGE_PATTERN);

export const readImage: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const { value } = read;
  if (IMAGE.test(value) && value.replace(/@.*$/, '').length <= MAX_IMAGE_CHARS) return read;
  const source = asWritten(node);
  const message = `${quoted(source)} is not the name of an image`;
  if (value === '') return refuse('is empty; it must be the name of an image', 'For example: image: redis:7');
  if (/^\w+:\/\//.test(value))
    return refuse(message, `Write ${quoted(source.replace(/^\w+:\/\//, ''))}, without the scheme.`);
  const lower = source.toLowerCase();
  if (IMAGE.test(lower)) return refuse(message, `It is written in small letters: ${printable(shorten(lower))}`);
  return refuse(message, 'Write it as "docker images" shows it: name, or name:tag, or registry/name:tag.');
};

/** The name that a new container gets. Docker wants at least two characters. */
export const NEW_NAME_PATTERN = '^[A-Za-z0-9][A-Za-z0-9_.-]{1,127}$';

export const readNewName: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read) || new RegExp(NEW_NAME_PATTERN).test(read.value)) return read;
  const rule = 'Use letters, digits, dot, dash and underscore, beginning with a letter or digit, 2 to 128 characters.';
  return refuse(`${quoted(asWritten(node))} cannot be the name of a container`, rule);
};

/** An account inside the container: a name or a number, and a group after a colon if there is one. */
export const readUser: Reader<string> = scalarReader('a name or a number', ({ value, source }) => {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32 - 1)
    return { value: String(value) };
  if (typeof value === 'string' && /^[\w][\w.-]*\$?(?::[\w][\w.-]*\$?)?$/.test(value)) return { value };
  const hint = 'Write a name or a number of the image, and its group if it matters: app, "1000", "1000:1000".';
  return refuse(`${quoted(source)} is not an account`, hint);
});

/** A path inside the container: there is no folder that it could be relative to. */
export const readInnerPath: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read) || read.value.startsWith('/')) return read;
  const hint = `Write /${printable(shorten(asWritten(node).replace(/^(?:\.\/)+/, '')))}, or where it really is.`;
  return refuse('a path inside a container must begin with a slash', hint);
};

export const readNetwork: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read) || /^[A-Za-z0-9][\w.-]*$/.test(read.value)) return read;
  const source = asWritten(node);
  if (/^(?:container|service):/.test(read.value)) {
    const hint = 'Put both into one network: docker network create NAME, then in each: network: NAME';
    return refuse('the network of another container cannot be shared', hint);
  }
  return refuse(
    `${quoted(source)} is not the name of a network`,
    'Use a name that "docker network ls" shows, host or none.',
  );
};

/** Ours begin with this: they say which containers may be touched. */
const OURS = 'keepwell.';

export const readLabelName: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  if (read.value.startsWith(OURS) || read.value === 'keepwell')
    return refuse(`labels that begin with "${OURS}" are set by Keepwell`, 'Use another name.');
  if (/^[^\s=]+$/.test(read.value)) return read;
  return refuse(
    `${quoted(asWritten(node))} cannot be the name of a label`,
    'Write "name: value", without "=" and spaces.',
  );
};
