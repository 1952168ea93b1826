/** Why a command cannot be run in a container, or cannot be found in it any more: sentences for people. */
import type { FullInspection } from '../../docker/ports.ts';

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

/** Null: there is another reason, which may pass: an Engine on a busy machine fails to run a command now and then. */
export function noShell(service: string, why: string): string | null {
  if (!/executable file .*not found|exec: "sh"/i.test(why)) return null;
  return `there is no shell ("sh") in the image of "${service}", and experiments are run by one: use an image that has a shell, as nearly all have`;
}
