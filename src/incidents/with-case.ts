import type { Casework } from './ports.ts';
import type { Commit } from '../supervision/ports/store.ts';

/** Crash, incident, ticket and what is told about them are one commit. */
export function withCase(step: Commit, casework: Pick<Casework, 'crashed'>): Commit {
  if (step.crash === undefined) return step;
  const { crash, also } = casework.crashed(step.crash);
  return { ...step, ...also, crash, events: [...(step.events ?? []), ...also.events] };
}
