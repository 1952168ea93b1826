/** The truth without a daemon: what the records say, corrected by what /proc, the run directories and the Docker Engine show right now. */

import { existsSync, readFileSync } from 'node:fs';
import { systemClock } from '../base/clock.ts';
import { type DaemonFile, type HomePaths, homePaths, type Project, readDaemonFile } from '../base/home.ts';
import { describeExit, exitView, isClean } from '../base/pure/exit.ts';
import { secretValues } from '../base/pure/redact.ts';
import { loadConfig } from '../config/load.ts';
import { unrecordedDeath } from '../crashes/unrecorded-death.ts';
import { createEngine } from '../docker/engine.ts';
import { type InspectedContainer, inspectContainers } from '../drivers/container/inspect.ts';
import type { Environment } from '../drivers/launch-run.ts';
import { type InspectedRun, inspectRuns, leftoversOf } from '../drivers/process/inspect.ts';
import { sameProcess } from '../drivers/process/proc.ts';
import { peekProcFile } from '../drivers/process/proc-file.ts';
import { straySpec } from '../drivers/stray-spec.ts';
import { openMemoryStore } from '../history/memory.ts';
import type { History } from '../history/ports.ts';
import { openHistory } from '../history/sqlite/history.ts';
import type { ComponentRecord } from '../supervision/ports/store.ts';
import type { ContainerFacts } from '../supervision/rules/container-health.ts';
import { NO_PROBES, ROLES } from '../supervision/rules/health/probe.ts';
import { newHealth } from '../supervision/rules/health/run-health.ts';
import { type Component, INITIAL } from '../supervision/rules/lifecycle/state.ts';
import { componentView, runOf } from '../supervision/rules/status.ts';
import { restore } from '../supervision/rules/time.ts';
import type { ComponentView, DaemonView, StatusView, WhyView } from '../supervision/rules/views.ts';
import { DAEMON_SILENT, NO_DAEMON } from '../supervision/rules/wellbeing.ts';
import { type ComponentSpec, runsInContainer } from '../supervision/spec.ts';
import { readLastEnd } from './guardian.ts';
import { unwritable } from './until-writable.ts';

/** `leftovers`: processes of the run that outlived its main process. */
type SeenRun = (InspectedRun | InspectedContainer) & { readonly leftovers: readonly number[] };

export interface Offline {
  status(): StatusView;
  /** A death that only its run directory knows of: no daemon has recorded it yet. Null: there is none. */
  unrecordedDeath(name: string): WhyView | null;
  readonly history: History;
  close(): void;
}

export async function openOffline(project: Project, env: Environment): Promise<Offline> {
  const paths = homePaths(project.home);
  const { history, problem, close } = await openRecords(paths);
  const { name, specs, secrets } = readSpecs(project, env);
  const runs = await lookAtRuns(paths, env, () => [...secretValues(definedOf(env)), ...secrets]);
  return {
    history,
    close,
    status: () => {
      const daemon = { ...daemonView(paths), store: problem };
      const components = componentViews(specs, history, runs, daemon.running);
      return { schema_version: 1, project: name, daemon, components };
    },
    unrecordedDeath: (component) => {
      const spec = specs.find((one) => one.name === component);
      const record = history.components().find((one) => one.name === component);
      const options = { logsDir: paths.logs, base: definedOf(env), secrets, specs, history };
      return spec && record ? unrecordedDeath({ spec, record, runs, ...options }) : null;
    },
  };
}

async function lookAtRuns(
  paths: HomePaths,
  env: Environment,
  secrets: () => readonly string[],
): Promise<readonly SeenRun[]> {
  const clock = systemClock;
  const found = inspectRuns(paths.runs, clock.bootId);
  const leftovers = await leftoversOf(paths.runs, found).catch((error: unknown) => error as Error);
  const runs = leftovers instanceof Error ? found.map((run) => doubted(run, leftovers)) : found;
  const containers = await inspectContainers({
    dir: paths.containers,
    engine: createEngine({ env, clock, secrets }),
    clock,
  });
  return [
    ...runs.map((run) => ({ ...run, leftovers: leftovers instanceof Error ? [] : (leftovers.get(run.run) ?? []) })),
    ...containers.map((run) => ({ ...run, leftovers: [] })),
  ];
}

/** Its main process is gone, and whether anything of it lives on could not be looked at. */
const doubted = (run: InspectedRun, { message }: Error): InspectedRun =>
  run.alive ? run : { ...run, unknown: run.unknown ?? message };

interface Records {
  readonly history: History;
  /** Why the records cannot be read; null: they can. */
  readonly problem: string | null;
  close(): void;
}

/** Nothing recorded yet is an answer too, and so is what the run directories say when the records cannot be read. */
async function openRecords(paths: HomePaths): Promise<Records> {
  const empty = openMemoryStore({ clock: systemClock });
  if (!existsSync(paths.db)) return { history: empty, problem: null, close: () => empty.close() };
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
    const { name, components, secrets } = loadConfig({ files: project.files, env });
    return { name, specs: components, secrets };
  } catch {
    return { name: project.home, specs: [], secrets: [] };
  }
}

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

