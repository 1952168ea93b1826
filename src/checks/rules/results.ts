/** The three kinds of results, and the report that is made of them. */
import type { WallMs } from '../../base/pure/ids.ts';
import type { CheckResult, CheckSpec, HealthReport } from '../spec.ts';

/** What a check came to by itself, before the configuration has its say. */
export interface Judgement extends CheckResult {
  /** What to do; only of a failure. */
  readonly advice?: string;
}

export const ok = (message: string): CheckResult => ({ status: 'ok', message });
export const skipped = (message: string): CheckResult => ({ status: 'skipped', message });
export const failed = (message: string, advice?: string): Judgement => ({
  status: 'failed',
  message,
  ...(advice === undefined ? {} : { advice }),
});

/** Every failure says what to do: the hint of the configuration, or else what the check itself knows to advise. */
export function hinted({ status, message, advice }: Judgement, { hint }: Pick<CheckSpec, 'hint'>): CheckResult {
  const todo = status === 'failed' ? (hint ?? advice) : undefined;
  return { status, message: todo === undefined ? message : `${message} - ${todo}` };
}

/** In the order of `results`. A check that was skipped is not a failure: what it depends on is one already. */
export function healthReport(results: ReadonlyMap<string, CheckResult>, at: WallMs): HealthReport {
  const isUnhealthy = [...results.values()].some(({ status }) => status === 'failed');
  return {
    status: isUnhealthy ? 'unhealthy' : 'healthy',
    timestamp: new Date(at).toISOString(),
    checks: Object.fromEntries(results),
  };
}
