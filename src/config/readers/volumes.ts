/** What a container sees of this machine's files: "./data:/data", "/etc/app:/etc/app:ro", "cache:/var/cache". */
import { type Reader, readText, refuse } from '../readers.ts';
import { printable, quoted, shorten } from '../text.ts';
import type { ScalarNode } from '../tree.ts';

/** A path of this machine (still as written), or a volume that Docker keeps under this name. */
export interface Volume {
  readonly from: string;
  readonly isPath: boolean;
  readonly to: string;
  readonly options: string | null;
}

const FORM = 'Write "./data:/data", "./data:/data:ro", or "name:/data" for a volume that Docker keeps.';
const OPTIONS = ['ro', 'rw', 'z', 'Z', 'nocopy', 'rshared', 'shared', 'rslave', 'slave', 'rprivate', 'private'];
/** They are for Docker Desktop, and mean nothing on Linux. */
const MEANINGLESS = ['cached', 'delegated', 'consistent'];

export const VOLUME_PATTERN = '^[^:]+:/[^:]*(?::[\\w,]+)?$|\\$\\{';

export const readVolume: Reader<Volume> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const { source } = node as ScalarNode;
  const [from = '', to, options = null, ...more] = read.value.split(':');
  const what = `${quoted(source)} is not a volume`;
  if (to === undefined && from.startsWith('/')) {
    const hint = `Give it a name, so that it outlives the container: "data:${printable(shorten(source))}".`;
    return refuse('a volume without a name is lost with its container', hint);
  }
  if (to === undefined || from === '' || more.length > 0) return refuse(what, FORM);
  if (/^~(?:\/|$)/.test(from))
    return refuse('"~" is not expanded', `Write "\${HOME}${printable(shorten(source.slice(1)))}".`);
  if (!to.startsWith('/')) return refuse('a path inside a container must begin with a slash', FORM);
  if (/^\/+$/.test(to)) return refuse('nothing can be put in the place of the whole container', FORM);
  const isPath = /^(?:\/|\.\.?(?:\/|$))/.test(from);
  if (!isPath && from.includes('/')) {
    return refuse(
      `${quoted(from)} is neither a path nor the name of a volume`,
      `For a path, write "./${printable(shorten(source))}".`,
    );
  }
  if (!isPath && !/^[A-Za-z0-9][\w.-]+$/.test(from)) return refuse(what, FORM);
  for (const option of options?.split(',') ?? []) {
    if (MEANINGLESS.includes(option)) return refuse(`the option ${quoted(option)} does nothing on Linux`, 'Remove it.');
    if (!OPTIONS.includes(option))
      return refuse(`${quoted(option)} is not an option of a volume`, 'Write "ro" to forbid writing.');
  }
  return { value: { from, isPath, to, options } };
};
