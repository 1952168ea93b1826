/** From the parser's nodes to ours. Refuses what makes YAML dangerous or ambiguous: tags, merge keys, odd keys, too many aliases. */
import { isAlias, isScalar, isSeq, type ParsedNode, type YAMLMap } from 'yaml';
import type { Problems } from './problem.ts';
import { printable, quoted, shorten } from './text.ts';
import type { BrokenNode, Entry, Path, Place, ScalarNode, TreeNode } from './tree.ts';

/** Counted as they are followed, so ten levels of ten aliases are ten thousand million and stop at the hundredth. */
const MAX_ALIASES = 100;
/** A hundred aliases to a very large list. */
const MAX_VALUES = 300_000;

/** The plain types of YAML's core schema; writing them out changes nothing that could surprise. */
const HARMLESS_TAGS = /^(?:!|tag:yaml\.org,2002:(?:str|null|bool|int|float|map|seq))$/;

type Locate = (offset: number) => Place;

export function toTree(contents: ParsedNode, at: Locate, problems: Problems): TreeNode {
  return new Conversion(at, problems).node(contents, [], { file: '', line: 1, column: 1 });
}

class Conversion {
  readonly #at: Locate;
  readonly #problems: Problems;
  readonly #anchors = new Map<string, ParsedNode>();
  /** What is being converted right now: an alias to one of these contains itself. */
  readonly #open = new Set<ParsedNode>();
  #aliases = 0;
  #values = 0;

  constructor(at: Locate, problems: Problems) {
    this.#at = at;
    this.#problems = problems;
  }

  /** `fallback`: where a value would be that was left out altogether (`{ a }`). */
  node(node: ParsedNode | null, path: Path, fallback: Place): TreeNode {
    if (node === null) return { kind: 'scalar', at: fallback, value: null, source: '', expanded: false };
    const at = this.#at(node.range[0]);
    this.#values += 1;
    if (this.#values > MAX_VALUES) return this.#broken(at, [], 'there are too many values from here on');
    if (isAlias(node)) return this.#alias(node.source, at, path);
    if (node.anchor) this.#anchors.set(node.anchor, node);
    if (node.tag !== undefined && !HARMLESS_TAGS.test(node.tag)) {
      return this.#broken(at, path, `the tag ${printable(shorten(node.tag))} is not supported`, 'Remove the tag.');
    }
    if (isScalar(node)) return this.#scalar(node.value, node.source, at);
    this.#open.add(node);
    const converted: TreeNode = isSeq(node)
      ? { kind: 'list', at, items: node.items.map((item, i) => this.node(item as ParsedNode, [...path, i], at)) }
      : { kind: 'map', at, entries: this.#entries(node as YAMLMap.Parsed, path, at) };
    this.#open.delete(node);
    return converted;
  }

  #broken(at: Place, path: Path, message: string, hint: string | null = null): BrokenNode {
    this.#problems.add(at, path, message, hint);
    return { kind: 'broken', at, mistakes: [] };
  }

  #scalar(value: unknown, source: string, at: Place): ScalarNode {
    const plain = value === null || ['string', 'number', 'boolean'].includes(typeof value) ? value : source;
    return { kind: 'scalar', at, value: plain as ScalarNode['value'], source, expanded: false };
  }

  #alias(name: string, at: Place, path: Path): TreeNode {
    this.#aliases += 1;
    if (this.#aliases > MAX_ALIASES) return this.#broken(at, [], `more than ${MAX_ALIASES} aliases are used`);
    const target = this.#anchors.get(name);
    if (!target) return this.#broken(at, path, `there is no anchor &${printable(shorten(name))} before this alias`);
    if (this.#open.has(target)) return this.#broken(at, path, 'this alias contains itself');
    return this.node(target, path, at);
  }

  #entries(map: YAMLMap.Parsed, path: Path, mapAt: Place): ReadonlyMap<string, Entry> {
    const entries = new Map<string, Entry>();
    for (const { key, value } of map.items) {
      const keyAt = key ? this.#at(key.range[0]) : mapAt;
      const name = this.#keyText(key, keyAt, path);
      if (name === null) continue;
      const first = entries.get(name);
      if (first) {
        const { line, column } = first.keyAt;
        const message = `${quoted(name)} is given twice; the first is at line ${line}, column ${column}`;
        this.#problems.add(keyAt, [...path, name], message, 'Keep one of them.');
      } else entries.set(name, { keyAt, value: this.node(value, [...path, name], keyAt) });
    }
    return entries;
  }

  /** Keys are text as written: a component called `1` or `true` is called exactly that. */
  #keyText(key: ParsedNode | null, at: Place, path: Path): string | null {
    const text = isScalar(key) ? key.source : null;
    if (text === null || text === '') {
      this.#problems.add(at, path, text === '' ? 'a key is empty' : 'a key must be plain text');
      return null;
    }
    if (text === '<<') {
      this.#problems.add(at, [...path, text], 'merge keys (<<) are not supported', 'Write the values out.');
      return null;
    }
    return text;
  }
}
