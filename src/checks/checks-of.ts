/** Which checks a configuration comes to, and those of them that somebody asks for. */
import { DEFAULTS } from '../config/defaults.ts';
import type { ResolvedConfig } from '../config/load.ts';
import type { CheckSpec } from './spec.ts';
import { implicitChecks } from './rules/component-check.ts';
import { selectChecks } from './rules/plan.ts';
import type { HealthQuery } from '../api/control.ts';

/** Without any of its own, one for each component. */
export const checksOf = ({
  checks,
  components,
}: Pick<ResolvedConfig, 'checks' | 'components'>): readonly CheckSpec[] =>
  checks.length > 0
    ? checks
    : implicitChecks(
        components.map(({ name }) => name),
        DEFAULTS.check.timeoutMs,
      );

/** Throws NO_SUCH_CHECK. */
export function asked(specs: readonly CheckSpec[], { checks, withDeps, timeoutMs }: HealthQuery): readonly CheckSpec[] {
  const chosen = selectChecks(specs, { checks, withDeps });
  if (timeoutMs === undefined) return chosen;
  return chosen.map((spec) => ({ ...spec, timeoutMs: Math.min(spec.timeoutMs, timeoutMs) }));
}
