/** Values of a YAML or JSON file of another tool, read kindly: what has another shape than expected is said, never thrown. */
import type { MapNode, TreeNode } from '../tree.ts';

export const childOf = (node: TreeNode | undefined, key: string): TreeNode | undefined =>
  node?.kind === 'map' ? node.entries.get(key)?.value : undefined;

/** The line of a key, or of what has it. */
export const lineOf = (node: MapNode, key: string): number => node.entries.get(key)?.keyAt.line ?? node.at.line;

/** A single value as text; undefined: none, null, a list or a map. */
export const textOf = (node: TreeNode | undefined): string | undefined =>
  node?.kind === 'scalar' && node.value !== null ? String(node.value) : undefined;

export const numberOf = (node: TreeNode | undefined): number | undefined => {
  const text = textOf(node);
  return text !== undefined && /^-?\d{1,12}(?:\.\d{1,6})?$/.test(text.trim()) ? Number(text) : undefined;
};

/** Given, and neither false, 0, "", null nor an empty list or map. */
export function isOn(node: TreeNode | undefined): boolean {
  if (node?.kind === 'list') return node.items.length > 0;
  if (node?.kind === 'map') return node.entries.size > 0;
  return (
    node?.kind === 'scalar' && node.value !== null && node.value !== false && node.value !== 0 && node.value !== ''
  );
}

/** The items of a list as texts; a single text is a list of one. */
export function textsOf(node: TreeNode | undefined): readonly string[] {
  if (node?.kind === 'list') return node.items.flatMap((item) => textOf(item) ?? []);
  const text = textOf(node);
  return text === undefined ? [] : [text];
}
