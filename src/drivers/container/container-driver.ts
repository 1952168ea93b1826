/** The driver of containers: begins, watches and ends runs as containers of the Docker Engine. It decides nothing about restarts. */
import { setMaxListeners } from 'node:events';
import type { Clock } from '../../base/clock.ts';
import type { ExitCause, SignalName } from '../../base/pure/exit.ts';
import type { ComponentName, RunId } from '../../base/pure/ids.ts';
import { isMissing } from '../../base/regular-file.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { Composer } from '../../compose/ports.ts';
import type { ContainerObservation, ContainerWatch } from '../../docker/container-watch.ts';
import type { EngineClient } from '../../docker/ports.ts';
import type {
  ComposeLaunch,
  ContainerDriver,
  ContainerLaunch,
  FoundRun,
  ProcessInfo,
  Reporter,
} from '../../supervision/ports/driver.ts';
import type { ContainerFacts } from '../../supervision/rules/container-health.ts';
import type { Findings } from '../../supervision/rules/freeze/freeze.ts';
import type { Condition, LimitView } from '../../supervision/rules/views.ts';
import type { DriverSpec } from '../../supervision/spec.ts';
import { NOTHING_TO_SEE } from '../process/examine/examine.ts';
import { ContainerRun, type RunWorld } from './container-run.ts';
import { Housekeeping } from './housekeeping.ts';
import type { PumpWorld } from './log-pump.ts';
import { limitViews } from './plan.ts';
import { type ContainerRecord, Records } from './record.ts';
import { RestartPolicies } from './restart-policies.ts';

export interface ContainerDriverOptions extends Pick<Runtime, 'clock' | 'log' | 'failpoints'> {
  /** Records of runs and of how far logs are; made when the first container is. */
  readonly dir: string;
  /** The id of the home directory, by which its containers are known. */
  readonly owner: string;
  /** As it is called now, for people. */
  project(): string;
  readonly engine: EngineClient;
  readonly compose: Composer;
  readonly watch: ContainerWatch;
  /** The position behind the last byte of a component's log. */
  logEnd(component: ComponentName): number;
  readonly logGap: PumpWorld['logGap'];
}

export const createContainerDriver = (options: ContainerDriverOptions): ContainerDriver =>
  new WantedContainers(options);

const LOST: ExitCause = { kind: 'unknown', why: 'the record of its run is gone' };

function newRecord(launch: ContainerLaunch | ComposeLaunch, { bootId }: Clock): ContainerRecord {
  const { run, component, specHash, logPath } = launch;
  return {
    ...{ v: 1, run, component, boot_id: bootId, spec_hash: specHash },
    ...{
      log: logPath,
      limits: launch.kind === 'compose' ? [] : limitViews(launch),
      container: null,
      before: null,
      started_at: null,
    },
  };
}

class WantedContainers implements ContainerDriver {
  readonly #options: ContainerDriverOptions;
  readonly #records: Records;
  readonly #runs = new Map<RunId, ContainerRun>();
  readonly #closing = new AbortController();
  readonly #housekeeping: Housekeeping;
  readonly #idle: IdleContainers;
  readonly #policies: RestartPolicies;
  /** Stopped, and meant to be. */
  readonly #letGo = new Set<ComponentName>();
  #isKnown: (component: ComponentName) => boolean = () => true;
  #isCompose: (component: ComponentName) => boolean = () => true;

  constructor(options: ContainerDriverOptions) {
    const { signal: closing } = this.#closing;
    setMaxListeners(0, closing); // one for each wait
    this.#options = options;
    this.#records = new Records(options.dir);
    const isBusy = (component: ComponentName) => this.#isBusy(component);
    this.#idle = new IdleContainers(options.watch);
    const idle = (component: ComponentName, container: string) => this.#idle.add(component, container);
    this.#housekeeping = new Housekeeping({ ...options, closing, isBusy, idle });
    const isKept = (component: ComponentName, container: string) => this.#isKept(component, container);
    this.#policies = new RestartPolicies({ ...options, closing, isKept });
  }

