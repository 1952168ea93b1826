/** What goes to the database that hosts share: JSON that PostgreSQL takes, in bounded pieces. Pure. */

import type { StatusView } from '../../supervision/rules/views.ts';

/** Escapes that JSON has and PostgreSQL refuses: NUL, and half a surrogate pair. Not those behind a backslash that is one itself. */
const REFUSED = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/gi;

export const wireJson = (value: unknown): string => JSON.stringify(value).replace(REFUSED, '$1\\ufffd');

/** As many from the beginning as fit, and at least one. */
export function withinBytes<T>(items: readonly T[], maxBytes: number): readonly T[] {
  let bytes = 0;
  const end = items.findIndex((item, index) => {
    bytes += JSON.stringify(item).length;
    return index > 0 && bytes > maxBytes;
  });
  return end === -1 ? items : items.slice(0, end);
}

/** Changes when something does that people look at; not with every second that passes. */
export const statusKey = ({ project, components, daemon }: StatusView): string =>
  JSON.stringify([
    ...[project, daemon.version, daemon.store],
    ...components.map(({ name, state, health, ready, restarts, condition, pid }) => [
      name,
      state,
      health,
      ready,
      restarts,
      condition,
      pid,
    ]),
  ]);

/** Of a project with very many components, the first. */
export const fitting = (view: StatusView, maxBytes: number): StatusView => ({
  ...view,
  components: withinBytes(view.components, maxBytes),
});
