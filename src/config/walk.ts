/**
 * Reads a tree by the schema and keeps what is right, so that one mistake hides nothing else: unknown keys, missing keys and wrong
 * values are all reported, each once and at its place.
 */

import { z } from 'zod';
import { componentKeys, inner, optionFor } from './describe.ts';
import type { Draft } from './draft.ts';
import { choiceOf, neededOf } from './leaves.ts';
import type { Problems } from './problem.ts';
import { type Config, configSchema } from './shape.ts';
import {
  type BrokenNode,
  emptyRecord,
  type ListNode,
  locate,
  type MapNode,
  type Path,
  type ScalarNode,
  type TreeNode,
} from './tree.ts';
import { choiceProblem } from './words/choices.ts';
import { missing, wrongForm } from './words/forms.ts';
import { explainKey } from './words/keys.ts';

export interface Spot {
  readonly path: Path;
  /** The path with `*` for names that people choose. */
  readonly place: string;
}

export function walkConfig(root: MapNode, problems: Problems): Draft<Config> {
  const campaign = root.entries.get('campaign');
  if (campaign) {
    // A file of another kind: what else it says is not wrong, it is just not a configuration.
    problems.add(campaign.keyAt, ['campaign'], 'this is a campaign file', 'Run it with: keepwell campaign run FILE');
    return {};
  }
  return walkBy<Config>(configSchema, root, '', problems);
}

/** By any schema. `place` tells its keys from those of another kind of file. */
export function walkBy<T>(schema: z.ZodType, root: MapNode, place: string, problems: Problems): Draft<T> {
  return (new Walk(root, problems).value(schema, root, { path: [], place }) ?? {}) as Draft<T>;
}

const below = ({ path, place }: Spot, key: string, pattern = key): Spot => ({
  path: [...path, key],
  place: place === '' ? pattern : `${place}.${pattern}`,
});

/** They never change, and only a file with an unknown key pays for them. */
let homes: ReturnType<typeof componentKeys> | null = null;
const homesOfKeys = (): ReturnType<typeof componentKeys> => {
  homes ??= componentKeys();
  return homes;
};

class Walk {
  readonly #root: MapNode;
  readonly #problems: Problems;

  constructor(root: MapNode, problems: Problems) {
    this.#root = root;
    this.#problems = problems;
  }

  /** The value, or undefined when it was wrong (and has been reported). */
  value(field: z.ZodType, node: TreeNode, spot: Spot): unknown {
    if (node.kind === 'broken') return this.#broken(node, spot);
    const form = wrongForm(spot.place, node);
    if (form) return this.#report(spot, form.message, form.hint);
    return this.#read(inner(field), node, spot);
  }

