/** How a container stands that does not run, and what to do about it. */
import type { ContainerState } from '../../docker/ports.ts';

/** Null: it runs. */
export function whyNotRunning(container: string, state: ContainerState): string | null {
  const who = `container "${container}"`;
  // The Engine calls it running, too, while it is paused and while it waits to be restarted by its own policy.
  if (state.paused) return `${who} is paused: let it go on with "docker unpause ${container}"`;
  if (state.restarting)
    return `${who} does not stay up, Docker is about to restart it (${lastEnd(state)}): see "docker logs ${container}"`;
  if (state.running) return null;
  if (state.status === 'removing') return `${who} is being removed: wait, then create it again`;
  if (state.status === 'dead') return `${who} is dead, Docker failed to remove it: try "docker rm -f ${container}"`;
  if (state.error !== '') return `${who} could not be started: ${state.error}`;
  if (state.status === 'created')
    return `${who} was created and never started: start it with "docker start ${container}"`;
  if (state.status === 'exited')
    return `${who} is stopped (${lastEnd(state)}): start it with "docker start ${container}"`;
  return `${who} is not running, Docker calls it "${state.status}"`;
}

function lastEnd({ exitCode, oomKilled, finishedAt }: ContainerState): string {
  // Out of memory is what the Engine says, never what a code suggests.
  const memory = oomKilled ? ', out of memory' : '';
  return `exit code ${exitCode}${memory}${finishedAt === null ? '' : `, at ${toSeconds(finishedAt)}`}`;
}

/** Nobody needs the nanoseconds. */
const toSeconds = (time: string): string => time.replace(/\.\d+/, '');
