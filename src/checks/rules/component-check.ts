/** What the state of a component means for a check about it, and the checks there are when the configuration names none. */
import type { ComponentName } from '../../base/pure/ids.ts';
import { type Seen, wellbeing } from '../../supervision/rules/wellbeing.ts';
import type { CheckSpec } from '../spec.ts';
import { failed, type Judgement, ok } from './results.ts';

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
export function judgeComponent(view: Seen): Judgement {
  const { kind, message, ...rest } = wellbeing(view);
  return kind === 'well' ? ok(message) : failed(message, 'advice' in rest ? rest.advice : undefined);
}
