/** Passes when a container runs: not paused, and not between two attempts of Docker to start it. */
import type { CheckQuestion, CheckResult } from '../../core/checks/check.ts';
import { ok } from '../../core/checks/results.ts';
import type { ContainerEngine } from '../../ports/engine.ts';
import { inRunning } from './in-running.ts';

type ContainerRunning = Extract<CheckQuestion, { kind: 'container_running' }>;

export const containerRunning = (
  { container }: Pick<ContainerRunning, 'container'>,
  engine: ContainerEngine,
  signal: AbortSignal,
): Promise<CheckResult> => inRunning(container, engine, signal, async () => ok('container running'));
