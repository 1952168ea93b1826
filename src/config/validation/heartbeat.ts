/** Keys of a heartbeat that would do nothing where they stand. */
import type { Path, TreeNode } from '../tree.ts';
import { isWritten, type Say } from './draft.ts';

const BELONGS: Readonly<Record<string, string>> = { field: 'file', log_pattern: 'log_every' };
const FORMS: Readonly<Record<string, string>> = { file: 'file: state.json', log_every: 'log_every: 30s' };

/** `written`: the component as it stands in the file, at `path`. */
export function checkHeartbeat(written: TreeNode | undefined, path: Path, say: Say): void {
  for (const [key, owner] of Object.entries(BELONGS)) {
    if (!isWritten(written, 'heartbeat', key) || isWritten(written, 'heartbeat', owner)) continue;
    say([...path, 'heartbeat', key], `${key} needs ${owner}`, `Write beside it: ${FORMS[owner]}, or remove it.`);
  }
}
