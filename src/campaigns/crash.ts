/**
 * The dossier of an attempt that failed, written together with its end by whoever runs the campaign. There is no casework here, and
 * there may be no daemon: it belongs to no incident.
 */

import { type ExitView, exitView } from '../base/pure/exit.ts';
import type { RunId, WallMs } from '../base/pure/ids.ts';
import { redact, secretValues } from '../base/pure/redact.ts';
import { dossierOf } from '../crashes/rules/dossier.ts';
import { causeOfCode } from '../docker/rules/exit.ts';
import type { NewCrash } from '../supervision/ports/crash.ts';
import { FRESH } from '../supervision/rules/lifecycle/state.ts';
import { attemptTail } from './attempt-log.ts';
import type { Experiment, Write } from './rules/state.ts';
import type { Campaign, CampaignParts } from './runner-parts.ts';
import type { ExperimentSpec } from './spec.ts';

type Over = Extract<Write, { kind: 'attempt-over' }>;

/** Null: none of these writes is the end of an attempt that failed. One that was interrupted has not. */
export function crashIn(
  writes: readonly Write[],
  { record, spec }: Campaign,
  { logDir, secrets }: Pick<CampaignParts, 'logDir' | 'secrets'>,
  at: WallMs,
): NewCrash | null {
  const over = writes.find((write) => write.kind === 'attempt-over');
  if (over === undefined || !hasFailed(over)) return null;
  const { position, number, attempt } = over.open;
  const after = writes.find((write) => write.kind === 'experiment' && write.position === position) as
    | Extract<Write, { kind: 'experiment' }>
    | undefined;
  const asked = spec.experiments[position]!;
  const known = [...secrets, ...secretValues(asked.env)];
  const name = `${record.name}/${asked.name}`;
  const exit = exitOf(over, known);
  const dossier = dossierOf(attemptTail(logDir, asked.name, number, known), exit, { whose: `experiment ${name}` });
  return {
    ...{ subject: { kind: 'experiment', name }, run: attempt as RunId, at, uptimeMs: over.durationMs ?? 0, exit },
    ...{ decision: decisionOf(after?.experiment, asked), rule: 'retries', restartsInWindow: 0 },
    counters: { ...FRESH, failures: after?.experiment.failures ?? 1, total: number - 1 },
    ...{ dependencies: [], changedSinceGood: null, probes: [] },
    ...dossier,
    rootCause: dossier.rootCause ?? exit.unknown,
  };
}

const hasFailed = ({ outcome, exitCode }: Over): boolean =>
  outcome !== 'interrupted' && !(outcome === 'exited' && exitCode === 0);

const decisionOf = (experiment: Experiment | undefined, { retries }: ExperimentSpec): string =>
  experiment?.state === 'pending' ? `tried again (${experiment.failures} of ${retries})` : 'failed for good';

/** Services and the Engine quote what containers say. */
function exitOf({ outcome, exitCode, reason }: Over, known: readonly string[]): ExitView {
  if (exitCode !== null) return exitView(causeOfCode(exitCode));
  const why = redact(reason ?? 'the reason is not known', known, { end: true });
  if (outcome === 'refused')
    return exitView({ kind: 'spawn-failed', problem: { code: 'refused', message: why, heals: false } });
  if (outcome === 'lost') return exitView({ kind: 'unknown', why });
  return exitView({ kind: 'unknown', why: 'it was ended by us' }, outcome === 'timeout' ? `it ${why}` : why);
}
