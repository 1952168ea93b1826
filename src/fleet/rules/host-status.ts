/** How much of a host's status others get to see, and how often. Pure. */
import type { StatusView } from '../../supervision/rules/views.ts';
import { withinBytes } from './wire.ts';

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
