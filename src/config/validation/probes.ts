/** Questions that could never be answered the way they are put. */
import type { AnyProbeKind } from '../../probes/kind.ts';
import { PROBE_KINDS } from '../../probes/kinds.ts';
import { type QuestionKind, ROLES } from '../../supervision/rules/health/probe.ts';
import { type Draft, nodeAt, type Say } from '../draft.ts';
import type { QuestionConfig } from '../probes.ts';
import type { Component } from '../shape.ts';
import type { Path, TreeNode } from '../tree.ts';

type Question = Draft<QuestionConfig>;

/** `written`: the component as it stands in the file, at `path`. */
export function checkProbes(component: Component, written: TreeNode | undefined, path: Path, say: Say): void {
  for (const role of ROLES) {
    const probe = component[role];
    if (!probe) continue;
    checkAsked(probe, nodeAt(written, [role]), [...path, role], say);
  }
}

type Asked = Question & { readonly all_of?: readonly (Question | undefined)[] | undefined };

/** One question, or those of its `all_of`; `written`: the map that asks, as it stands in the file, at `path`. */
export function checkAsked(asked: Asked, written: TreeNode | undefined, path: Path, say: Say): void {
  checkQuestion(asked, written, path, say);
  const { all_of: items } = asked;
  if (items?.length === 0) say([...path, 'all_of'], 'is empty', 'Write: all_of: [{ tcp: 7233 }, { http: 8080 }]');
  for (const [index, item] of (items ?? []).entries()) {
    if (item) checkQuestion(item, nodeAt(written, ['all_of', index]), [...path, 'all_of', index], say);
  }
}

function checkQuestion(asked: Question, written: TreeNode | undefined, path: Path, say: Say): void {
  for (const [key, kind] of Object.entries<AnyProbeKind>(PROBE_KINDS)) {
    const config = asked[key as QuestionKind];
    if (config) kind.check?.(config, nodeAt(written, [key]), [...path, key], say);
  }
}

// Where questions stand in a component: in each probe, and in the items of its `all_of`.

export function questionPlaces(written: TreeNode | undefined): readonly Path[] {
  return ROLES.flatMap((role) => {
    const items = nodeAt(written, [role, 'all_of']);
    const count = items?.kind === 'list' ? items.items.length : 0;
    return [[role], ...Array.from({ length: count }, (_, index): Path => [role, 'all_of', index])];
  });
}
