/** Passes when a variable is set and not empty. Its value is never shown. */

import type { ContainerEngine } from '../../docker/ports.ts';
import { inRunning } from '../in-container.ts';
import type { CheckParts } from '../parts.ts';
import { failed, ok } from '../rules/results.ts';
import type { CheckQuestion, CheckResult } from '../spec.ts';

type EnvSet = Extract<CheckQuestion, { kind: 'env_set' }>;

export function envSet({ name }: Pick<EnvSet, 'name'>, { env, whose }: Pick<CheckParts, 'env' | 'whose'>): CheckResult {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value === undefined) return failed(`${name} is not set in the environment of ${whose}`);
  return value === '' ? failed(`${name} is empty in the environment of ${whose}`) : ok(`${name} is set`);
}

// Passes when a variable is set and not empty in a container: in the environment it was given, its image's included. That is what every program gets that is started in it, by `docker exec` as well, and inspecting the container tells it, whatever the image has in it. What a program sets for itself later is its own affair: nobody else in the container sees it. The value is never shown.

export interface EnvSetIn {
  readonly in: string;
  readonly name: string;
}

/** Docker gives these to every program in a container, whatever the container was given. */
const ALWAYS_SET: ReadonlySet<string> = new Set(['HOME', 'HOSTNAME', 'PATH']);

export const envSetIn = (
  { in: container, name }: EnvSetIn,
  engine: ContainerEngine,
  signal: AbortSignal,
): Promise<CheckResult> =>
  inRunning(container, engine, signal, async ({ setup: { variables } }) => {
    const value = variables.get(name) ?? (ALWAYS_SET.has(name) ? 'set' : 'missing');
    switch (value) {
      case 'set':
        return ok(`${name} is set`);
      case 'empty':
        return failed(`${name} is empty in container "${container}": create the container again with a value for it`);
      case 'missing':
        return failed(`${name} is not set in container "${container}": create the container again with it`);
      default:
        throw new Error(`no such value: ${JSON.stringify(value satisfies never)}`);
    }
  });
