/** What is left of a configuration when every part of it may have been wrong. */
import type { Path, TreeNode } from './tree.ts';

/** What is left of T when every part may have been wrong. */
export type Draft<T> = T extends readonly (infer Item)[]
  ? readonly (Draft<Item> | undefined)[]
  : T extends object
    ? { readonly [K in keyof T]?: Draft<T[K]> | undefined }
    : T;

export type Say = (path: Path, message: string, hint: string | null) => void;

/** Present in the file, but wrong and reported: nothing can be concluded from it. */
export const isUnusable = (map: object, key: string): boolean =>
  key in map && (map as Record<string, unknown>)[key] === undefined;

/** Written in the file, whether it can be used or not. */
export const isWritten = (node: TreeNode | undefined, ...path: Path): boolean => nodeAt(node, path) !== undefined;

export function nodeAt(root: TreeNode | undefined, path: Path): TreeNode | undefined {
  return path.reduce<TreeNode | undefined>((node, step) => {
    if (typeof step === 'number') return node?.kind === 'list' ? node.items[step] : undefined;
    return node?.kind === 'map' ? node.entries.get(step)?.value : undefined;
  }, root);
}
