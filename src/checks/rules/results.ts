/** The three kinds of results, and the report that is made of them. */
import type { ComponentName, WallMs } from '../../base/pure/ids.ts';
import { type WellbeingView, wellbeing } from '../../supervision/rules/wellbeing.ts';
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

// What the state of a component means for a check about it, and the checks there are when the configuration names none.

/** One check for each component, by its name. */
export const implicitChecks = (names: readonly string[], timeoutMs: number): readonly CheckSpec[] =>
  names.map((name) => ({
    name,
    needs: [],
    question: { kind: 'component', component: name as ComponentName },
    hint: null,
    timeoutMs,
  }));

/** Only what can be used now is ok: one that is stopped, also by hand, and one whose health nobody knows, is not. */
export function judgeComponent(view: WellbeingView): Judgement {
  const { kind, message, ...rest } = wellbeing(view);
  return kind === 'well' ? ok(message) : failed(message, 'advice' in rest ? rest.advice : undefined);
}
