/** The name of a service of a compose file. */
import { type Reader, readText, refuse } from '../readers.ts';
import { quoted } from '../text.ts';

export const SERVICE_PATTERN = '^[A-Za-z0-9._-]+$|\\$\\{';

export const readService: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read) || /^[A-Za-z0-9._-]{1,200}$/.test(read.value)) return read;
  const shown = node.kind === 'scalar' ? quoted(node.source) : 'it';
  return refuse(
    `${shown} is not the name of a compose service`,
    'Use the name as it stands under "services:" in the compose file.',
  );
};
