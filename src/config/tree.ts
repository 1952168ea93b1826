/** A configuration as it was written: values with the place each came from. Maps are Maps, so no key can touch a prototype. */
import { quoted } from './text.ts';

export interface Place {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units, as editors count. */
  readonly column: number;
}

export interface ScalarNode {
  readonly kind: 'scalar';
  readonly at: Place;
  readonly value: string | number | boolean | null;
  /** The text as it stands in the file: `1.10` is the number 1.1 but must come back as 1.10 in a hint. Never an expanded secret. */
  readonly source: string;
  /** A variable went into `value`. */
  readonly expanded: boolean;
}

export interface ListNode {
  readonly kind: 'list';
  readonly at: Place;
  readonly items: readonly TreeNode[];
}

export interface Entry {
  readonly keyAt: Place;
  readonly value: TreeNode;
}

export interface MapNode {
  readonly kind: 'map';
  readonly at: Place;
  readonly entries: ReadonlyMap<string, Entry>;
}

export interface Mistake {
  readonly message: string;
  readonly hint: string | null;
}

/**
 * A value that cannot be used. Nothing is said about what it should have been, and its mistakes are only reported where the value
 * is wanted: a variable that is missing below an unknown key is not a second problem.
 */
export interface BrokenNode {
  readonly kind: 'broken';
  readonly at: Place;
  /** Empty: reported already. */
  readonly mistakes: readonly Mistake[];
}

export type TreeNode = ScalarNode | ListNode | MapNode | BrokenNode;
export type Path = readonly (string | number)[];

/** `components.api.process.command[2]`; keys that would make it ambiguous are quoted. */
export function pathText(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    const key = /^[\w-]{1,80}$/.test(step) ? step : quoted(step);
    return text === '' ? key : `${text}.${key}`;
  }, '');
}

/**
 * Where to send somebody who has to change the value at `path`: a plain value itself, for a map or a list the key it hangs on, and
 * for something that is not there the nearest thing above it.
 */
export function locate(root: TreeNode, path: Path): Place {
  let node = root;
  let place = root.at;
  for (const step of path) {
    if (node.kind === 'map' && typeof step === 'string') {
      const entry = node.entries.get(step);
      if (!entry) break;
      node = entry.value;
      place = node.kind === 'scalar' ? node.at : entry.keyAt;
    } else if (node.kind === 'list' && typeof step === 'number') {
      const item = node.items[step];
      if (!item) break;
      node = item;
      place = item.at;
    } else break;
  }
  return place;
}

/** The key itself, for problems with the key and not with its value. */
export function locateKey(root: TreeNode, path: Path): Place {
  let node = root;
  for (const step of path.slice(0, -1)) {
    if (node.kind === 'map' && typeof step === 'string') node = node.entries.get(step)?.value ?? node;
  }
  const last = path.at(-1);
  const entry = node.kind === 'map' && typeof last === 'string' ? node.entries.get(last) : undefined;
  return entry?.keyAt ?? locate(root, path);
}

/** Without a prototype, so that `__proto__` and `constructor` are names like any other. */
export const emptyRecord = <T>(): Record<string, T> => Object.create(null) as Record<string, T>;
