/** Texts of other people inside our messages: quoted, short, and unable to play tricks on a terminal. */
import { nearest } from '../base/pure/suggest.ts';

const MAX_SHOWN = 80;

/** Escape sequences, line breaks and direction marks, written out so that they are seen and not obeyed. */
export const printable = (text: string): string =>
  text.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Surrogate}/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

export const shorten = (text: string): string => (text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text);

export const quoted = (text: string): string => `"${printable(shorten(text))}"`;

/** "a", "a and b", "a, b and c". */
export function inWords(words: readonly string[], last = 'and'): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}

const MAX_LISTED = 20;
const MAX_NAME_CHARS = 63;

/** Which of the names that are there was probably meant, or which there are. `where`: the key that has them. */
export function otherNames(word: string, names: readonly string[], where: string): string {
  const meant = word.length <= MAX_NAME_CHARS ? nearest(word, names) : null;
  if (meant !== null) return `Did you mean "${meant}"?`;
  if (names.length === 0) return `There is nothing under "${where}".`;
  return names.length <= MAX_LISTED ? `There is ${inWords(names)}.` : `Look at the names under "${where}".`;
}

/** What no operating system lets us hand to a program: a NUL byte, or half a character. */
export function untransportable(text: string): string | null {
  if (text.includes('\0')) return 'contains a NUL byte';
  return /\p{Surrogate}/u.test(text) ? 'contains half a character (a lone surrogate)' : null;
}
