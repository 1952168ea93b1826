/** A look at all runs, processes and containers, that changes nothing: for whoever asks while no daemon answers. */
import type { Clock } from '../base/clock.ts';
import type { HomePaths } from '../base/home.ts';
import type { ContainerEngine } from '../docker/ports.ts';
import type { SeenRun } from '../supervision/rules/unsupervised.ts';
import { inspectContainers } from './container/inspect.ts';
import { type InspectedRun, inspectRuns, leftoversOf } from './process/inspect.ts';

export async function inspectAll(
  paths: Pick<HomePaths, 'runs' | 'containers'>,
  engine: Pick<ContainerEngine, 'inspect'>,
  clock: Clock,
): Promise<readonly SeenRun[]> {
  const found = inspectRuns(paths.runs, clock.bootId);
  const leftovers = await leftoversOf(paths.runs, found).catch((error: unknown) => error as Error);
  const runs = leftovers instanceof Error ? found.map((run) => doubted(run, leftovers)) : found;
  const containers = await inspectContainers({ dir: paths.containers, engine, clock });
  return [
    ...runs.map((run) => ({ ...run, leftovers: leftovers instanceof Error ? [] : (leftovers.get(run.run) ?? []) })),
    ...containers.map((run) => ({ ...run, leftovers: [] })),
  ];
}

/** Its main process is gone, and whether anything of it lives on could not be looked at. */
const doubted = (run: InspectedRun, { message }: Error): InspectedRun =>
  run.alive ? run : { ...run, unknown: run.unknown ?? message };
