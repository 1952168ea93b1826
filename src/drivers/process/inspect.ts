/** A look at the run directories that changes nothing: for a daemon that starts, and for the CLI when there is none. */
import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { meansGone } from '../../base/pure/errno.ts';
import type { ExitCause } from '../../base/pure/exit.ts';
import {
  type BootId,
  type ComponentName,
  componentOfRun,
  RUN_ID_PATTERN,
  type RunId,
  type WallMs,
} from '../../base/pure/ids.ts';
import type { FoundRun } from '../../supervision/ports/driver.ts';
import type { SeenRun } from '../../supervision/rules/unsupervised.ts';
import { isOfBoot } from './adopt.ts';
import { isProblem, verdict } from './exit-cause.ts';
import { readExit } from './exit-record.ts';
import { isAlive, sameProcess } from './proc.ts';
import { readMeta, readStarted } from './run-dir.ts';
import { cgroupMembers, isRunCgroup, oomKills } from './tree/cgroup.ts';
import { ProcScan } from './tree/proc-scan.ts';

/**
 * Newest first: run ids of one component sort by time, so the time in them is compared. Throws when they cannot be listed just now.
 * One that cannot be read counts as of this boot: it may be alive, and whoever adopts it reads it again.
 */
export function findRuns(runsDir: string, bootId: BootId): readonly FoundRun[] {
  return runIds(runsDir).map((run) => {
    const dir = join(runsDir, run);
    const component = componentOfRun(run) as ComponentName;
    try {
      const meta = readMeta(dir);
      return { run, component, specHash: meta?.spec_hash ?? '', sameBoot: isOfBoot(dir, meta, bootId) };
    } catch {
      return { run, component, specHash: '', sameBoot: true };
    }
  });
}

function runIds(runsDir: string): readonly RunId[] {
  let names: readonly string[];
  try {
    names = readdirSync(runsDir);
  } catch (error) {
    if (meansGone(error)) return [];
    throw error;
  }
  const time = (run: string): string => run.slice(run.lastIndexOf('~') + 1);
  const runs = names.filter((name): name is RunId => RUN_ID_PATTERN.test(name));
  return runs.sort((a, b) => (time(a) < time(b) ? 1 : -1));
}

export type InspectedRun = Omit<SeenRun, 'leftovers' | 'facts' | 'unreachable'>;

/** Read-only; also safe while a daemon runs. */
export function inspectRuns(runsDir: string, bootId: BootId): readonly InspectedRun[] {
  return findRuns(runsDir, bootId).map((found) => {
    const { run, component } = found;
    try {
      return inspectRun(join(runsDir, run), found);
    } catch (error) {
      const nothing = { pid: null, alive: false, exit: null, exitAt: null, limits: [] };
      return { run, component, ...nothing, unknown: (error as Error).message };
    }
  });
}

function inspectRun(dir: string, { run, component, sameBoot }: FoundRun): InspectedRun {
  const main = readStarted(dir);
  const alive = sameBoot && main !== null && sameProcess(main.pid, main.startTime);
  const exit = alive ? null : recordedExit(dir);
  const exitAt = exit && writtenAt(join(dir, 'exit'));
  const limits = readMeta(dir)?.limits ?? [];
  return { run, component, pid: main?.pid ?? null, alive, unknown: null, exit, exitAt, limits };
}

/** What lives on of runs whose main process is gone: pids by run, found by cgroup or by cookie. Rejects when that is not known just now. */
export async function leftoversOf(
  runsDir: string,
  runs: readonly InspectedRun[],
): Promise<ReadonlyMap<RunId, readonly number[]>> {
  const gone = runs.filter(({ alive, unknown }) => !alive && unknown === null);
  const seen = gone.length === 0 ? [] : await new ProcScan().look(0);
  return new Map(
    gone.map(({ run }) => {
      const cgroup = readMeta(join(runsDir, run))?.cgroup ?? null;
      const members = cgroup !== null && isRunCgroup(cgroup, run) ? cgroupMembers(cgroup) : [];
      const marked = seen.filter((each) => each.cookie === run && isAlive(each));
      return [run, [...new Set([...members, ...marked].map(({ pid }) => pid))]];
    }),
  );
}

function writtenAt(path: string): WallMs | null {
  const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return written === undefined ? null : (written as WallMs);
}

function recordedExit(dir: string): ExitCause | null {
  const record = readExit(dir);
  if (!record) return null;
  const meta = readMeta(dir);
  const counted = [meta?.cgroup ?? '', ...(meta?.limit_cgroups ?? [])].filter((path) =>
    isRunCgroup(path, basename(dir) as RunId),
  );
  const wasOomKilled = counted.some((path) => oomKills(path) > 0);
  const outcome = verdict(record, { meta, hadMain: readStarted(dir) !== null, wasOomKilled });
  return isProblem(outcome) ? { kind: 'spawn-failed', problem: outcome } : outcome;
}
