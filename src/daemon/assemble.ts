/** Puts a daemon together: the history, the edges, the supervisor, and the control that everybody talks to. */
import { dirname, join } from 'node:path';
import { ingredients, specHash } from '../config/fingerprint.ts';
import type { ResolvedConfig } from '../config/load.ts';
import { readEnvFileTexts } from '../config/load.ts';
import type { ComponentSpec } from '../core/component.ts';
import type { LogKeepingView } from '../core/views.ts';
import { fileLogs } from '../logs/file-logs.ts';
import type { Control } from '../ports/control.ts';
import type { Failpoints } from '../ports/failpoints.ts';
import type { Log } from '../ports/log.ts';
import type { Stalls } from '../ports/stalls.ts';
import type { Desired } from '../ports/store.ts';
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts';
import { Supervisor } from '../supervisor/supervisor.ts';
import { systemClock } from '../supervisor/system-clock.ts';
import { saveApplied } from './configuration.ts';
import { type ControlParts, createControl, EventBus } from './control.ts';
import { readDesired, saveDesired } from './desired.ts';
import { openEdges } from './edges.ts';
import { collectEvidence } from './evidence.ts';
import type { HomePaths } from './home.ts';
import { keepLogs } from './keep-logs.ts';
import { baseEnvironment, type Environment, launchRun } from './launch-run.ts';
import { readConfig } from './read-config.ts';
import { straySpec } from './stray-spec.ts';

export interface AssembleOptions extends Pick<ControlParts, 'end' | 'daemon'> {
  readonly paths: HomePaths;
  readonly config: ResolvedConfig;
  /** The configuration is in no file: it stays as it is, also for `up` and `reload`. */
  readonly isFixed: boolean;
  readonly env: Environment;
  readonly log: Log;
  readonly failpoints: Failpoints;
  readonly softNofile: number | null;
  readonly stalls: Stalls;
  /** Ends this process; see Supervisor. */
  fatal(error: unknown): void;
  /** For the event that says this daemon has begun. */
  readonly about: Readonly<Record<string, unknown>>;
  /** What is wanted of a component that nobody has ever said anything about. */
  readonly wantNew: Desired;
}

export interface Assembled {
  readonly supervisor: Supervisor;
  readonly control: Control;
  /** Writes what is kept beside the history once more. */
  save(): void;
  /** 'ok', or what is wrong with the history. */
  storeHealth(): string;
  logKeeping(): LogKeepingView;
  /** Lets go of everything; no component is touched. */
  close(): Promise<void>;
}

/** Opens the store, the driver and the supervisor, and takes over whatever earlier daemons left. The caller holds the lock. */
export async function assemble(options: AssembleOptions): Promise<Assembled> {
  const { paths, env, log, failpoints } = options;
  let { config } = options;
  const events = new EventBus(log);
  const store = await openSqliteStore({ path: paths.db, log, failpoints, clock: systemClock, onEvent: events.publish });
  failpoints.hit('daemon.store-open');
  const base = baseEnvironment(env);
  const logPath = ({ name }: Pick<ComponentSpec, 'name'>) => join(paths.logs, `${name}.log`);
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
    holdStill,
    close: closeEdges,
  } = openEdges(options, base, logPath, (path, position) => keeper.place(path, position));
  const supervisor = new Supervisor({
    clock: systemClock,
    random: Math.random,
    driver,
    prober,
    stalls: options.stalls,
    sampler,
    store,
    log,
    failpoints,
    logEnd: (spec) => keeper.end(spec.name),
    specHash,
    ingredients: (spec) => ingredients(spec, readEnvFileTexts(spec.driver.envFiles)),
    straySpec,
    launch: (spec, run, attempt) => {
      if (spec.driver.kind === 'process') keeper.runBegins(spec.name, run);
      else keeper.watch(spec.name);
      return launchRun(spec, run, attempt, paths.logs, base);
    },
    evidence: (spec, exit) => collectEvidence({ spec, exit, logsDir: paths.logs, base, history: store }),
    publish: events.publish,
    fatal: options.fatal,
  });
  supervisor.tell('daemon.started', options.about);
  const desired = readDesired(paths);
  supervisor.open(config.components, (name) => desired.get(name) ?? options.wantNew);
  keeper.begin();
  const wanted = () => saveDesired(paths, supervisor.desired(), log);
  const save = () => {
    wanted();
    saveApplied(paths, config, log);
  };
  save();
  const control = createControl({
    supervisor,
    store,
    log,
    logs: fileLogs(paths.logs),
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
    },
    wanted,
  });
  return {
    supervisor,
    control,
    save,
    storeHealth: () => store.health(),
    logKeeping: () => keeper.view(),
    close: async () => {
      supervisor.close();
      await keeper[Symbol.asyncDispose]();
      await closeEdges();
      store.close();
    },
  };
}
