/** Puts a daemon together: the history, the edges, the supervisor, and the control that everybody talks to. */
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { agentCircumstances } from '../agents/agent-spec.ts';
import { openAgentParts } from '../agents/open.ts';
import type { DaemonAgents } from '../agents/service.ts';
import type { Control } from '../api/control.ts';
import { systemClock } from '../base/clock.ts';
import type { Failpoints } from '../base/failpoints.ts';
import type { HomePaths } from '../base/home.ts';
import type { Log } from '../base/log.ts';
import { secretValues } from '../base/pure/redact.ts';
import type { Stalls } from '../base/stall-watch.ts';
import { campaignArchive } from '../campaigns/archive.ts';
import { NO_RUN } from '../checks/ask.ts';
import { HealthSchedule } from '../checks/schedule.ts';
import { createHealthReports } from '../checks/service.ts';
import { DEFAULTS } from '../config/defaults.ts';
import { ingredients, specHash } from '../config/fingerprint.ts';
import { type ResolvedConfig, readEnvFileTexts } from '../config/load.ts';
import { readConfig } from '../config/read-config.ts';
import { collectEvidence, secretsOf } from '../crashes/evidence.ts';
import { createExaminer } from '../crashes/examine.ts';
import { baseEnvironment, type Environment, launchRun, withSocket } from '../drivers/launch-run.ts';
import { straySpec } from '../drivers/stray-spec.ts';
import { placeStore } from '../history/place.ts';
import { openSqliteStore } from '../history/sqlite/sqlite-store.ts';
import { openIncidents } from '../incidents/open.ts';
import { fileLogs } from '../logs/file-logs.ts';
import { type LogKeeper, type LogKeeperOptions, openLogKeeper } from '../logs/keep/keeper.ts';
import { createHeartbeatSources } from '../probes/heartbeat/sources.ts';
import { type DaemonSessions, openSessions } from '../sessions/in-daemon.ts';
import { openSimulations } from '../simulate/open.ts';
import { openRehearsals } from '../simulate/rehearsals.ts';
import { EventBus } from '../supervision/event-bus.ts';
import { restartLog } from '../supervision/journal.ts';
import type { Desired } from '../supervision/ports/store.ts';
import type { DaemonView, LogKeepingView } from '../supervision/rules/views.ts';
import type { ComponentSpec, LogKeeping } from '../supervision/spec.ts';
import { Supervisor } from '../supervision/supervisor.ts';
import { measuringProber } from '../telemetry/measuring-prober.ts';
import { switchedTelemetry } from '../telemetry/switched.ts';
import { saveApplied } from './configuration.ts';
import { type ControlParts, createControl } from './control.ts';
import { openDesired } from './desired.ts';
import { openEdges } from './edges.ts';
import { removeContainers } from './left-containers.ts';

export interface AssembleOptions extends Pick<ControlParts, 'end' | 'daemon'> {
  readonly paths: HomePaths;
  readonly config: ResolvedConfig;
  /** The configuration is in no file: it stays as it is, also for `up` and `reload`. */
  readonly isFixed: boolean;
  readonly env: Environment;
  readonly log: Log;
  readonly failpoints: Failpoints;
  readonly softNofile: number | null;
  /** Where we listen: for components that say by themselves how they are. */
  readonly socket: string;
  readonly stalls: Stalls;
  /** Ends this process; see Supervisor. */
  fatal(error: unknown): void;
  /** A part of another program, as with the library. */
  readonly hosted: boolean;
  /** For the event that says this daemon has begun. */
  readonly about: Readonly<Record<string, unknown>>;
  /** What is wanted of a component that nobody has ever said anything about. */
  readonly wantNew: Desired;
}

export interface Assembled {
  readonly supervisor: Supervisor;
  readonly control: Control;
  readonly sessions: DaemonSessions;
  readonly agents: DaemonAgents;
  /** Writes what is kept beside the history once more. */
  save(): void;
  /** 'ok', or what is wrong with the history. */
  storeHealth(): string;
  logKeeping(): LogKeepingView;
  /** Which alerts did not arrive; null: all did. */
  alertsLost(): string | null;
  /** As Prometheus text; null: nobody asked for that. */
  metrics(): Promise<string> | null;
  /** Removes the stopped containers and the networks of this project. What does not work is logged. Never rejects. */
  removeContainers(): Promise<void>;
  /** Lets go of everything; no component is touched. */
  close(): Promise<void>;
}

