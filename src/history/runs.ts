/** How the facts about one run add up, in whatever order they arrive. The upserts in sqlite/writer.ts follow the same rules. */

import { type ComponentName, componentOfRun, type RunId, type WallMs } from '../base/pure/ids.ts';
import type { RunEnded, RunRow } from '../supervision/ports/store.ts';
import type { Entry } from './entry.ts';

/** One run in memory: what is shown of it, and what only the next crash asks for. */
export interface KnownRun {
  readonly row: RunRow;
  readonly good: boolean;
  readonly ingredients: Readonly<Record<string, string>> | null;
}

/** The component of a run whose beginning was never recorded: its id says so. */
export const ownerOf = (run: RunId): ComponentName => componentOfRun(run) ?? (run.split('~')[0] as ComponentName);

/** When an end arrives without its beginning, this is the best that can be said about the beginning. */
export const begunBefore = (ended: RunEnded): WallMs => Math.round(ended.at - ended.uptimeMs) as WallMs;

const unknownRun = (run: RunId, begunAt: WallMs): KnownRun => ({
  row: { run, component: ownerOf(run), begunAt, endedAt: null, pid: null, exit: null, planned: null, logOffset: null },
  good: false,
  ingredients: null,
});

/** The runs an entry says something about, as they stand after it. */
export function runsAfter(entry: Entry, known: (run: RunId) => KnownRun | undefined): readonly KnownRun[] {
  const changed = new Map<RunId, KnownRun>();
  const current = (run: RunId, begunAt: WallMs) => changed.get(run) ?? known(run) ?? unknownRun(run, begunAt);
  const { runBegun, runPid, runEnded, recordedAt } = entry;
  if (runBegun !== undefined) {
    const { row, good } = current(runBegun.run, runBegun.at);
    const { run, component, at: begunAt, logOffset, ingredients } = runBegun;
    changed.set(run, { row: { ...row, component, begunAt, logOffset }, good, ingredients });
  }
  if (runPid !== undefined) {
    const before = current(runPid.run, recordedAt);
    changed.set(runPid.run, { ...before, row: { ...before.row, pid: runPid.pid } });
  }
  if (runEnded !== undefined) {
    const before = current(runEnded.run, begunBefore(runEnded));
    changed.set(runEnded.run, before.row.endedAt === null ? ended(before, runEnded) : before);
  }
  return [...changed.values()];
}

/** The first record of an end stays: a second one comes from a daemon that found the same end again. */
function ended(before: KnownRun, { at: endedAt, exit, planned, good }: RunEnded): KnownRun {
  return { ...before, good, row: { ...before.row, endedAt, exit, planned } };
}
