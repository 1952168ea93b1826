/** The client under test, and plans for containers of the test image. */

import { systemClock } from '../../../src/base/clock.ts';
import { createEngine } from '../../../src/docker/engine.ts';
import type { ContainerPlan, ContainerSetup, ContainerState, EngineClient } from '../../../src/docker/ports.ts';
import type { TestEngine } from '../../support/engine.ts';

export const never = new AbortController().signal;

export const clientOf = ({ env }: Pick<TestEngine, 'env'>): EngineClient => createEngine({ env, clock: systemClock });

const PLAIN: ContainerPlan = {
  image: 'keepwell-test',
  command: ['sleep', '300'],
  entrypoint: null,
  env: {},
  labels: {},
  user: null,
  workdir: null,
  init: false,
  stopSignal: null,
  healthCheck: null,
  network: 'none',
  ports: [],
  binds: [],
  tmpfs: {},
  readOnly: false,
  dropCapabilities: [],
  addCapabilities: [],
  noNewPrivileges: false,
  memoryBytes: null,
  cpus: null,
  pids: null,
  nofile: null,
};

export const plan = (parts: Partial<ContainerPlan> = {}): ContainerPlan => ({ ...PLAIN, ...parts });

/** Returns the id. */
export async function made(
  engine: EngineClient,
  docker: TestEngine,
  parts: Partial<ContainerPlan> = {},
): Promise<string> {
  const created = await engine.create(docker.newName(), plan(parts), never);
  if (created.kind !== 'created') throw new Error(JSON.stringify(created));
  return created.id;
}

export async function seen(
  engine: EngineClient,
  id: string,
): Promise<{ readonly state: ContainerState; readonly setup: ContainerSetup }> {
  const inspection = await engine.inspect(id, never);
  if (inspection.kind !== 'found') throw new Error(JSON.stringify(inspection));
  return inspection;
}
