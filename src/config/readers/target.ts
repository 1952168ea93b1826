/** Reader of an address that something is posted to. It may be a secret by itself: messages show it as it was written. */
import { type Reader, readText, refuse } from '../readers.ts';
import { quoted } from '../text.ts';
import type { ScalarNode } from '../tree.ts';

const FORM = 'For example: https://example.org/hooks/keepwell';

export const readTarget: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const text = read.value.trim();
  const source = quoted((node as ScalarNode).source);
  if (!URL.canParse(text)) return refuse(`${source} is not a URL`, FORM);
  const { protocol } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:')
    return refuse('must be a URL that begins with http:// or https://', FORM);
  return { value: text };
};
