/** A look at the run directories that changes nothing: for a daemon that starts, and for the CLI when there is none. */
import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ExitCause } from '../../core/exit.ts';
import {
  type BootId,
  type ComponentName,
  componentOfRun,
  RUN_ID_PATTERN,
  type RunId,
  type WallMs,
} from '../../core/ids.ts';
import type { LimitView } from '../../core/views.ts';
import type { FoundRun } from '../../ports/driver.ts';
import { isOfBoot } from './adopt.ts';
import { readExit } from './exit-record.ts';
import { isAlive, sameProcess } from './proc.ts';
import { readMeta, readStarted } from './run-dir.ts';
import { cgroupMembers, isRunCgroup, oomKills } from './tree/cgroup.ts';
import { ProcScan } from './tree/proc-scan.ts';
import { isProblem, verdict } from './verdict.ts';

/** Newest first: run ids of one component sort by time, so the time in them is compared. */
export function findRuns(runsDir: string, bootId: BootId): readonly FoundRun[] {
  return runIds(runsDir).map((run) => {
    const dir = join(runsDir, run);
    const meta = readMeta(dir);
    const component = componentOfRun(run) as ComponentName;
    return { run, component, specHash: meta?.spec_hash ?? '', sameBoot: isOfBoot(dir, meta, bootId) };
  });
}

function runIds(runsDir: string): readonly RunId[] {
  let names: readonly string[];
  try {
    names = readdirSync(runsDir);
  } catch {
    return [];
  }
  const time = (run: string): string => run.slice(run.lastIndexOf('~') + 1);
  const runs = names.filter((name): name is RunId => RUN_ID_PATTERN.test(name));
  return runs.sort((a, b) => (time(a) < time(b) ? 1 : -1));
}

export interface InspectedRun {
  readonly run: RunId;
  readonly component: ComponentName;
  /** Null while, or because, no main process began. */
  readonly pid: number | null;
  readonly alive: boolean;
  /** What the shim recorded; null while it runs, and when nobody recorded anything. */
  readonly exit: ExitCause | null;
  /** When that was recorded. */
  readonly exitAt: WallMs | null;
  /** What it was bound to. */
  readonly limits: readonly LimitView[];
}

/** Read-only; also safe while a daemon runs. */
export function inspectRuns(runsDir: string, bootId: BootId): readonly InspectedRun[] {
  return findRuns(runsDir, bootId).map(({ run, component, sameBoot }) => {
    const dir = join(runsDir, run);
    const main = readStarted(dir);
    const alive = sameBoot && main !== null && sameProcess(main.pid, main.startTime);
    const exit = alive ? null : recordedExit(dir);
    const limits = readMeta(dir)?.limits ?? [];
    return {
      run,
      component,
      pid: main?.pid ?? null,
      alive,
      exit,
      exitAt: exit && writtenAt(join(dir, 'exit')),
      limits,
    };
  });
}

/** What lives on of runs whose main process is gone: pids by run, found by cgroup or by cookie. */
export async function leftoversOf(
  runsDir: string,
  runs: readonly InspectedRun[],
): Promise<ReadonlyMap<RunId, readonly number[]>> {
  const gone = runs.filter(({ alive }) => !alive);
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
