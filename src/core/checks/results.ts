/** The three kinds of results, and the report that is made of them. */
import type { WallMs } from '../ids.ts';
import type { CheckResult, CheckSpec, HealthReport } from './check.ts';

export const ok = (message: string): CheckResult => ({ status: 'ok', message });
export const skipped = (message: string): CheckResult => ({ status: 'skipped', message });
export const failed = (message: string, hint?: string): CheckResult => ({
  status: 'failed',
  message,
  ...(hint === undefined ? {} : { hint }),
});

/** Every failure carries the hint of the configuration, or else what the check itself knows to advise. Nothing else has one. */
export function hinted(result: CheckResult, { hint }: Pick<CheckSpec, 'hint'>): CheckResult {
  const { status, message } = result;
  if (status !== 'failed') return { status, message };
  return failed(message, hint ?? result.hint);
}

/** In the order of `results`. A check that was skipped is not a failure: what it hangs on is one already. */
export function healthReport(results: ReadonlyMap<string, CheckResult>, at: WallMs): HealthReport {
  const isUnhealthy = [...results.values()].some(({ status }) => status === 'failed');
  return {
    status: isUnhealthy ? 'unhealthy' : 'healthy',
    timestamp: new Date(at).toISOString(),
    checks: Object.fromEntries(results),
  };
}