  #read(schema: z.ZodType, node: Exclude<TreeNode, BrokenNode>, spot: Spot): unknown {
    if (schema instanceof z.ZodObject) return this.#object(schema, node, spot);
    if (schema instanceof z.ZodRecord) return this.#record(schema, node, spot);
    if (schema instanceof z.ZodUnion) return this.#read(optionFor(schema, node.kind), node, spot);
    if (schema instanceof z.ZodArray) return this.#list(schema.element as z.ZodType, node, spot);
    return this.#leaf(schema, node, spot);
  }

  #broken({ at, mistakes }: BrokenNode, { path }: Spot): undefined {
    for (const { message, hint } of mistakes) this.#problems.add(at, path, message, hint);
  }

  #report({ path }: Spot, message: string, hint: string | null): undefined {
    this.#problems.add(locate(this.#root, path), path, message, hint);
  }

  #map(node: TreeNode, spot: Spot): MapNode | undefined {
    if (node.kind === 'map') return node;
    const isEmpty = node.kind === 'scalar' && node.value === null;
    return this.#report(
      spot,
      isEmpty ? 'is empty' : 'must be a map',
      isEmpty ? 'Give it content, or remove the line.' : null,
    );
  }

  #object(schema: z.ZodObject, node: TreeNode, spot: Spot): unknown {
    const map = this.#map(node, spot);
    if (!map) return undefined;
    const shape = schema.shape as Readonly<Record<string, z.ZodType>>;
    const standIns = this.#unknownKeys(map, Object.keys(shape), spot);
    const result = emptyRecord<unknown>();
    for (const [key, field] of Object.entries(shape)) {
      const entry = map.entries.get(key);
      if (entry) result[key] = this.value(field, entry.value, below(spot, key));
      else if (!(field instanceof z.ZodOptional) && !standIns.has(key)) {
        const { message, hint } = missing(below(spot, key).place, key);
        this.#report(spot, message, hint);
      }
    }
    this.#choice(choiceOf(schema), map, standIns, spot);
    this.#needed(neededOf(schema), map, standIns, spot);
    return result;
  }

  /** At least one of these keys must be there. */
  #needed(keys: readonly string[], map: MapNode, standIns: ReadonlySet<string | null>, spot: Spot): void {
    const [usual] = keys;
    if (usual === undefined || keys.some((key) => map.entries.has(key) || standIns.has(key))) return;
    const { message, hint } = missing(below(spot, usual).place, usual);
    this.#report(spot, message, hint);
  }

  /** Exactly one of these keys must be there. */
  #choice(keys: readonly string[], map: MapNode, standIns: ReadonlySet<string | null>, spot: Spot): void {
    if (keys.length === 0) return;
    const given = keys.filter((key) => map.entries.has(key));
    if (given.length === 0 && keys.some((key) => standIns.has(key))) return;
    const problem = choiceProblem(spot.place, given);
    if (problem) this.#report(spot, problem.message, problem.hint);
  }

  /** Reports them, and returns the keys of ours that they probably stand for. */
  #unknownKeys(map: MapNode, valid: readonly string[], { path, place }: Spot): ReadonlySet<string | null> {
    const standIns = new Set<string | null>();
    for (const [key, { keyAt, value }] of map.entries) {
      if (valid.includes(key)) continue;
      const suggest = !this.#problems.areMany;
      const { message, hint, standsFor } = explainKey({
        key,
        value,
        place,
        valid,
        beside: map.entries,
        homes: homesOfKeys(),
        suggest,
      });
      this.#problems.add(keyAt, [...path, key], message, hint);
      standIns.add(standsFor);
    }
    return standIns;
  }

  #record(schema: z.ZodRecord, node: TreeNode, spot: Spot): unknown {
    const map = this.#map(node, spot);
    if (!map) return undefined;
    const result = emptyRecord<unknown>();
    for (const [key, { keyAt, value }] of map.entries) {
      const at = below(spot, key, '*');
      const keyNode: ScalarNode = { kind: 'scalar', at: keyAt, value: key, source: key, expanded: false };
      const name = (schema.keyType as z.ZodType).safeParse(keyNode);
      if (name.success) result[key] = this.value(schema.valueType as z.ZodType, value, at);
      else this.#problems.add(keyAt, at.path, ...firstIssue(name.error));
    }
    return result;
  }

  #list(element: z.ZodType, node: TreeNode, spot: Spot): unknown {
    if (node.kind !== 'list') return this.#report(spot, 'must be a list', null);
    return (node as ListNode).items.map((item, index) =>
      this.value(element, item, { path: [...spot.path, index], place: `${spot.place}.*` }),
    );
  }

  #leaf(schema: z.ZodType, node: TreeNode, spot: Spot): unknown {
    const read = schema.safeParse(node);
    return read.success ? read.data : this.#report(spot, ...firstIssue(read.error));
  }
}

function firstIssue({
  issues,
}: {
  readonly issues: readonly z.core.$ZodIssue[];
}): [message: string, hint: string | null] {
  const issue = issues[0]!;
  const hint = issue.code === 'custom' ? issue.params?.['hint'] : null;
  return [issue.message, typeof hint === 'string' ? hint : null];
}
