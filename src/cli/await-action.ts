/** After an action was asked for: waits until it is done, shows the way there, and says what stood in the way. */
import { AppError } from '../core/errors.ts';
import { formatDuration } from '../core/format.ts';
import type { ComponentView, EventView, StatusView } from '../core/views.ts';
import { followStatus } from './follow-status.ts';
import { progressFor } from './progress.ts';
import type { Session } from './session.ts';
import { type Action, byName, judge, type Situation } from './settle.ts';

export interface Awaited {
  readonly action: Action;
  readonly names: readonly string[];
  /** How things were before the action. */
  readonly before: readonly ComponentView[];
  readonly timeoutMs: number;
}

export interface Outcome {
  readonly status: StatusView;
  /** To be thrown after the status has been printed; null when all is as wanted. */
  readonly problem: AppError | null;
}

/** An answer that still looks exactly as before is believed after this. The daemon reacts within a turn of its loop. */
const BELIEVE_MS = 1_000;

export async function awaitAction(session: Session, awaited: Awaited): Promise<Outcome> {
  const { action, names, before, timeoutMs } = awaited;
  const progress = progressFor(session, before);
  const asked = new Set(names);
  const known = byName(before);
  const situation = (status: StatusView, elapsedMs: number): Situation => ({
    action,
    before: known,
    now: byName(status.components),
    believed: elapsedMs > BELIEVE_MS,
  });
  let last: StatusView | null = null;
  try {
    return await followStatus(session, {
      timeoutMs,
      answer: (status, elapsedMs) => {
        last = status;
        progress.update(status.components.filter(({ name }) => asked.has(name)));
        const present = situation(status, elapsedMs);
        const verdicts = names.map((name) => ({ name, ...judge(name, present) }));
        const failed = verdicts.flatMap((one) => (one.kind === 'gave-up' || one.kind === 'blocked' ? [one] : []));
        const hasGivenUp = failed.some(({ kind }) => kind === 'gave-up'); // then waiting for the others is in vain
        if (!hasGivenUp && verdicts.some(({ kind }) => kind === 'pending')) return undefined;
        return { status, problem: failed.length === 0 ? null : gaveUp(failed) };
      },
      pending: (status) => (status ? pendingText(names, situation(status, timeoutMs)) : 'the daemon does not answer'),
    });
  } catch (error) {
    if (last && error instanceof AppError && error.code === 'WAIT_TIMEOUT') return { status: last, problem: error };
    throw error;
  } finally {
    progress.end();
  }
}

function gaveUp(
  failed: readonly { readonly name: string; readonly kind: string; readonly reason: string }[],
): AppError {
  const culprit = failed.find(({ kind }) => kind === 'gave-up') ?? failed[0]!;
  return new AppError('COMPONENT_GAVE_UP', {
    problem: failed.map(({ reason }) => `${reason}.`).join('\n'),
    name: culprit.name,
    names: failed.map(({ name }) => name).join(', '),
  });
}

function pendingText(names: readonly string[], situation: Situation): string {
  return names
    .map((name) => judge(name, situation))
    .flatMap((verdict) => ('reason' in verdict ? [verdict.reason] : []))
    .join('; ');
}

/** "worker ignored SIGTERM for 10 s and was killed": who did not end when asked to. */
export function killedIn(events: readonly EventView[]): string[] {
  const signals = new Map<string | null, string>();
  const lines: string[] = [];
  for (const { type, run_id, subject, data } of events) {
    if (type === 'component.stopping') signals.set(run_id, String(data['signal']));
    if (type !== 'component.killed') continue;
    const asked = signals.get(run_id) ?? 'the stop signal';
    lines.push(`${subject.name} ignored ${asked} for ${formatDuration(Number(data['grace_ms']))} and was killed`);
  }
  return lines;
}
