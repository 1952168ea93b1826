/** Which checks are asked, in which order, and which are skipped because of what another one answered. */
import { AppError } from '../../base/pure/errors.ts';
import { didYouMean } from '../../base/pure/suggest.ts';
import { type Graph, startOrder, withDependencies } from '../../supervision/rules/graph.ts';
import type { CheckResult, CheckSpec } from '../spec.ts';
import { skipped } from './results.ts';

type Needing = Pick<CheckSpec, 'name' | 'needs'>;

/** What is asked for: by name (none: all), with or without what these need. */
export interface CheckSelection {
  readonly checks: readonly string[];
  readonly withDeps: boolean;
}

const MAX_SHOWN_CHARS = 100;

/** Name → the names of the checks it needs, in configuration order. */
export const checkGraph = (specs: readonly Needing[]): Graph => new Map(specs.map(({ name, needs }) => [name, needs]));

/** Every check after all it needs; otherwise in configuration order. */
export const orderOf = (specs: readonly Needing[]): readonly string[] => startOrder(checkGraph(specs));

/** In configuration order, each once. Throws NO_SUCH_CHECK, with the nearest name there is. */
export function selectChecks(specs: readonly CheckSpec[], { checks, withDeps }: CheckSelection): readonly CheckSpec[] {
  if (checks.length === 0) return specs;
  const known = specs.map(({ name }) => name);
  for (const name of checks) if (!known.includes(name)) throw noSuchCheck(name, known);
  const chosen = withDeps ? withDependencies(checkGraph(specs), checks) : new Set(checks);
  return specs.filter(({ name }) => chosen.has(name));
}

function noSuchCheck(name: string, known: readonly string[]): AppError {
  const short = name.slice(0, MAX_SHOWN_CHARS);
  return new AppError('NO_SUCH_CHECK', { name: short, suggestion: didYouMean(short, known) });
}

/** What was asked before, by name. What was not asked at all stands in nobody's way. */
export type EarlierResults = ReadonlyMap<string, { readonly spec: CheckSpec; readonly result: CheckResult }>;

/** Null: it may be asked. Otherwise it is skipped, for the reason at the root: a chain of skipped checks says what failed first. */
export function skippedFor({ needs }: Pick<CheckSpec, 'needs'>, answered: EarlierResults): CheckResult | null {
  for (const need of needs) {
    const { spec, result } = answered.get(need) ?? {};
    if (!spec || !result || result.status === 'ok') continue;
    if (result.status === 'skipped') return skipped(result.message);
    return skipped(spec.question.kind === 'container_running' ? `${need} not running` : `${need} failed`);
  }
  return null;
}

/** Which checks to ask (none named: all), and how. */
export interface HealthQuery extends CheckSelection {
  /** No check may take longer than this, whatever the configuration allows it. */
  readonly timeoutMs?: number | undefined;
}
