/** Where questions stand in a component: in each probe, and in the items of its `all_of`. */

import { ROLES } from '../../supervision/rules/health/probe.ts';
import { nodeAt } from '../draft.ts';
import type { Path, TreeNode } from '../tree.ts';

export function questionPlaces(written: TreeNode | undefined): readonly Path[] {
  return ROLES.flatMap((role) => {
    const items = nodeAt(written, [role, 'all_of']);
    const count = items?.kind === 'list' ? items.items.length : 0;
    return [[role], ...Array.from({ length: count }, (_, index): Path => [role, 'all_of', index])];
  });
}
