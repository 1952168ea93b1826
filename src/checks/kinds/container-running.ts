/** Passes when a container runs: not paused, and not between two attempts of Docker to start it. */

import type { ContainerEngine } from '../../docker/ports.ts';
import { inRunning } from '../in-container.ts';
import { ok } from '../rules/results.ts';
import type { CheckQuestion, CheckResult } from '../spec.ts';

type ContainerRunning = Extract<CheckQuestion, { kind: 'container_running' }>;

export const containerRunning = (
  { container }: Pick<ContainerRunning, 'container'>,
  engine: ContainerEngine,
  signal: AbortSignal,
): Promise<CheckResult> => inRunning(container, engine, signal, async () => ok('container running'));
