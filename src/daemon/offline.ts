/** The truth without a daemon: what the records say, corrected by what /proc, the run directories and the Docker Engine show right now. */

import { readFileSync } from 'node:fs';
import { recordedAgents } from '../agents/recorded.ts';
import { type RecordsClient, recordsClient } from '../api/answers.ts';
import type { Records } from '../api/control.ts';
import { systemClock } from '../base/clock.ts';
import { type DaemonFile, type HomePaths, homePaths, type Project, readDaemonFile } from '../base/home.ts';
import { secretValues } from '../base/pure/redact.ts';
import { isMissing } from '../base/regular-file.ts';
import { unwritable } from '../base/until-writable.ts';
import { loadConfig } from '../config/load.ts';
import { unrecordedDeath } from '../crashes/evidence.ts';
import { createEngine } from '../docker/engine.ts';
import { inspectAll } from '../drivers/inspect.ts';
import type { Environment } from '../drivers/launch-run.ts';
import { sameProcess } from '../drivers/process/proc.ts';
import { peekProcFile } from '../drivers/process/proc-file.ts';
import { straySpec } from '../drivers/stray-spec.ts';
import { openMemoryStore } from '../history/memory.ts';
import type { History } from '../history/ports.ts';
import { openHistory } from '../history/sqlite/history.ts';
import { recordedTickets } from '../incidents/tickets/recorded.ts';
import { recordedSessions } from '../sessions/recorded.ts';
import { strayNames, unsupervisedView } from '../supervision/rules/unsupervised.ts';
import type { ComponentView, DaemonView, StatusView } from '../supervision/rules/views.ts';
import type { ComponentSpec } from '../supervision/spec.ts';
import { readLastEnd } from './guardian.ts';

export interface Offline extends RecordsClient {
  close(): void;
}

export async function openOffline(project: Project, env: Environment): Promise<Offline> {
  const paths = homePaths(project.home);
  const { history, problem, close } = await openRecords(paths);
  const { name, specs, secrets } = readSpecs(project, env);
  const clock = systemClock;
  const known = () => [...secretValues(definedOf(env)), ...secrets];
  const runs = await inspectAll(paths, createEngine({ env, clock, secrets: known }), clock);
  const views = (hasDaemon: boolean): readonly ComponentView[] => {
    const { bootId } = systemClock;
    const instant = { now: systemClock.now(), wall: systemClock.wallNow(), bootId, hasDaemon };
    const components = history.components();
    const records = new Map(components.map((record) => [record.name, record]));
    const all = [...specs, ...strayNames(specs, components, runs).map(straySpec)];
    return all.map((spec) => unsupervisedView(spec, records.get(spec.name) ?? null, runs, instant));
  };
  const status = (): StatusView => {
    const daemon = { ...daemonView(paths), store: problem };
    return { schema_version: 1, project: name, daemon, components: views(daemon.running) };
  };
  const records: Records = {
    status,
    history,
    component: (one) => status().components.find((component) => component.name === one) ?? null,
    samples: (query) => history.samples(query),
    sessions: recordedSessions(history),
    agents: recordedAgents(history, systemClock.wallNow()),
    incidents: history,
    tickets: recordedTickets(history),
    unrecordedDeath: (component) => {
      const spec = specs.find((one) => one.name === component);
      const record = history.components().find((one) => one.name === component);
      const options = { logsDir: paths.logs, base: definedOf(env), secrets, specs, history };
      return spec && record ? unrecordedDeath({ spec, record, runs, ...options }) : null;
    },
  };
  return { ...recordsClient(records), close };
}

interface Recorded {
  readonly history: History;
  /** Why the records cannot be read; null: they can. */
  readonly problem: string | null;
  close(): void;
}

/** Nothing recorded yet is an answer too, and so is what the run directories say when the records cannot be read. */
async function openRecords(paths: HomePaths): Promise<Recorded> {
  const empty = openMemoryStore({ clock: systemClock });
  if (isMissing(paths.db)) return { history: empty, problem: null, close: () => empty.close() };
  try {
    const history = await openHistory(paths.db);
    return { history, problem: null, close: () => history.close() };
  } catch (error) {
    return { history: empty, problem: (error as Error).message, close: () => empty.close() };
  }
}

/** The configuration is only needed for names and dependencies here: one with mistakes in it must not hide the truth. */
function readSpecs(project: Project, env: Environment): Specs {
  try {
    const { name, components, secrets, engine } = loadConfig({ ...project, env });
    return { name, specs: engine === 'local' ? components : components.map(elsewhere), secrets };
  } catch {
    return { name: project.home, specs: [], secrets: [] };
  }
}

/** Only the daemon asks the cluster: without it nothing is known of what runs there. */
const elsewhere = (spec: ComponentSpec): ComponentSpec =>
  spec.driver.kind === 'external'
    ? spec
    : {
        ...spec,
        driver: { ...spec.driver, kind: 'kubernetes', workload: 'Deployment', object: spec.name, objects: [] },
      };

interface Specs {
  readonly name: string;
  readonly specs: readonly ComponentSpec[];
  readonly secrets: readonly string[];
}

const definedOf = (env: Environment): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));

/** A daemon that hangs is there all the same: it holds the project. */
function daemonView(paths: HomePaths): DaemonView {
  const file = readDaemonFile(paths);
  const alive = file !== null && file.boot_id === systemClock.bootId && isThereStill(file);
  return {
    running: alive,
    answers: false,
    pid: alive ? file.pid : null,
    version: alive ? file.version : null,
    started_at: alive ? file.started_at : null,
    store: null,
    loop_delay_ms: null,
    ...(alive ? { guardian_pid: null } : comesBack(paths)),
    ...(!alive && file?.boot_id === systemClock.bootId ? waitsFor(paths) : {}),
    logs: null,
    sessions: null,
    alerts: null,
    fleet: null,
  };
}

/** A daemon that died is brought back by its guardian, at a time that this one wrote down. */
function comesBack(paths: HomePaths): Pick<DaemonView, 'guardian_pid' | 'next_start_at'> {
  const end = readLastEnd(paths);
  if (end === null || end.nextStartMs === null || !isGuardian(end.guardian, paths)) return { guardian_pid: null };
  const uptimeMs = Number.parseFloat(readFileSync('/proc/uptime', 'utf8')) * 1_000;
  const at = systemClock.wallNow() + Math.max(0, end.nextStartMs - uptimeMs);
  return { guardian_pid: end.guardian, next_start_at: new Date(at).toISOString() };
}

function waitsFor({ home }: HomePaths): Pick<DaemonView, 'waits_for'> {
  const problem = unwritable(home);
  return { waits_for: problem === null ? null : `the state directory ${home} cannot be written: ${problem}` };
}

/** Pids get reused, so it must also carry our state directory among its arguments. */
const isGuardian = (pid: number | null, { home }: HomePaths): boolean =>
  pid !== null && (peekProcFile(`/proc/${pid}/cmdline`)?.includes(`${home}/guardian.sh`) ?? false);

/** What cannot be looked at just now is there: to be wrong about that would be worse. */
function isThereStill({ pid, start_time }: DaemonFile): boolean {
  try {
    return sameProcess(pid, start_time);
  } catch {
    return true;
  }
}