  start(launch: ContainerLaunch | ComposeLaunch, report: Reporter): void {
    if (this.#closing.signal.aborted) return;
    const run = this.#add(newRecord(launch, this.#options.clock), report, true);
    setImmediate(() => void run.begin(launch));
  }

  found(): readonly FoundRun[] {
    const { bootId } = this.#options.clock;
    return this.#records.all().map(({ run, component, spec_hash, boot_id }) => ({
      ...{ run, component, specHash: spec_hash },
      sameBoot: boot_id === bootId,
    }));
  }

  adopt(run: RunId, report: Reporter): void {
    if (this.#closing.signal.aborted) return;
    const record = this.#records.read(run);
    const adopted = record === null ? null : this.#add(record, report, false);
    const at = this.#options.clock.now();
    setImmediate(() => {
      if (adopted) void adopted.adopt();
      else report({ kind: 'exited', at, cause: LOST, leftovers: [] });
    });
  }

  signal(run: RunId, signal: SignalName): void {
    this.#runs.get(run)?.signal(signal);
  }

  killTree(run: RunId): void {
    this.signal(run, 'SIGKILL');
  }

  condition(run: RunId): Condition | null {
    return this.#runs.get(run)?.isBlind ? 'engine-unreachable' : null;
  }

  limits(run: RunId): readonly LimitView[] {
    return this.#runs.get(run)?.record.limits ?? [];
  }

  container(run: RunId): ContainerFacts | null {
    return this.#runs.get(run)?.facts() ?? null;
  }

  async survivors(run: RunId): Promise<readonly ProcessInfo[]> {
    return (await this.#runs.get(run)?.survivors()) ?? [];
  }

  async examine(run: RunId, dump: SignalName | null): Promise<Findings> {
    return (await this.#runs.get(run)?.examine(dump)) ?? NOTHING_TO_SEE;
  }

  release(run: RunId): void {
    const released = this.#runs.get(run);
    this.#runs.delete(run);
    void released?.close();
    this.#records.remove(run);
    if (!released) return;
    const { component, container } = released.record;
    if (this.#letGo.has(component)) this.letGo(component);
    // Of another kind now, it is Compose's, or nobody's: that is known when it is started, or tidied up.
    if (container !== null && !this.#isBusy(component) && !this.#closing.signal.aborted)
      this.#idle.add(component, container);
    if (!this.#isKnown(component)) this.tidy(this.#isKnown, this.#isCompose);
  }

  async isOutdated(run: RunId, spec: DriverSpec): Promise<boolean> {
    return (await this.#runs.get(run)?.isOutdated(spec)) ?? false;
  }

  startedByOthers(component: ComponentName): string | null {
    return this.#isBusy(component) ? null : this.#idle.runningOf(component);
  }

  cleanUp(component: ComponentName, done: (container: string) => void): void {
    this.#housekeeping.cleanUp(component, done);
  }

  letGo(component: ComponentName): void {
    this.#letGo.add(component);
    this.#policies.putBack((of) => of === component);
  }

  tidy(isKnown: (component: ComponentName) => boolean, isCompose: (component: ComponentName) => boolean): void {
    this.#isKnown = isKnown;
    this.#isCompose = isCompose;
    if (isMissing(this.#options.dir)) return; // there never was a container
    this.#housekeeping.tidy(isKnown);
    this.#policies.putBack((component) => !isKnown(component) && !isCompose(component));
  }

  async close(): Promise<void> {
    await this.#policies.idle(); // what is being put back is done within seconds, or is left to the next daemon
    this.#closing.abort();
    this.#idle.close();
    await Promise.all([...this.#runs.values()].map((run) => run.close()));
    this.#runs.clear();
    await this.#housekeeping.idle();
  }

  #add(record: ContainerRecord, report: Reporter, isNew: boolean): ContainerRun {
    const run = new ContainerRun(record, this.#worldOf(), report, isNew);
    this.#runs.set(record.run, run);
    this.#idle.remove(record.component);
    this.#letGo.delete(record.component);
    return run;
  }

  #worldOf(): RunWorld {
    const { dir, owner, engine, compose, watch, clock, log, failpoints, logEnd, logGap, project } = this.#options;
    return {
      ...{
        dir,
        owner,
        engine,
        compose,
        watch,
        clock,
        log,
        failpoints,
        logEnd,
        logGap,
        records: this.#records,
        policies: this.#policies,
      },
      project: project(),
      closing: this.#closing.signal,
    };
  }

  #isKept(component: ComponentName, container: string): boolean {
    const ofIt = [...this.#runs.values()].filter(({ record }) => record.component === component);
    return ofIt.some(({ record }) => record.container === null || record.container === container);
  }

  #isBusy(component: ComponentName): boolean {
    return [...this.#runs.values()].some(({ record }) => record.component === component);
  }
}

// The containers of components that have no run. They belong to us and do not run; should somebody start one by hand, that is said, and
// nothing else is done about it.

interface IdleContainer {
  readonly id: string;
  readonly watching: Disposable;
  /** Its name, while it runs all the same. */
  running: string | null;
}

export class IdleContainers {
  readonly #watch: ContainerWatch;
  readonly #all = new Map<ComponentName, IdleContainer>();

  constructor(watch: ContainerWatch) {
    this.#watch = watch;
  }

  /** No run of this component has that container any more. */
  add(component: ComponentName, id: string): void {
    if (this.#all.get(component)?.id === id) return;
    this.remove(component);
    const watching = this.#watch.watch(id, { seen: (observation) => this.#seen(component, id, observation) });
    this.#all.set(component, { id, watching, running: null });
  }

  /** A run of it begins, or nobody knows the component any more. */
  remove(component: ComponentName): void {
    this.#all.get(component)?.watching[Symbol.dispose]();
    this.#all.delete(component);
  }

  /** The name of a container that runs although nobody here started it; null: there is none. */
  runningOf(component: ComponentName): string | null {
    return this.#all.get(component)?.running ?? null;
  }

  close(): void {
    for (const component of [...this.#all.keys()]) this.remove(component);
  }

  #seen(component: ComponentName, id: string, observation: ContainerObservation): void {
    const idle = this.#all.get(component);
    if (idle?.id !== id) return;
    if (observation.kind === 'missing') this.remove(component);
    else idle.running = observation.state.running ? observation.setup.name : null;
  }
}
