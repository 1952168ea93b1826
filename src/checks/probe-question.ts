/** Asks once what probes ask again and again. */
import type { CheckResult } from './spec.ts';
import { failed, ok } from './rules/results.ts';
import type { ProbeQuestion } from '../supervision/rules/health/probe.ts';
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
