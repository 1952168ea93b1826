/** From what was written to single experiments: each matrix multiplied out, each name derived where none was given. */

import type { ExperimentConfig } from './campaign-shape.ts';
import { nameFrom } from './readers.ts';

export interface Single {
  /** Of the entry in the file. */
  readonly index: number;
  readonly name: string;
  readonly isNamed: boolean;
  readonly service: string;
  readonly config: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly entry: ExperimentConfig;
}

/** More is a slip: nobody waits for so many. */
export const MAX_EXPERIMENTS = 10_000;

/** How many this entry would make, without making them. */
export function sizeOf({ matrix }: Pick<ExperimentConfig, 'matrix'>): number {
  if (!matrix) return 1;
  const lengths = [
    matrix.service?.length ?? 1,
    matrix.config?.length ?? 1,
    ...Object.values(matrix.env ?? {}).map((values) => values.length),
  ];
  return lengths.reduce((product, length) => product * length, 1);
}

/** Nothing in there may be wrong any more. The order is that of the file; in a matrix the first key changes slowest. */
export function expand(experiments: readonly ExperimentConfig[]): readonly Single[] {
  const singles = experiments.flatMap((entry, index) =>
    entry.matrix ? multiplied(entry, index) : [single(entry, index)],
  );
  const taken = new Set(singles.filter(({ isNamed }) => isNamed).map(({ name }) => name));
  return singles.map((one) => (one.isNamed ? one : { ...one, name: free(one.name, taken) }));
}

function single(entry: ExperimentConfig, index: number): Single {
  const { name, service = '', config = null, env = {} } = entry;
  return {
    index,
    name: name ?? derived(service, config, []),
    isNamed: name !== undefined,
    service,
    config,
    env,
    entry,
  };
}

function multiplied(entry: ExperimentConfig, index: number): readonly Single[] {
  const { service = [entry.service ?? ''], config = [entry.config ?? null], env = {} } = entry.matrix ?? {};
  const variables = Object.entries(env).reduce<readonly Readonly<Record<string, string>>[]>(
    (sofar, [key, values]) => sofar.flatMap((one) => values.map((value) => ({ ...one, [key]: value }))),
    [{}],
  );
  return service.flatMap((oneService) =>
    config.flatMap((oneConfig) =>
      variables.map((one) => ({
        index,
        name: derived(oneService, oneConfig, Object.values(one)),
        isNamed: false,
        service: oneService,
        config: oneConfig,
        env: { ...entry.env, ...one },
        entry,
      })),
    ),
  );
}

const ROOM_FOR_NUMBER = 56;

/** `pytorch-a` from the service pytorch and configs/a.yaml; values of the matrix follow. */
function derived(service: string, config: string | null, values: readonly string[]): string {
  const file = config
    ?.split('/')
    .at(-1)
    ?.replace(/\.[A-Za-z0-9]{1,5}$/, '');
  return nameFrom([service, ...(file ? [file] : []), ...values].join('-')).slice(0, ROOM_FOR_NUMBER) || 'experiment';
}

function free(name: string, taken: Set<string>): string {
  let candidate = name;
  for (let number = 2; taken.has(candidate); number += 1) candidate = `${name}-${number}`;
  taken.add(candidate);
  return candidate;
}
