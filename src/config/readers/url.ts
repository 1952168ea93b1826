/** Reader of the base URL of a receiver. What a variable held may be a secret, so messages show the text as it was written. */
import { type Reader, readText, refuse } from '../readers.ts';
import { quoted } from '../text.ts';
import type { ScalarNode } from '../tree.ts';

const FORM = 'For example: http://localhost:4318';

/** Null for an empty text: `${OTEL_EXPORTER_OTLP_ENDPOINT:-}` means "if there is one". */
export const readReceiver: Reader<string | null> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const text = read.value.trim();
  if (text === '') return { value: null };
  const source = quoted((node as ScalarNode).source);
  if (/^[\w.-]+:\d+$/.test(text)) return refuse(`${source} lacks the scheme`, FORM);
  if (!URL.canParse(text)) return refuse(`${source} is not a URL`, FORM);
  const { protocol, search, hash } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:')
    return refuse('must be a URL that begins with http:// or https://', `gRPC is not spoken. ${FORM}`);
  if (search !== '' || hash !== '')
    return refuse('must be the base URL, without "?" and "#"', 'v1/traces and v1/metrics are put behind it.');
  return { value: text };
};
