/** Reader of an address that something is posted to. It may be a secret by itself: messages show it as it was written. */
import { type Reader, readText, refuse } from '../readers.ts';
import { quoted } from '../text.ts';
import type { ScalarNode } from '../tree.ts';

const FORM = 'For example: https://example.org/hooks/keepwell';
const HEADER = 'A webhook can have a header instead: headers: { Authorization: "…" }';

export const readTarget: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const text = read.value.trim();
  const source = quoted((node as ScalarNode).source);
  if (!URL.canParse(text)) return refuse(`${source} is not a URL`, FORM);
  const { protocol, username, password } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:')
    return refuse('must be a URL that begins with http:// or https://', FORM);
  if (username !== '' || password !== '') return refuse('has a user or a password in it', HEADER);
  return { value: text };
};
