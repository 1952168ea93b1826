/** Several files as one: later over earlier, maps key by key, everything else as a whole. Each value keeps the place it came from. */

import type { Problems } from './problem.ts';
import { printable, quoted, shorten } from './text.ts';
import type { MapNode, Mistake, ScalarNode, TreeNode } from './tree.ts';

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

// Variables in values: `${VAR}`, `${VAR:-default}`, `${VAR:?message}`, and `$$` for a dollar sign. Expanded once, inside one value: what
// comes out is text and is never looked at again, so no variable can add an argument, a key or another variable.

/** The value of a variable; undefined when it is not set. */
export type Lookup = (name: string) => string | undefined;

export interface Expanded {
  readonly text: string;
  readonly mistakes: readonly Mistake[];
}

const FORMS = `Use \${NAME}, \${NAME:-default} or \${NAME:?message}; write $$ for a dollar sign.`;

/** One text. A plain scan and not a regular expression: `${${${…` must not take quadratic time. */
export function expand(source: string, lookup: Lookup): Expanded {
  const mistakes: Mistake[] = [];
  let text = '';
  let from = 0;
  for (let at = source.indexOf('$'); at >= 0; at = source.indexOf('$', from)) {
    text += source.slice(from, at);
    const next = source[at + 1] ?? '';
    if (next === '{') {
      const end = source.indexOf('}', at);
      if (end < 0) return { text, mistakes: [...mistakes, { message: 'a "${" is not closed', hint: FORMS }] };
      const filled = substitute(source.slice(at + 2, end), lookup);
      if (typeof filled === 'string') text += filled;
      else mistakes.push(filled);
      from = end + 1;
    } else if (/[A-Za-z_]/.test(next)) {
      const name = /^\w{1,40}/.exec(source.slice(at + 1, at + 41))![0];
      mistakes.push({
        message: `"$${name}" is not expanded`,
        hint: `Write \${${name}} for the variable, $$${name} for the text.`,
      });
      from = at + 2;
    } else {
      text += '$';
      from = at + (next === '$' ? 2 : 1);
    }
  }
  return { text: text + source.slice(from), mistakes };
}

const INSIDE = /^([A-Za-z_][A-Za-z0-9_]*)(?::([-?])(.*))?$/s;

/** What stands between `${` and `}`. As in Compose, `:-` and `:?` treat an empty variable like a missing one. */
function substitute(inside: string, lookup: Lookup): string | Mistake {
  if (inside.includes('${')) return { message: 'a variable inside a variable is not supported', hint: FORMS };
  const [, name, operator, rest = ''] = INSIDE.exec(inside) ?? [];
  if (name === undefined) return { message: `${quoted(`\${${inside}}`)} is not understood`, hint: FORMS };
  const value = lookup(name);
  if (operator === '-') return value || rest.replaceAll('$$', () => '$');
  if (value !== undefined && (value !== '' || operator === undefined)) return value;
  const state = value === undefined ? 'is not set' : 'is empty';
  const wanted = operator === '?' && rest !== '' ? `: ${printable(shorten(rest))}` : '';
  const shown = printable(shorten(name));
  const orDefault = operator === undefined ? `, or give a default: \${${shown}:-value}` : '';
  return {
    message: `${shown} ${state}${wanted}`,
    hint: `Set it in the environment or in .env beside the first file${orDefault}.`,
  };
}

/** What all variables together may add: a short file full of a long variable must not eat the memory. */
const MAX_EXPANDED_CHARACTERS = 10_000_000;

/** Every text of the tree, expanded; keys are left alone. */
export function interpolate(root: MapNode, lookup: Lookup, problems: Problems): MapNode {
  let expandedCharacters = 0;

  const scalar = (node: ScalarNode): TreeNode => {
    if (typeof node.value !== 'string' || !node.value.includes('$')) return node;
    const { text, mistakes } = expand(node.value, lookup);
    expandedCharacters += text.length;
    const isTooLong = expandedCharacters > MAX_EXPANDED_CHARACTERS;
    if (isTooLong) problems.add(root.at, [], 'the variables make it far too long');
    const usable = mistakes.length === 0 && !isTooLong;
    return usable ? { ...node, value: text, expanded: true } : { kind: 'broken', at: node.at, mistakes };
  };
  const map = (node: MapNode): MapNode => {
    const entries = [...node.entries].map(([key, entry]) => [key, { ...entry, value: any(entry.value) }] as const);
    return { ...node, entries: new Map(entries) };
  };
  const any = (node: TreeNode): TreeNode => {
    if (node.kind === 'scalar') return scalar(node);
    if (node.kind === 'map') return map(node);
    return node.kind === 'list' ? { ...node, items: node.items.map(any) } : node;
  };
  return map(root);
}
