/** Our own agents on this machine: started by the process driver in a place of their own, with a log each. */

import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import type { HomePaths } from '../base/home.ts';
import { programFile } from '../base/program-file.ts';
import type { SpawnProblem } from '../base/pure/exit.ts';
import type { RunId } from '../base/pure/ids.ts';
import { isMissing } from '../base/regular-file.ts';
import { DEFAULTS } from '../config/defaults.ts';
import { ingredients, specHash } from '../config/fingerprint.ts';
import { type ResolvedConfig, readEnvFileTexts } from '../config/load.ts';
import { collectEvidence, createExaminer, secretsOf } from '../crashes/evidence.ts';
import { type Environment, launchRun, withSocket } from '../drivers/launch-run.ts';
import { createProcessDriver } from '../drivers/process/process-driver.ts';
import { createSampler } from '../drivers/process/usage/sampler.ts';
import type { Store } from '../history/ports.ts';
import { fileLogs } from '../logs/file-logs.ts';
import { type LogKeeper, openLogKeeper } from '../logs/keep/keeper.ts';
import { createHeartbeatSources } from '../probes/heartbeat/sources.ts';
import { HeldLogs } from '../probes/log/log-file.ts';
import { createLogWatch, type LogWatch } from '../probes/log/log-watch.ts';
import type { ProcessDriver, ProcessInfo, ProcessLaunch } from '../supervision/ports/driver.ts';
import { agentSpec } from './agent-spec.ts';
import { type OwnAgents, superviseAgents } from './agent-supervisor.ts';
import type { AgentSupervisorParts } from './one-agent.ts';
import { runOfAgent } from './rules/step.ts';
import { type AgentsSpec, isOver } from './spec.ts';

export interface OursParts
  extends Pick<AgentSupervisorParts, 'log' | 'failpoints' | 'incidentService' | 'record' | 'fatal'> {
  readonly paths: HomePaths;
  readonly env: Environment;
  /** The environment that agents inherit. */
  readonly base: Readonly<Record<string, string>>;
  readonly softNofile: number | null;
  /** Where we listen: for agents that say by themselves how they are. */
  readonly socket: string;
  readonly store: Store;
  config(): ResolvedConfig;
  tell(type: string, data: Readonly<Record<string, unknown>>): void;
  /** What is really started for a task: itself, unless somebody simulates its crash. */
  launchOf?<L extends ProcessLaunch | SpawnProblem>(task: string, launch: L): L;
}

export interface Ours {
  readonly agents: OwnAgents;
  readonly driver: ProcessDriver;
  /** The processes of all that live. */
  processes(): Promise<readonly ProcessInfo[]>;
  /** Those that the history does not remember any more go, and what they wrote. */
  tidy(): void;
  /** Lets go of everything; no agent is touched. */
  close(): Promise<void>;
}

const agentHome = ({ home }: Pick<HomePaths, 'home'>): string => join(home, 'agents');
/** Where the runs of agents are, as those of components are in `runs`. */
export const agentRuns = (paths: Pick<HomePaths, 'home'>): string => join(agentHome(paths), 'runs');

/** Whether earlier daemons left something to look after, whatever the configuration says now. */
export const hasPast = ({ paths, store }: Pick<OursParts, 'paths' | 'store'>): boolean =>
  !isMissing(agentRuns(paths)) || store.agents().some(({ state }) => !isOver(state));