function componentViews(
  specs: readonly ComponentSpec[],
  history: History,
  runs: readonly SeenRun[],
  hasDaemon: boolean,
): readonly ComponentView[] {
  const records = new Map(history.components().map((record) => [record.name, record]));
  const named = new Set(specs.map(({ name }) => name));
  const strays = [
    ...new Set([
      ...records.keys(),
      ...runs.filter(({ alive, unknown }) => alive || unknown !== null).map(({ component }) => component),
    ]),
  ]
    .filter((name) => !named.has(name))
    .map(straySpec);
  return [...specs, ...strays].map((spec) => view(spec, records.get(spec.name) ?? null, runs, hasDaemon));
}

function view(
  spec: ComponentSpec,
  record: ComponentRecord | null,
  runs: readonly SeenRun[],
  hasDaemon: boolean,
): ComponentView {
  const now = systemClock.now();
  const stored = record ? restore(record.component, record.bootId, systemClock.bootId, now) : INITIAL;
  const own = runOf(stored.state);
  const seen = runs.find(({ run, component }) => (own === null ? component === spec.name : run === own));
  const isOurs = spec.driver.kind !== 'external';
  const container = seen && 'facts' in seen ? seen.facts : null;
  const { component, note, lastExit } = isOurs ? correct(stored, seen, hasDaemon) : unwatched(stored, hasDaemon);
  const facts = {
    spec,
    component,
    desired: record?.desired ?? ('stopped' as const),
    adopted: false,
    startedAt: record?.startedAt ?? null,
    lastRestart: record?.lastRestart ?? null,
    lastExit: lastExit ?? record?.lastExit ?? null,
    unmet: Object.keys(spec.dependsOn),
    survivors: [],
    treeMechanism: null,
    probes: [],
    heartbeat: null,
    sample: null,
    condition: null,
    limits: seen?.alive ? seen.limits : [],
    container,
  };
  const shown = componentView(facts, { now, wall: systemClock.wallNow() });
  // Nobody asks its probes now, so what they said last is not known to be true.
  const isUnasked = isOurs && ROLES.every((role) => spec.probes[role] === null);
  const isDoubted = seen != null && seen.unknown !== null;
  const isKnown = isUnasked && !isDoubted && isBelieved(spec, seen, container);
  const health = isKnown ? {} : ({ health: 'unknown', ready: false } as const);
  const condition = isDoubted ? ({ condition: 'not-known' } as const) : {};
  return { ...shown, ...health, ...condition, next_attempt_at: null, note: note ?? shown.note };
}

/** Of a container only what Docker says of it right now, and only that it is well. */
function isBelieved({ driver }: ComponentSpec, seen: SeenRun | undefined, container: ContainerFacts | null): boolean {
  if (!runsInContainer(driver) || !seen) return true;
  if ('unreachable' in seen && seen.unreachable !== null) return false;
  return container === null || container.health.status === 'none' || container.health.status === 'healthy';
}

/** What others started may be there or not: only a daemon looks. */
const unwatched = (stored: Component, hasDaemon: boolean): Corrected => ({
  component: stored,
  note: `not watched: ${noDaemon(hasDaemon)}`,
  lastExit: null,
});

const noDaemon = (hasDaemon: boolean): string => (hasDaemon ? DAEMON_SILENT : NO_DAEMON);

interface Corrected {
  readonly component: Component;
  readonly note: string | null;
  readonly lastExit: ComponentRecord['lastExit'];
}

/** The record says what was; the run directory and /proc say what is. */
function correct(stored: Component, seen: SeenRun | undefined, hasDaemon: boolean): Corrected {
  const { state, counters } = stored;
  const nobody = noDaemon(hasDaemon);
  if (seen && 'unreachable' in seen && seen.unreachable !== null)
    return { component: stored, note: `as it was last recorded: ${seen.unreachable}; ${nobody}`, lastExit: null };
  if (seen && seen.unknown !== null)
    return {
      component: stored,
      note: `not known: its state cannot be read (${seen.unknown}); ${nobody}`,
      lastExit: null,
    };
  if (seen?.alive && seen.pid !== null) {
    const startedAt = state.kind === 'running' || state.kind === 'stopping' ? state.startedAt : systemClock.now();
    const running = {
      kind: 'running',
      run: seen.run,
      pid: seen.pid,
      startedAt,
      attempt: 'first',
      daemonised: false,
      health: newHealth(NO_PROBES, startedAt),
    } as const;
    return { component: { state: running, counters }, note: `alive, but ${nobody}`, lastExit: null };
  }
  if (seen && seen.leftovers.length > 0) {
    const startedAt = systemClock.now();
    const alive = {
      kind: 'running',
      run: seen.run,
      pid: null,
      startedAt,
      attempt: 'first',
      daemonised: true,
      health: newHealth(NO_PROBES, startedAt),
    } as const;
    const note = `its main process is gone, but processes of it live on: ${seen.leftovers.join(', ')}; ${nobody}`;
    return { component: { state: alive, counters }, note, lastExit: null };
  }
  const pending = state.kind === 'backing-off' || state.kind === 'waiting' || state.kind === 'gave-up';
  if (pending) return { component: stored, note: `nothing will be started: ${nobody}`, lastExit: null };
  if (runOf(state) === null) return { component: stored, note: null, lastExit: null };
  const exit = seen?.exit ? exitView(seen.exit) : null;
  const how = exit ? describeExit(exit) : 'it is gone, its exit code is not known yet';
  const crash = state.kind !== 'stopping' && seen?.exit != null && !isClean(seen.exit);
  const lastExit = exit && { at: seen?.exitAt ?? systemClock.wallNow(), exit, crash };
  return { component: { state: { kind: 'stopped' }, counters }, note: `${how}; ${nobody}`, lastExit };
}
