/**
 * The root: puts a daemon together, from top to bottom. Whoever needs something that comes later gets it then, by `begin` or as a
 * listener: of events (`subscribe`), or of another configuration (`onConfig`).
 */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { agentCircumstances } from '../agents/agent-spec.ts';
import { openAgentParts } from '../agents/open.ts';
import type { Control } from '../api/control.ts';
import { systemClock } from '../base/clock.ts';
import type { HomePaths } from '../base/home.ts';
import { AppError } from '../base/pure/errors.ts';
import { redact, secretValues } from '../base/pure/redact.ts';
import type { Runtime } from '../base/runtime.ts';
import type { Stalls } from '../base/stall-watch.ts';
import { untilKnown } from '../base/until-known.ts';
import { campaignArchive } from '../campaigns/archive.ts';
import { openChecks } from '../checks/open.ts';
import { CurrentConfig } from '../config/applied.ts';
import { DEFAULTS } from '../config/defaults.ts';
import { ingredients, specHash } from '../config/fingerprint.ts';
import { type ResolvedConfig, readEnvFileTexts } from '../config/load.ts';
import { collectEvidence, createExaminer, secretsOf } from '../crashes/evidence.ts';
import { Overview } from '../dashboard/overview.ts';
import { ownerId } from '../docker/owner-id.ts';
import { removeContainers } from '../drivers/container/left.ts';
import { baseEnvironment, type Environment, launchRun, withSocket } from '../drivers/launch-run.ts';
import { openDrivers, prepareDrivers } from '../drivers/open.ts';
import { straySpec } from '../drivers/stray-spec.ts';
import { switchedFleetStore } from '../fleet/store/switched.ts';
import { placeStore } from '../history/place.ts';
import { createRecorder, createTeller } from '../history/recorder.ts';
import { openSqliteStore } from '../history/sqlite/sqlite-store.ts';
import { openIncidents } from '../incidents/open.ts';
import type { ClusterEngine } from '../kubernetes/open.ts';
import { fileLogs } from '../logs/file-logs.ts';
import { logFile } from '../logs/format.ts';
import { openLogKeeper } from '../logs/keep/keeper.ts';
import { createHeartbeatSources } from '../probes/heartbeat/sources.ts';
import { HeldLogs } from '../probes/log/log-file.ts';
import { openSessions } from '../sessions/in-daemon.ts';
import { openSimulations } from '../simulate/open.ts';
import { openRehearsals } from '../simulate/rehearsals.ts';
import { openDesired } from '../supervision/desired-file.ts';
import { EventBus } from '../supervision/event-bus.ts';
import { restartLog } from '../supervision/journal.ts';
import type { Desired } from '../supervision/ports/store.ts';
import { configurationView } from '../supervision/rules/configuration-view.ts';
import { runOf } from '../supervision/rules/status.ts';
import type { DaemonView } from '../supervision/rules/views.ts';
import type { ComponentSpec } from '../supervision/spec.ts';
import { Supervisor } from '../supervision/supervisor.ts';
import { measuringProber, switchedTelemetry } from '../telemetry/switched.ts';
import { type ControlParts, createControl } from './control.ts';
import { openProbes } from './probes.ts';

export interface AssembleOptions extends Pick<Runtime, 'log' | 'failpoints'>, Pick<ControlParts, 'end' | 'daemon'> {
  readonly paths: HomePaths;
  readonly config: ResolvedConfig;
  /** The configuration is in no file: it stays as it is, also for `up` and `reload`. */
  readonly isFixed: boolean;
  readonly env: Environment;
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
  /** Where the page is; see Control. */
  readonly dashboard: Control['dashboard'];
}

/** Incidents that a screen has room for. */
const MAX_SHOWN = 100;

/** How a daemon ends: stopping its components first, and removing what was made for them, or leaving them to the next one. */
export type Ending = 'stop' | 'down' | 'down-remove' | 'handover';

export interface Assembled {
  readonly control: Control;
  /** For what is opened around it: the configuration in force, who wants to know of another, and events of the daemon. */
  readonly around: {
    config(): ResolvedConfig;
    onConfig(listener: () => void): void;
    tell(type: string, data: Readonly<Record<string, unknown>>): void;
  };
  /** What `status` says of the daemon beside its process. */
  view(): Pick<DaemonView, 'store' | 'logs' | 'sessions' | 'alerts' | 'fleet'>;
  /** As Prometheus text; null: nobody asked for that. */
  metrics(): Promise<string> | null;
  /** Writes what is kept beside the history once more. */
  save(): void;
  /** Stops what this ending stops, and tells of it. Resolves with the ids of sessions that could not be ended. */
  end(how: Ending): Promise<readonly string[]>;
  /** Lets go of everything; no component is touched. */
  close(): Promise<void>;
}