/** Opens the store, the driver and the supervisor, and takes over whatever earlier daemons left. The caller holds the lock. */
export async function assemble(options: AssembleOptions): Promise<Assembled> {
  const { paths, env, log, failpoints, stalls } = options;
  let { config } = options;
  const events = new EventBus(log);
  const place = await placeStore(paths, config.store.path, log);
  const store = await openSqliteStore({
    path: place.path,
    log,
    failpoints,
    clock: systemClock,
    onEvent: events.publish,
    retentionMs: () => config.store.retentionMs,
  });
  failpoints.hit('daemon.store-open');
  const base = baseEnvironment(env);
  const baseSecrets = secretValues(base);
  const logPath = ({ name }: Pick<ComponentSpec, 'name'>) => join(paths.logs, `${name}.log`);
  const knownSecrets = (spec: ComponentSpec) => secretsOf(spec, base, config.secrets);
  const keeper = await keepLogs({
    dir: paths.logs,
    log,
    failpoints,
    config: () => config,
    holdStill: (path) => holdStill(path),
    tell: (type, data) => supervisor.tell(type, data),
    isRunning: (name) => supervisor.views().some((view) => view.name === name && view.pid !== null),
  });
  const {
    driver,
    prober,
    sampler,
    engine,
    containers,
    commands,
    holdStill,
    close: closeEdges,
  } = openEdges(options, base, {
    logPath,
    logEnd: (name) => keeper.end(name),
    logGap: (name, span) => keeper.gap(name, span),
    place: (path, position) => keeper.place(path, position),
    project: () => config.name,
    secretsOf: knownSecrets,
    secrets: () => [...new Set([...baseSecrets, ...config.secrets])],
  });
  const telemetry = switchedTelemetry({
    env,
    hosted: options.hosted,
    log,
    instance: paths.home,
    components: () => supervisor.views(),
    daemon: () => daemonReadings(options.daemon()),
    history: store,
  });
  telemetry.apply(config);
  events.subscribe(telemetry.told);
  events.subscribe(restartLog(log));
  const rehearsals = openRehearsals(store);
  events.subscribe(rehearsals.told);
  const cases = openIncidents({
    ...{ store, log, failpoints, commands },
    env: base,
    config: () => config,
    standings: () => supervisor.standings(),
    publish: events.publish,
    aboutAgent: agentCircumstances,
    simulated: rehearsals.simulated,
  });
  const supervisor = new Supervisor({
    clock: systemClock,
    random: Math.random,
    driver,
    prober: measuringProber(prober, telemetry.probed),
    stalls,
    sampler,
    store,
    log,
    failpoints,
    logEnd: (spec) => keeper.end(spec.name),
    heartbeatSources: createHeartbeatSources({
      prober,
      logPath: ({ spec }) => logPath(spec),
      logEnd: ({ spec }) => keeper.end(spec.name),
    }),
    examine: createExaminer({
      driver,
      logs: fileLogs(paths.logs),
      logEnd: (spec) => keeper.end(spec.name),
      secretsOf: knownSecrets,
    }),
    specHash,
    ingredients: (spec) => ingredients(spec, readEnvFileTexts(spec.driver.envFiles)),
    straySpec,
    launch: (spec, run, attempt) => {
      if (spec.driver.kind !== 'external') keeper.runBegins(spec.name, run);
      else keeper.watch(spec.name);
      const launch = launchRun(spec, run, attempt, paths.logs, withSocket(spec, base, options.socket));
      return rehearsals.launchOf(spec, launch);
    },
    evidence: (spec, exit, at, specs) => {
      const { secrets } = config;
      return collectEvidence({ spec, exit, at, specs, logsDir: paths.logs, base, secrets, history: store });
    },
    record: cases.record,
    fatal: options.fatal,
  });
  await untilKnown('which runs earlier daemons left', () => driver.found(), log);
  supervisor.tell('daemon.started', options.about);
  const desired = openDesired(paths, log);
  supervisor.open(config.components, (name) => {
    const kept = desired.kept.get(name);
    return { desired: kept ?? options.wantNew, isNewer: desired.isNewer && kept !== undefined };
  });
  keeper.begin();
  cases.begin();
  const wanted = () => desired.save(supervisor.desired(), store.health() === 'ok');
  const save = () => {
    wanted();
    saveApplied(paths, config, log);
  };
  save();
  const health = createHealthReports({
    clock: systemClock,
    stalls,
    whose: 'the daemon',
    env,
    prober: () => Promise.resolve(prober),
    engine: () => Promise.resolve(engine),
    target: NO_RUN,
    components: () => Promise.resolve(supervisor.views()),
    observer: telemetry.checks,
    current: () => config,
  });
  const sessions = openSessions({
    ...{ containers, store, log, failpoints },
    spec: config.sessions,
    record: cases.record,
    incidentService: cases.incidentService,
    secrets: () => config.secrets,
  });
  const agents = await openAgentParts({
    ...{ paths, env, base, log, failpoints, store },
    ...{ incidentService: cases.incidentService, alerts: cases.alerts, softNofile: options.softNofile },
    record: cases.record,
    launchOf: rehearsals.agentLaunchOf,
    config: () => config,
    components: () => supervisor.views(),
    subscribe: (listener) => events.subscribe(listener),
    tell: (type, data) => supervisor.tell(type, data),
    logEnd: (name) => keeper.end(name),
    supervises: !options.hosted || options.wantNew === 'running',
    fatal: options.fatal,
  });
  const simulations = openSimulations({
    ...{ paths, rehearsals, driver, clock: systemClock, incidentService: cases.incidentService, supervisor, agents },
    config: () => config,
    subscribe: (listener) => events.subscribe(listener),
  });
  const schedule = new HealthSchedule({ clock: systemClock, reports: health, store, log, record: cases.record });
  schedule.set(config.health.everyMs);
  const control = createControl({
    supervisor,
    store,
    log,
    logs: fileLogs(paths.logs),
    health,
    sessions,
    agents,
    simulate: simulations.crash,
    incidents: cases.incidentService,
    tickets: cases.tickets,
    campaigns: campaignArchive(store, paths.home),
    events,
    files: config.files,
    read: options.isFixed
      ? () => Promise.resolve(config)
      : () => readConfig({ files: config.files, env, cwd: dirname(config.files[0]!) }),
    current: () => config,
    daemon: options.daemon,
    end: options.end,
    applied: (fresh) => {
      config = fresh;
      saveApplied(paths, fresh, log);
      telemetry.apply(fresh);
      schedule.set(fresh.health.everyMs);
      sessions.use(fresh.sessions);
      agents.use(fresh.agents);
      cases.use(fresh);
    },
    wanted,
  });
  return {
    supervisor,
    control,
    sessions,
    agents,
    save,
    metrics: () => telemetry.metrics(),
    storeHealth: () => store.health(),
    logKeeping: () => keeper.view(),
    alertsLost: () => cases.alerts.lost(),
    removeContainers: () => removeContainers(containers, log),
    close: async () => {
      schedule[Symbol.dispose]();
      await Promise.all([health.close(), sessions.close(), agents.close()]);
      await cases.close();
      supervisor.close();
      const toldAll = telemetry.close();
      await keeper[Symbol.asyncDispose]();
      await closeEdges();
      store.close();
      place[Symbol.dispose]();
      await toldAll;
    },
  };
}

