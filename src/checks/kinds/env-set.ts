/** Passes when a variable is set and not empty. Its value is never shown. */
import type { CheckQuestion, CheckResult } from '../spec.ts';
import { failed, ok } from '../rules/results.ts';
import type { CheckParts } from '../parts.ts';

type EnvSet = Extract<CheckQuestion, { kind: 'env_set' }>;

export function envSet({ name }: Pick<EnvSet, 'name'>, { env, whose }: Pick<CheckParts, 'env' | 'whose'>): CheckResult {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value === undefined) return failed(`${name} is not set in the environment of ${whose}`);
  return value === '' ? failed(`${name} is empty in the environment of ${whose}`) : ok(`${name} is set`);
}
