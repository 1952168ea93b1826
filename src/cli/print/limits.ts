/** The limits of a component in a few words: "memory 512 MiB (cgroup v1), nofile 4096". */
import { formatBytes } from '../../base/pure/bytes.ts';
import type { ComponentView, LimitView } from '../../supervision/rules/views.ts';

/** Null: it has none. */
export const limitsText = ({ limits }: Pick<ComponentView, 'limits'>): string | null =>
  limits.map(limitText).join(', ') || null;

function limitText({ name, max, mechanism, note }: LimitView): string {
  const limit = `${name} ${name === 'memory' ? formatBytes(max) : max}`;
  const why = note === null ? '' : `: ${note}`;
  if (mechanism === null) return `${limit} (not in force${why})`;
  // Open files of processes are always limited that way.
  return name === 'nofile' && mechanism === 'rlimit' ? limit : `${limit} (${mechanism.replace('-v', ' v')}${why})`;
}
