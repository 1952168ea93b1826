/** What is written on the container of a session, so that it can be found and understood without any record of ours. */

import type { WallMs } from '../../base/pure/ids.ts';
import { LABELS } from '../../docker/rules/labels.ts';
import type { SessionRecord } from '../spec.ts';

export interface SessionTags {
  readonly id: string;
  readonly user: string;
  readonly template: string;
  readonly createdAt: WallMs;
  /** As it was at the beginning: labels cannot be changed when a lease is extended. */
  readonly expiresAt: WallMs;
}

type Labels = Readonly<Record<string, string>>;

export const labelsOf = ({ id, user, template, lease }: SessionRecord, owner: string): Labels => ({
  [LABELS.owner]: owner,
  [LABELS.session]: id,
  [LABELS.user]: user,
  [LABELS.template]: template,
  [LABELS.created]: new Date(lease.createdAt).toISOString(),
  [LABELS.expires]: new Date(lease.expiresAt).toISOString(),
});

/** Null: something is missing or makes no sense. */
export function tagsOf(labels: Labels): SessionTags | null {
  const [id, user, template] = [labels[LABELS.session], labels[LABELS.user], labels[LABELS.template]];
  const createdAt = Date.parse(labels[LABELS.created] ?? '');
  const expiresAt = Date.parse(labels[LABELS.expires] ?? '');
  if (!id || !user || !template || Number.isNaN(createdAt) || Number.isNaN(expiresAt)) return null;
  return { id, user, template, createdAt: createdAt as WallMs, expiresAt: expiresAt as WallMs };
}
