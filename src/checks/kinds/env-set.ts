/** Passes when a variable is set and not empty. Its value is never shown. */

import { z } from 'zod';
import { leaf, optional } from '../../config/leaves.ts';
import { readAs, readEnvName, refuse } from '../../config/readers.ts';
import { textOr } from '../../config/words/argv.ts';
import type { ContainerEngine } from '../../docker/ports.ts';
import { inRunning, inside } from '../in-container.ts';
import type { CheckKind, CheckOf, CheckParts } from '../kind.ts';
import { failed, ok } from '../rules/results.ts';
import type { CheckResult } from '../spec.ts';

const json = { type: 'string', pattern: '^[^=\\u0000]+$' };

const map = z
  .strictObject({
    in: inside,
    name: leaf(readEnvName, 'name of a variable', json).meta({
      description: 'It must be set, and not empty. Its value is never shown.',
      example: 'GH_TOKEN',
    }),
  })
  .meta({ id: 'check-env-set' });

const short = leaf<z.output<typeof map>>(
  readAs(readEnvName, (name) => ({ name })),
  'name of a variable',
  json,
);

const schema = optional(z.union([map, short]), {
  description: 'A variable is set, on this machine or inside a container. Short form: its name.',
  defaultNote: 'none',
  example: { in: 'sandbox', name: 'GH_TOKEN' },
});

const anyText = textOr('NAME');

export const envSetKind = {
  schema,
  missing: { name: refuse('the name of the variable is missing', 'Write: name: GH_TOKEN') },
  words: { env: anyText, environment: anyText, variable: anyText, envvar: anyText, envexists: anyText },
  resolve: ({ in: container = null, name }) => ({ kind: 'env_set', in: container, name }),
  isPutToTheEngine: ({ in: container }) => container !== null,
  ask: async ({ in: container, name }, parts, signal) =>
    container === null ? envSet({ name }, parts) : envSetIn({ in: container, name }, await parts.engine(), signal),
} satisfies CheckKind<'env_set', typeof schema>;

function envSet(
  { name }: Pick<CheckOf<'env_set'>, 'name'>,
  { env, whose }: Pick<CheckParts, 'env' | 'whose'>,
): CheckResult {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value === undefined) return failed(`${name} is not set in the environment of ${whose}`);
  return value === '' ? failed(`${name} is empty in the environment of ${whose}`) : ok(`${name} is set`);
}

// Passes when a variable is set and not empty in a container: in the environment it was given, its image's included. That is what every
// program gets that is started in it, by `docker exec` as well, and inspecting the container tells it, whatever the image has in it. What a
// program sets for itself later is its own affair: nobody else in the container sees it. The value is never shown.

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