/** Opens the store, the driver and the supervisor, and takes over whatever earlier daemons left. The caller holds the lock. */
export async function assemble(options: AssembleOptions): Promise<Assembled> {
  const { paths, env, log, failpoints, stalls, socket, softNofile, hosted, wantNew, fatal } = options;
  const runtime: Runtime = { clock: systemClock, log, random: Math.random, failpoints };
  const prepared = prepareDrivers(options);
  const cluster = await openEngine(options, runtime);
  const configuration = new CurrentConfig({ ...options, first: options.config, prepare: cluster?.prepare ?? onlyHere });
  const config = configuration.current;
  const events = new EventBus(log);
  const place = await placeStore(paths, config().store.path, log);
  const store = await openSqliteStore({
    ...{ ...runtime, path: place.path, onEvent: events.publish },
    retentionMs: () => config().store.retentionMs,
  });
  failpoints.hit('daemon.store-open');
  const fleet = switchedFleetStore({ ...runtime, home: paths.home, store });
  configuration.subscribe(fleet.apply);
  const write = createRecorder(store, events.publish, fleet.noted);
  const tell = createTeller(write, runtime.clock);
  const base = baseEnvironment(env);
  /** What every room gets. */
  const context = {
    ...{ ...runtime, paths, env, base, softNofile, stalls, fatal, store, tell },
    ...{ config, onConfig: configuration.subscribe, subscribe: events.subscribe },
  };

  const holds = new HeldLogs();
  const keeper = await openLogKeeper({
    ...{ ...context, dir: paths.logs, holdStill: holds.holdStill, freeRule: DEFAULTS.logs.minFree },
    keeping: (name) => configuration.component(name)?.logs ?? DEFAULTS.logs, // it may have left the configuration
    bounds: () => config().logs,
    isRunning: (name) =>
      store.components().some((record) => record.name === name && runOf(record.component.state) !== null),
  });
  const logPath = ({ name }: Pick<ComponentSpec, 'name'>) => join(paths.logs, logFile(name));
  const logEnd = ({ name }: Pick<ComponentSpec, 'name'>) => keeper.end(name);
  const logs = fileLogs(paths.logs);
  const knownSecrets = (spec: ComponentSpec) => secretsOf(spec, base, config().secrets);
  const baseSecrets = secretValues(base);

  await prepared;
  const drivers = openDrivers({
    ...{ ...context, logEnd: (name) => keeper.end(name), logGap: (name, span) => keeper.gap(name, span) },
    project: () => config().name,
    secrets: () => [...new Set([...baseSecrets, ...config().secrets])],
  });
  const { sampler, commands, engine, containers } = drivers;
  const driver = cluster?.driver(drivers.driver, config) ?? drivers.driver;
  const probes = openProbes({
    ...{ ...context, ...drivers, driver, holds, logPath, secretsOf: knownSecrets },
    place: (path, position) => keeper.place(path, position),
  });
  const { prober } = probes;

  const telemetry = switchedTelemetry({ env, hosted, log, instance: paths.home, history: store });
  events.subscribe(telemetry.told);
  events.subscribe(restartLog(log));
  configuration.subscribe(telemetry.apply);

  const rehearsals = openRehearsals(store);
  events.subscribe(rehearsals.told);
  const incidents = openIncidents({
    ...{ ...context, commands, write, shared: fleet, simulated: rehearsals.simulated, aboutAgent: agentCircumstances },
  });
  const { record, incidentService, alerts, tickets } = incidents;

  const supervisor = new Supervisor({
    ...{ ...context, driver, sampler, record, logEnd, specHash, straySpec },
    prober: measuringProber(prober, telemetry.probed),
    heartbeatSources: createHeartbeatSources({
      prober,
      logPath: ({ spec }) => logPath(spec),
      logEnd: ({ spec }) => logEnd(spec),
    }),
    examine: createExaminer({ driver, logs, logEnd, secretsOf: knownSecrets }),
    ingredients: (spec) => ingredients(spec, readEnvFileTexts(spec.driver.envFiles)),
    launch: (spec, run, attempt) => {
      if (spec.driver.kind !== 'external') keeper.runBegins(spec.name, run);
      else keeper.watch(spec.name);
      const launch = launchRun(spec, run, attempt, paths.logs, withSocket(spec, base, socket));
      return rehearsals.launchOf(spec, launch);
    },
    evidence: (spec, death, specs) => {
      const { secrets } = config();
      return collectEvidence({ ...death, spec, specs, logsDir: paths.logs, base, secrets, history: store });
    },
  });
  const components = () => supervisor.views();
  telemetry.begin({ components, daemon: () => daemonReadings(options.daemon()) }, config());
  await untilKnown('which runs earlier daemons left', () => driver.found(), log);
  tell('daemon.started', options.about);
  const desired = await untilKnown('what was stopped by hand', () => openDesired(paths, log), log);
  supervisor.open(config().components, (name) => {
    const kept = desired.kept.get(name);
    return { desired: kept ?? wantNew, isNewer: desired.isNewer && kept !== undefined };
  });
  keeper.begin();
  incidents.begin(supervisor);
  const wanted = () => desired.save(supervisor.desired(), store.health() === 'ok');
  const save = () => {
    wanted();
    configuration.save();
  };
  save();

  const health = openChecks({
    ...{ ...context, record, observer: telemetry.checks },
    prober: () => Promise.resolve(prober),
    engine: () => Promise.resolve(engine),
    components: () => Promise.resolve(components()),
  });
  const sessions = openSessions({ ...context, record, containers, incidentService });
  const agents = await openAgentParts({
    ...{ ...context, record, incidentService, alerts, components, socket, launchOf: rehearsals.agentLaunchOf },
    logEnd: (name) => keeper.end(name),
    supervises: !hosted || wantNew === 'running',
  });
  const simulations = openSimulations({ ...context, rehearsals, driver, incidentService, supervisor, agents });
  const overview = new Overview({
    ...{ ...runtime, history: store, subscribe: events.subscribe, components, daemon: options.daemon },
    project: () => config().name,
    incidents: () => incidentService.incidents({ state: 'open', limit: MAX_SHOWN }),
    samples: (query) => supervisor.samples(query),
  });
  const control = createControl({
    overview: () => overview.view(),
    configuration: (name) => {
      const spec = configuration.component(name);
      return spec ? configurationView(spec, (text) => redact(text, knownSecrets(spec))) : null;
    },
    dashboard: options.dashboard,
    ...{ supervisor, store, logs, health, sessions, agents, tickets, wanted, config: configuration },
    ...{
      incidents: incidentService,
      alerts,
      simulate: simulations.crash,
      campaigns: campaignArchive(store, paths.home),
    },
    ...{ subscribe: events.subscribe, daemon: options.daemon, end: options.end },
    check: async (wanted) => cluster?.dryRun(wanted),
    refuse: () => cluster?.refuseStandby(),
  });

  fleet.begin({ incidents: incidentService, alerts, status: () => control.status() }, config());
  let isDown = false;
  return {
    control,
    around: { config, onConfig: configuration.subscribe, tell },
    save,
    view: () => ({
      store: store.health(),
      logs: keeper.view(),
      sessions: sessions.summary(),
      alerts: alerts.lost(),
      fleet: fleet.health(),
    }),
    metrics: () => telemetry.metrics(),
    end: async (how) => {
      isDown = how === 'down' || how === 'down-remove';
      // Components and agents come back with the next daemon, sessions cannot: a lease is only cut short by whoever takes everything down.
      // What runs on a cluster needs no daemon to go on.
      const isLeft = how === 'handover' || (cluster !== null && !isDown);
      if (!isLeft) await supervisor.shutDown();
      if (how !== 'handover') await agents.stopAll({ again: !isDown });
      const left = isDown ? (await sessions.close({ stopAll: true })).map(({ id }) => id) : [];
      if (how === 'down-remove') await removeContainers(containers, log);
      if (isDown) await cluster?.removeAll();
      tell('daemon.ended', { how: isDown ? 'down' : how, ...(left.length > 0 ? { sessions_ending: left } : {}) });
      return left;
    },
    close: async () => {
      await Promise.all([health.close(), sessions.close(), agents.close()]);
      await Promise.all([incidents.close(), fleet.close({ isDown })]);
      supervisor.close();
      const toldAll = telemetry.close();
      await keeper[Symbol.asyncDispose]();
      await cluster?.close();
      await Promise.all([probes.close(), drivers.close()]);
      store.close();
      place[Symbol.dispose]();
      await toldAll;
    },
  };
}

/** Null: components run on this machine, and nothing of Kubernetes is loaded. */
async function openEngine({ config, env, paths }: AssembleOptions, runtime: Runtime): Promise<ClusterEngine | null> {
  if (config.engine === 'local') return null;
  const { openCluster } = await import('../kubernetes/open.ts');
  const me = `${hostname()}-${ownerId(paths.home)}`;
  return openCluster({ ...runtime, env, dir: join(paths.home, 'kubernetes'), me, config });
}

function onlyHere(config: ResolvedConfig): ResolvedConfig {
  if (config.engine !== 'local') throw new AppError('ENGINE_CHANGED', { asked: config.engine, running: 'local' });
  return config;
}

const daemonReadings = ({ loop_delay_ms, started_at }: DaemonView) => ({
  loopDelayMs: loop_delay_ms ?? 0,
  startedAt: Date.parse(started_at ?? ''),
});
