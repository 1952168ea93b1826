/** Why a command cannot be run in a container, or cannot be found in it any more: sentences for people. */
import type { FullInspection } from '../../ports/engine.ts';

/** Null: the container runs, so it is not to blame. */
export function lostBecause(
  service: string,
  now: Exclude<FullInspection, { readonly kind: 'unreachable' }>,
): string | null {
  if (now.kind === 'missing') return `the container of "${service}" is gone`;
  const { running, restarting, paused, exitCode } = now.state;
  if (paused) return `the container of "${service}" is paused`;
  if (restarting)
    return `the container of "${service}" is being restarted by the Engine (it ended with code ${exitCode})`;
  return running ? null : `the container of "${service}" does not run (it ended with code ${exitCode})`;
}

export function noShell(service: string, why: string): string {
  if (!/executable file not found|no such file/i.test(why)) return `the Engine runs no command in "${service}": ${why}`;
  return `there is no shell ("sh") in the image of "${service}", and experiments are run by one: use an image that has a shell, as nearly all have`;
}
