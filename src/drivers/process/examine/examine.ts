/**
 * What the processes of a run do, seen over a few seconds: whether they work, are stopped or wait, and for what. Evidence for the
 * dossier of a run that is about to be ended, so it is bounded in time and size, and what cannot be seen is said.
 */
import type { SignalName } from '../../../base/pure/exit.ts';
import type { Findings } from '../../../supervision/rules/freeze/freeze.ts';
import { after } from '../../../base/pure/ids.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Identity } from '../proc.ts';
import { Pace } from '../usage/pace.ts';
import { type Activity, activityOf, isSame, type Looks, lookAt } from './activity.ts';
import { describeProcess } from './describe-process.ts';
import { busyText, stoppedText } from './judge.ts';
import { socketTables } from './sockets.ts';

export interface ExamineOptions {
  readonly tree: ExaminedTree;
  readonly dump: SignalName | null;
  readonly clock: Clock;
  /** Ends the looking early. */
  readonly signal: AbortSignal;
}

/** As much of a tree as is needed here. */
export interface ExaminedTree {
  readonly main: Identity | null;
  members(): Promise<readonly Identity[]>;
  signalOnlyMain(signal: SignalName): void;
}

/** One look every half second, for three: enough to tell who works from who waits. */
const LOOKS = 7;
const LOOK_EVERY_MS = 500;
/** More are counted, and not described. */
const MAX_DESCRIBED = 20;

export const NOTHING_TO_SEE: Findings = {
  busy: null,
  stopped: null,
  evidence: ['none of its processes could be examined'],
};

export const cannotSee = (error: unknown): Findings => ({
  ...NOTHING_TO_SEE,
  evidence: [`its processes could not be examined: ${(error as Error).message}`],
});

export async function examine({ tree, dump, clock, signal }: ExamineOptions): Promise<Findings> {
  const pace = new Pace();
  const members = await tree.members();
  if (dump !== null) tree.signalOnlyMain(dump);
  const looks: Looks[] = [];
  const began = clock.now();
  for (let number = 0; number < LOOKS && !signal.aborted; number++) {
    if (number > 0) await clock.sleepUntil(after(clock.now(), LOOK_EVERY_MS), signal).catch(() => {});
    looks.push(await lookAt(members, pace));
  }
  const windowMs = Math.max(1, clock.now() - began);
  const activity = members.flatMap((member) => activityOf(member, looks) ?? []);
  const { main } = tree;
  const sorted = [...activity].sort((a, b) => rank(a, main) - rank(b, main) || b.usedMs - a.usedMs);
  return {
    busy: busyText(sorted, windowMs, looks.length),
    stopped: stoppedText(sorted, main),
    evidence: await describe(sorted, main, windowMs, pace),
  };
}

/** The main process first, then who does most. */
const rank = (activity: Activity, main: Identity | null): number => (main && isSame(activity, main) ? 0 : 1);

async function describe(
  sorted: readonly Activity[],
  main: Identity | null,
  windowMs: number,
  pace: Pace,
): Promise<readonly string[]> {
  if (sorted.length === 0) return ['none of its processes is there'];
  const tables = socketTables(sorted[0]!.pid);
  const lines: string[] = [];
  for (const activity of sorted.slice(0, MAX_DESCRIBED)) {
    const isMain = main !== null && isSame(activity, main);
    lines.push(...describeProcess(activity, { isMain, windowMs, tables }));
    await pace.breathe();
  }
  if (sorted.length > MAX_DESCRIBED) lines.push(`and ${sorted.length - MAX_DESCRIBED} more processes`);
  return lines;
}
