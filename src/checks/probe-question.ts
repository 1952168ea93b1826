/** Asks once what probes ask again and again. */
import type { CheckResult } from '../core/checks/check.ts';
import { failed, ok } from '../core/checks/results.ts';
import type { ProbeQuestion } from '../core/health/probe.ts';
import type { CheckParts } from './parts.ts';

export async function probeQuestion(
  question: ProbeQuestion,
  { prober, target }: Pick<CheckParts, 'prober' | 'target'>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<CheckResult> {
  const { open } = await prober();
  const inquiry = open(question, target, () => {});
  try {
    const { outcome, message } = await inquiry.ask(timeoutMs, signal);
    // Inconclusive as well: a script that asks "is it healthy?" must not hear yes.
    return outcome === 'pass' ? ok(message) : failed(message);
  } finally {
    inquiry[Symbol.dispose]();
  }
}
