/** Where a configuration says what: for those who have something to say about a line of it after it was read. */

import { readDocument } from './document.ts';
import type { ResolvedConfig } from './load.ts';
import { mergeTrees } from './merge.ts';
import { Problems } from './problem.ts';
import { locate, locateKey, type MapNode, type Path, type Place, type TreeNode } from './tree.ts';

export interface Places {
  /** Whether it stands in a file; if not, a default is meant. */
  isWritten(path: Path): boolean;
  /** The value, or the nearest thing above it that is written. */
  at(path: Path): Place;
}

export function placesOf({ sources }: Pick<ResolvedConfig, 'sources'>): Places {
  const problems = new Problems();
  const trees = sources.map(({ path, text }) => readDocument(path, text, problems));
  const [first, ...later] = trees.filter((tree) => tree !== null);
  // It was read once without a problem, so it has a tree.
  const root: MapNode = mergeTrees(first!, ...later);
  return {
    isWritten: (path) => has(root, path),
    at: (path) => (has(root, path) ? locateKey(root, path) : locate(root, path)),
  };
}

function has(root: TreeNode, path: Path): boolean {
  let node: TreeNode | undefined = root;
  for (const step of path) {
    if (node?.kind === 'map') node = node.entries.get(String(step))?.value;
    else if (node?.kind === 'list') node = node.items[Number(step)];
    else return false;
    if (node === undefined) return false;
  }
  return true;
}
