/** What would keep components from starting on this machine, as it is now: no mistake of the configuration, but worth a word. */
import type { ComponentSpec } from '../supervision/spec.ts';
import { baseEnvironment, type Environment, environmentOf } from './launch-run.ts';
import { precheck } from './process/precheck.ts';

export interface StartWarning {
  readonly component: string;
  readonly problem: string;
}

export function startWarnings(components: readonly ComponentSpec[], env: Environment): readonly StartWarning[] {
  const base = baseEnvironment(env);
  return components.flatMap((spec) => {
    const { name, driver } = spec;
    if (driver.kind !== 'process') return [];
    const environment = environmentOf(spec, base);
    const problem =
      'heals' in environment
        ? environment
        : precheck({ command: driver.command, cwd: driver.cwd, env: environment.env });
    return problem === null ? [] : [{ component: name, problem: problem.message }];
  });
}
