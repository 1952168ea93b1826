/** Closes an attempt that a killed process left open, without going on with the campaign. */

import { copyArtifacts } from './artifacts.ts';
import { openAttemptLog } from './attempt-log.ts';
import { copyRest } from './follow.ts';
import type { CampaignRecord } from './ports.ts';
import type { OpenAttempt } from './rules/state.ts';
import type { CampaignParts } from './runner-parts.ts';
import type { ArtifactSpec } from './spec.ts';

/** For all of it: whoever clears away is not kept for ever by an Engine that hangs. */
const SETTLE_WITHIN_MS = 60_000;

/**
 * Its container is about to be removed: what came to a good end is taken now, everything else is run again. Where the Engine does not
 * answer it stays open: it may go on in there, and whoever resumes looks for it.
 */
export async function settleOpen(
  parts: CampaignParts,
  record: CampaignRecord,
  artifacts: readonly ArtifactSpec[],
): Promise<void> {
  try {
    if (record.open) await settle(parts, record, record.open, artifacts);
  } catch (error) {
    if (!(error instanceof Error && error.name === 'TimeoutError')) throw error;
    parts.observer.note(`${record.name}: the Docker Engine takes too long to say what became of the last experiment`);
  }
}

async function settle(
  parts: CampaignParts,
  record: CampaignRecord,
  open: OpenAttempt,
  artifacts: readonly ArtifactSpec[],
): Promise<void> {
  const { execs, book, clock, observer } = parts;
  const experiment = record.experiments[open.position]!;
  const place = { service: experiment.service, container: open.container, attempt: open.attempt };
  const signal = AbortSignal.timeout(SETTLE_WITHIN_MS);
  const sight = await execs.look(place, signal);
  if (sight.kind === 'unreachable') return;
  if (sight.kind === 'running') await execs.end(place, signal);
  const log = openAttemptLog(parts.logDir, experiment.name, open.number);
  await copyRest(parts, { place, log, experiment: experiment.name }, signal);
  const isDone = sight.kind === 'ended' && sight.exitCode === 0;
  if (isDone) {
    const from = { container: open.container, experiment: experiment.name };
    const { troubles } = await copyArtifacts({ archives: parts.archives, ledger: null }, from, artifacts, signal);
    for (const trouble of troubles) observer.note(trouble);
  }
  const reason = isDone ? null : 'it was put away while nobody ran the campaign';
  const [exitCode, durationMs] = sight.kind === 'ended' ? [sight.exitCode, sight.durationMs] : [null, null];
  const state = isDone ? ('done' as const) : ('pending' as const);
  book.write(
    record.id,
    [
      { kind: 'attempt-over', open, outcome: isDone ? 'exited' : 'interrupted', exitCode, durationMs, reason },
      {
        kind: 'experiment',
        position: open.position,
        experiment: { ...experiment, state, exitCode, durationMs, reason },
      },
    ],
    clock.wallNow(),
  );
}
