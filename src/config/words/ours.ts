/** One row of the vocabulary: where we keep what another tool calls by another name, and how to write it here. */
import type { TreeNode } from '../tree.ts';
import { flowText } from './argv.ts';

export interface Ours {
  /** Seen from the component, keys of probes as `readiness.…`; 'components' and 'name' are top level. */
  readonly to: string;
  /** The value to paste; `*` stands for what was written, `*s` and `*ms` for what was written with its unit. */
  readonly form: string;
  /** Instead of `*` when what was written cannot be shown. */
  readonly sample: string;
  /** The whole value to paste, made from what was written; null: take `form`. */
  readonly put: (written: TreeNode) => string | null;
}

export const row = (to: string, form: string, sample = '', put: Ours['put'] = () => null): Ours => ({
  ...{ to, form, sample, put },
});

const MAX_SHOWN = 80;

export const scalarText: Ours['put'] = (node) =>
  node.kind === 'scalar' && node.value !== null && node.source.length <= MAX_SHOWN ? flowText(node.source) : null;

/** Words are compared without case, dashes and underscores, so `workingDir`, `working_dir` and `WorkingDir` are one row. */
export const normal = (word: string): string => word.toLowerCase().replace(/[-_]/g, '');
