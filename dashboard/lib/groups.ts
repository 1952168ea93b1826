/** Rows under headings: by the beginning of their names, or by what they are. */

export type Grouping = 'none' | 'prefix' | 'kind';
export const GROUPINGS: readonly Grouping[] = ['none', 'prefix', 'kind'];

interface Named {
  readonly name: string;
  readonly kind: string;
}

export interface Group<T> {
  /** Empty: there are no headings. */
  readonly title: string;
  readonly rows: readonly T[];
}

/** "web-1" → "web". */
export const prefixOf = (name: string): string => name.split(/[-._]/, 1)[0]!;

/** In the order in which each first appears. Those who share their beginning with nobody come last, together. */
export function groupsOf<T extends Named>(rows: readonly T[], by: Grouping): readonly Group<T>[] {
  if (by === 'none') return [{ title: '', rows }];
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const title = by === 'kind' ? row.kind : prefixOf(row.name);
    groups.set(title, [...(groups.get(title) ?? []), row]);
  }
  const all = [...groups].map(([title, some]) => ({ title, rows: some }));
  if (by === 'kind') return all;
  const alone = all.filter((group) => group.rows.length === 1).flatMap((group) => group.rows);
  const several = all.filter((group) => group.rows.length > 1);
  return alone.length === 0 ? several : [...several, { title: 'others', rows: alone }];
}
