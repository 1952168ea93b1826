/** Passes when a container runs: not paused, and not between two attempts of Docker to start it. */

import { containerName, optional } from '../../config/leaves.ts';
import { textOr } from '../../config/words/argv.ts';
import type { ContainerEngine } from '../../docker/ports.ts';
import { inRunning } from '../in-container.ts';
import type { CheckKind, CheckOf } from '../kind.ts';
import { ok } from '../rules/results.ts';
import type { CheckResult } from '../spec.ts';

const schema = optional(containerName, {
  description: 'This container is running.',
  defaultNote: 'none',
  example: 'sandbox',
});

const anyText = textOr('sandbox');

export const containerRunningKind = {
  schema,
  missing: {},
  words: { container: anyText, containername: anyText, docker: anyText, running: anyText },
  resolve: (container) => ({ kind: 'container_running', container }),
  isPutToTheEngine: () => true,
  ask: async (question, { engine }, signal) => containerRunning(question, await engine(), signal),
} satisfies CheckKind<'container_running', typeof schema>;

export const containerRunning = (
  { container }: Pick<CheckOf<'container_running'>, 'container'>,
  engine: ContainerEngine,
  signal: AbortSignal,
): Promise<CheckResult> => inRunning(container, engine, signal, async () => ok('container running'));
