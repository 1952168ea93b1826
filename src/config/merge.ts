/** Several files as one: later over earlier, maps key by key, everything else as a whole. Each value keeps the place it came from. */
import type { MapNode } from './tree.ts';

export function mergeTrees(first: MapNode, ...later: readonly MapNode[]): MapNode {
  return later.reduce(mergeMaps, first);
}

function mergeMaps(earlier: MapNode, later: MapNode): MapNode {
  const entries = new Map(earlier.entries);
  for (const [key, entry] of later.entries) {
    const before = earlier.entries.get(key);
    const bothMaps = before?.value.kind === 'map' && entry.value.kind === 'map';
    // A map that several files share is pointed at where it first appears.
    entries.set(
      key,
      bothMaps ? { ...before, value: mergeMaps(before.value as MapNode, entry.value as MapNode) } : entry,
    );
  }
  return { ...earlier, entries };
}
