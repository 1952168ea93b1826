/**
 * Passes when one of these paths is there in a container, links followed. The Engine is asked to look, so nothing runs in the
 * container and its image needs no shell. The Engine does not see what is mounted in memory: only where that could be why it
 * found nothing, a program in the container is asked.
 */
import type { CheckResult } from '../spec.ts';
import { failed, ok } from '../rules/results.ts';
import type { ContainerEngine, Look } from '../../docker/ports.ts';
import { type FoundContainer, inRunning } from '../in-container.ts';
import { lookFromWithin } from './look-from-within.ts';

export interface FileExistsIn {
  readonly in: string;
  readonly anyOf: readonly string[];
}

/** There for the processes in every container, and for nobody else. */
const ALWAYS_HIDDEN = ['/dev', '/proc', '/sys'];

export const fileExistsIn = (
  { in: container, anyOf }: FileExistsIn,
  engine: ContainerEngine,
  signal: AbortSignal,
): Promise<CheckResult> =>
  inRunning(container, engine, signal, async (found) => {
    const problems: string[] = [];
    for (const path of anyOf) {
      const seen = await look(path, found, engine, signal);
      if (seen.kind === 'there') return ok(`${path} exists`);
      if (seen.kind === 'unreachable') return failed(seen.why);
      problems.push(seen.kind === 'absent' ? `there is no ${path}` : `${path} could not be checked: ${seen.why}`);
    }
    return failed(`in container "${container}" ${problems.join('; ')}`);
  });

async function look(
  path: string,
  { state: { id }, setup: { tmpfs } }: FoundContainer,
  engine: ContainerEngine,
  signal: AbortSignal,
): Promise<Look> {
  const seen = await engine.look(id, path, signal);
  if (seen.kind !== 'absent') return seen;
  const isHidden = isBelow(path, [...ALWAYS_HIDDEN, ...tmpfs]);
  // A link may lead into memory from anywhere, so one place of it is enough to doubt.
  if (!isHidden && tmpfs.length === 0) return seen;
  const again = await lookFromWithin(id, path, engine, signal);
  return again.kind === 'unknown' && !isHidden ? seen : again;
}

const isBelow = (path: string, places: readonly string[]): boolean =>
  places.some((place) => path === place || path.startsWith(place.endsWith('/') ? place : `${place}/`));
