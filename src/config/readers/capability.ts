/** The name of a Linux capability, as Docker takes it. */
import { type Reader, readText, refuse } from '../readers.ts';
import { quoted } from '../text.ts';

export const readCapability: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const meant = read.value.toUpperCase().replace(/^CAP_/, '');
  if (meant === 'ALL') return refuse('all capabilities are as good as no isolation', 'Name those that it needs.');
  if (read.value === meant && /^[A-Z][A-Z_]+$/.test(meant)) return read;
  const hint = /^[A-Z][A-Z_]+$/.test(meant) ? `Write ${meant}.` : 'For example: NET_BIND_SERVICE';
  return refuse(`${quoted(read.value)} is not the name of a capability`, hint);
};