const daemonReadings = ({ loop_delay_ms, started_at }: DaemonView) => ({
  loopDelayMs: loop_delay_ms ?? 0,
  startedAt: Date.parse(started_at ?? ''),
});

// What has to be known before a daemon may begin is asked for until it is: whoever began without it would take what is alive for gone.

const AGAIN_MS = 500;

export async function untilKnown(what: string, ask: () => unknown, log: Log): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      ask();
      if (tries > 1) log.info('it is known now', { what, tries });
      return;
    } catch (error) {
      if (tries === 1) log.error('not known now; asking again until it is', { what, error: String(error) });
      await pause(AGAIN_MS);
    }
  }
}

// Opens the keeper of the logs with what the configuration says about each.

export interface KeepLogsOptions
  extends Pick<LogKeeperOptions, 'dir' | 'log' | 'failpoints' | 'holdStill' | 'tell' | 'isRunning'> {
  /** As it is now. */
  config(): ResolvedConfig;
}

export function keepLogs({ config, ...rest }: KeepLogsOptions): Promise<LogKeeper> {
  let known: { readonly of: ResolvedConfig; readonly keeping: ReadonlyMap<string, LogKeeping> } | null = null;
  const keeping = (name: string): LogKeeping => {
    const current = config();
    if (known?.of !== current)
      known = { of: current, keeping: new Map(current.components.map(({ name: one, logs }) => [one, logs])) };
    return known.keeping.get(name) ?? DEFAULTS.logs; // it left the configuration
  };
  return openLogKeeper({
    ...rest,
    clock: systemClock,
    freeRule: DEFAULTS.logs.minFree,
    keeping,
    bounds: () => config().logs,
  });
}