/** Takes over what earlier daemons left, and begins what is due. */
export async function openOurs(parts: OursParts, spec: AgentsSpec): Promise<Ours> {
  const { paths, env, log, failpoints, softNofile, store, base, config } = parts;
  const logsDir = paths.agentLogs;
  const home = agentHome(paths);
  for (const dir of [logsDir, agentRuns(paths), join(home, 'trash')]) mkdirSync(dir, { recursive: true, mode: 0o700 });
  const isRunning = (name: string) =>
    agents.records().some((record) => record.name === name && runOfAgent(record.state) !== null);
  const holds = new HeldLogs();
  const logs = await openLogKeeper({
    ...{ dir: logsDir, clock: systemClock, log, failpoints, isRunning },
    freeRule: DEFAULTS.logs.minFree,
    keeping: () => config().agents.types[0]?.logs ?? DEFAULTS.logs,
    bounds: () => config().logs,
    tell: parts.tell,
    holdStill: holds.holdStill,
  });
  const logPath = ({ name }: { readonly name: string }): string => join(logsDir, `${name}.log`);
  const logEnd = ({ name }: { readonly name: string }): number => logs.end(name);
  const watch = createLogWatch({
    ...{ logPath, log, holds, workerFile: programFile('pattern-worker.cjs') },
    place: (path, position) => logs.place(path, position),
  });
  const driver: ProcessDriver = createProcessDriver({
    ...{ home, clock: systemClock, failpoints, log, softNofile },
    runsDir: agentRuns(paths),
    trashDir: join(home, 'trash'),
    cgroup: env['KEEPWELL_CGROUP'] === 'off' ? 'off' : 'auto',
    shim: env['KEEPWELL_SHIM'] === 'sh' ? 'sh' : 'auto',
    ...(env['KEEPWELL_SHIM_DELAY'] ? { shimDelay: env['KEEPWELL_SHIM_DELAY'] } : {}),
  });
  const agents = superviseAgents(
    {
      ...{ driver, clock: systemClock, random: Math.random, log, failpoints },
      sampler: createSampler({ runsDir: agentRuns(paths) }),
      heartbeatSources: createHeartbeatSources({
        prober: watch,
        logPath: ({ spec: of }) => logPath(of),
        logEnd: ({ spec: of }) => logEnd(of),
      }),
      logFrom: (of, run) => store.run(run)?.logOffset ?? logEnd(of),
      examine: createExaminer({
        ...{ driver, logs: fileLogs(logsDir), logEnd },
        secretsOf: (of) => secretsOf(of, base, config().secrets),
      }),
      ...{ incidentService: parts.incidentService, record: parts.record, fatal: parts.fatal },
      isRecorded: (run: RunId) => store.run(run)?.endedAt != null,
      launch: (record, type, run) => {
        logs.runBegins(record.name, run);
        const of = agentSpec(record, type);
        const launch = launchRun(of, run, 'first', logsDir, withSocket(of, base, parts.socket));
        const own = launch as ProcessLaunch | SpawnProblem; // agents are processes
        return parts.launchOf?.(record.task, own) ?? own;
      },
      begun: (record, type) => {
        const of = agentSpec(record, type);
        const made = ingredients(of, readEnvFileTexts(of.driver.envFiles));
        return { specHash: specHash(of), ingredients: made, logOffset: logs.end(record.name) };
      },
      evidence: (record, type, exit, at) =>
        collectEvidence({
          ...{ spec: agentSpec(record, type), exit, at, logsDir, base, history: store, specs: [] },
          secrets: config().secrets,
          whose: `agent ${record.type}`,
        }),
    },
    store.agents(),
    spec,
  );
  logs.begin();
  return {
    agents: agents,
    driver,
    processes: () => processesOf(agents, driver),
    tidy: () => tidy(agents, store, logsDir, config().store.retentionMs),
    close: () => close(agents, logs, watch, driver),
  };
}

async function processesOf(agents: OwnAgents, driver: ProcessDriver): Promise<readonly ProcessInfo[]> {
  const runs = agents.records().flatMap(({ state }) => runOfAgent(state) ?? []);
  return (await Promise.all(runs.map((run) => driver.survivors(run)))).flat();
}

/** A history that was lost is no reason to lose what agents wrote as well: only what is old goes. */
function tidy(agents: OwnAgents, store: Store, logsDir: string, keepMs: number): void {
  const remembered = new Set(store.agents().map(({ name }) => name));
  const gone = agents.records().filter(({ name, state }) => isOver(state) && !remembered.has(name));
  agents.forget(new Set(gone.map(({ name }) => name)));
  const known = new Set<string>([...remembered, ...agents.records().map(({ name }) => name)]);
  for (const file of readdirSync(logsDir)) {
    // Names of agents have no dots: what follows the first one says which part of the log it is.
    if (known.has(file.slice(0, file.indexOf('.')))) continue;
    const path = join(logsDir, file);
    if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < systemClock.wallNow() - keepMs)
      rmSync(path, { force: true });
  }
}

async function close(agents: OwnAgents, logs: LogKeeper, watch: LogWatch, driver: ProcessDriver): Promise<void> {
  agents.close();
  await watch.close();
  await logs[Symbol.asyncDispose]();
  await driver.close();
}
