/** Answers of probes are written a few seconds late, many at once. */
import type { ProbeStretch } from './rules/health/stretch.ts';
import type { Clock } from '../base/clock.ts';
import { Journal } from './journal.ts';

const BATCH_MS = 5_000;

export const probeJournal = (clock: Clock, write: (probed: readonly ProbeStretch[]) => void): Journal<ProbeStretch> => {
  const keyOf = ({ run, role, firstAt }: ProbeStretch) => `${run} ${role} ${firstAt}`;
  return new Journal({ clock, everyMs: BATCH_MS, keyOf, write });
};
