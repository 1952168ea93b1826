/** The driver of components on Kubernetes. It stands before that of this machine, which goes on with everything else. */

import { setMaxListeners } from 'node:events';
import type { ComponentName, RunId } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import { NOTHING_TO_SEE } from '../../drivers/process/examine/examine.ts';
import type { ClusterLaunch, Driver, FoundRun, Reporter } from '../../supervision/ports/driver.ts';
import type { ClusterSpec } from '../../supervision/spec.ts';
import type { Client } from '../client/client.ts';
import { follow } from '../client/follow.ts';
import { leaseName } from '../rules/lease.ts';
import type { RawPod } from '../rules/pods.ts';
import { PodBook } from './book.ts';
import { Leadership, type Term } from './leadership.ts';
import { type ComponentFile, ComponentFiles } from './records.ts';
import { ClusterRun, type RunWorld } from './run.ts';
import { selectorOf, Workloads } from './workload.ts';

export interface ClusterDriverOptions extends Runtime {
  readonly client: Client;
  readonly namespace: string;
  /** As a label. */
  readonly project: string;
  /** Who we are in the Lease of the project. */
  readonly me: string;
  /** Where it is written down what runs follow. */
  readonly dir: string;
  /** As it is configured now; null: it is not, or not on Kubernetes. */
  specOf(component: string): ClusterSpec | null;
  /** Names of all objects that the configuration knows. */
  objects(): ReadonlySet<string>;
  secrets(): readonly string[];
}

export class ClusterDriver {
  readonly #options: ClusterDriverOptions;
  readonly #closing = new AbortController();
  readonly #book: PodBook;
  readonly #files: ComponentFiles;
  readonly #workloads: Workloads;
  readonly #runs = new Map<RunId, ClusterRun>();
  /** Found, made or adopted here. */
  readonly #ours = new Set<RunId>();
  /** Components whose workload may be up. */
  readonly #up = new Set<ComponentName>();
  readonly #chores = new Set<Promise<void>>();
  readonly #lead: Leadership;
  readonly #leading: Promise<void>;
  /** Components that had a run since we took over from another Keepwell. */
  readonly #taken = new Set<string>();

  constructor(options: ClusterDriverOptions) {
    const { client, namespace, project, me, dir, clock, log } = options;
    const { signal } = this.#closing;
    setMaxListeners(0, signal);
    this.#options = options;
    this.#book = new PodBook(log);
    this.#files = new ComponentFiles(dir);
    this.#workloads = new Workloads({ client, namespace, project, signal });
    this.#lead = new Leadership({ client, clock, log, namespace, name: leaseName(project), project, me });
    const told = { began: (term: Term) => this.#watch(term), waits: (why: string) => this.#book.rest(why) };
    this.#leading = this.#lead.run(told, signal);
  }

  /** Who runs the project on the cluster instead of us; null: we do, or it is not known who does. */
  get otherHolder(): string | null {
    return this.#lead.holder;
  }

  /** All pods, for as long as the Lease is ours. */
  async #watch({ signal }: Term): Promise<void> {
    const { client, namespace, project, clock, random } = this.#options;
    this.#taken.clear();
    const labels = selectorOf(project);
    await follow<RawPod>({ client, clock, kind: 'Pod', namespace, labels, random, signal }, this.#book);
    if (!this.#closing.signal.aborted) this.#book.rest(this.#lead.why);
  }

  /** The driver of all: runs on Kubernetes come here, the others go to `local`. */
  before(local: Driver): Driver {
    const ours = (run: RunId) => this.#ours.has(run);
    return {
      ...local,
      get shim() {
        return local.shim;
      },
      treeMechanism: local.treeMechanism,
      start: (launch, report) =>
        launch.kind === 'kubernetes' ? this.#start(launch, report) : local.start(launch, report),
      found: () => [...this.#found(), ...local.found()].sort((a, b) => (a.run < b.run ? 1 : -1)),
      adopt: (run, spec, report) =>
        ours(run) || spec.kind === 'kubernetes' ? this.#adopt(run, report) : local.adopt(run, spec, report),
      signal: (run, signal) => (ours(run) ? this.#stop(run) : local.signal(run, signal)),
      // The kubelet kills what does not end in time; to delete by force would only hide what still runs.
      killTree: (run) => (ours(run) ? this.#stop(run) : local.killTree(run)),
      condition: (run) =>
        ours(run) ? (this.#runs.get(run)?.isBlind ? 'engine-unreachable' : null) : local.condition(run),
      doubt: (run) => (ours(run) ? null : local.doubt(run)),
      container: (run) => (ours(run) ? (this.#runs.get(run)?.facts() ?? null) : local.container(run)),
      isOutdated: async (run, spec) => !ours(run) && (await local.isOutdated(run, spec)),
      limits: (run) => (ours(run) ? [] : local.limits(run)),
      survivors: async (run) => (ours(run) ? [] : local.survivors(run)),
      examine: async (run, dump) => (ours(run) ? NOTHING_TO_SEE : local.examine(run, dump)),
      release: (run) => (ours(run) ? this.#release(run) : local.release(run)),
      cleanUp: (component, done) =>
        this.#options.specOf(component) ? this.#giveUp(component, done) : local.cleanUp(component, done),
      letGo: (component) => {
        this.#letGo(component);
        local.letGo(component);
      },
      tidy: (isKnown, isCompose) => {
        this.#tidy();
        local.tidy(isKnown, isCompose);
      },
      close: async () => {
        await this.close();
        await local.close();
      },
    };
  }

  /** Everything that carries our labels goes; nothing, where another Keepwell runs the project. */
  async removeAll(): Promise<readonly string[]> {
    if (this.#lead.holder !== null) return [];
    const gone = await this.#workloads.remove(() => false);
    await this.#lead.remove(this.#closing.signal);
    return gone;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#runs.values()].map((run) => run.close()));
    await Promise.all([this.#leading, ...this.#chores]);
    this.#options.client.close();
  }

  #start(launch: ClusterLaunch, report: Reporter): void {
    const { component, run, logPath, specHash, spec } = launch;
    const before = this.#files.read(component);
    const { workload, object } = spec;
    const file: ComponentFile = {
      ...{ v: 1, component, run, spec_hash: specHash, workload, object, log: logPath, life: null, written: null },
      // A run that was recorded and not let go of has ended all the same.
      last: before?.life ?? before?.last ?? null,
    };
    const begun = this.#add(file, report);
    this.#up.add(component);
    setImmediate(() => {
      this.#write(file);
      void begun.begin(launch);
    });
  }

  #found(): readonly FoundRun[] {
    return this.#files.all().flatMap(({ run, component, spec_hash }) => {
      if (run === null) return [];
      this.#ours.add(run);
      // A reboot of this machine says nothing about what runs elsewhere.
      return [{ run, component, specHash: spec_hash, sameBoot: true }];
    });
  }

  #adopt(run: RunId, report: Reporter): void {
    const file = this.#files.all().find((each) => each.run === run);
    this.#ours.add(run);
    if (file === undefined) {
      const cause = { kind: 'unknown', why: 'what it followed on Kubernetes was not written down' } as const;
      const at = this.#options.clock.now();
      setImmediate(() => report({ kind: 'exited', at, cause, leftovers: [] }));
      return;
    }
    const adopted = this.#add(file, report);
    this.#up.add(file.component);
    setImmediate(() => adopted.adopt());
  }

  #stop(run: RunId): void {
    const stopped = this.#runs.get(run);
    if (!stopped || stopped.isEnding) return;
    const { component, workload, object } = stopped.file;
    this.#up.delete(component);
    void stopped.stop(this.#options.specOf(component) ?? { workload, object, objects: [] });
  }

  #release(run: RunId): void {
    const released = this.#runs.get(run);
    const file = released?.file ?? this.#files.all().find((each) => each.run === run);
    this.#runs.delete(run);
    this.#ours.delete(run);
    void released?.close();
    // Another run may have been begun already, and then it has taken over what is remembered.
    if (!file || this.#files.read(file.component)?.run !== run) return;
    this.#write({ ...file, run: null, life: null, written: null, last: file.life ?? file.last });
  }

  /** The breaker: Kubernetes would start it for ever. */
  #giveUp(component: ComponentName, done: (container: string) => void): void {
    const spec = this.#options.specOf(component);
    if (!spec) return;
    this.#up.delete(component);
    this.#chore(`take down ${component}, which gave up`, async () => {
      await this.#workloads.rest(spec, 'keepwell gave up on it');
      done(`${spec.workload} ${spec.object}`);
    });
  }

  /** It is stopped, and meant to be. */
  #letGo(component: ComponentName): void {
    const spec = this.#options.specOf(component);
    if (!spec || !this.#up.delete(component)) return;
    this.#chore(`take down ${component}`, () => this.#workloads.rest(spec, 'stopped by keepwell'));
  }

  /** What was made for components that the configuration no longer names goes. */
  #tidy(): void {
    this.#chore('remove what the configuration no longer names', async () => {
      const known = this.#options.objects();
      const busy = new Set([...this.#runs.values()].map(({ file }) => file.object));
      const gone = await this.#workloads.remove((object) => known.has(object) || busy.has(object));
      if (gone.length > 0) this.#options.log.info('removed from Kubernetes', { objects: gone });
      for (const { component, object, run } of this.#files.all())
        if (!known.has(object) && run === null) this.#files.remove(component);
    });
  }

  #add(file: ComponentFile, report: Reporter): ClusterRun {
    const { client, namespace, clock, log, failpoints, secrets } = this.#options;
    const world: RunWorld = {
      ...{ client, namespace, clock, log, failpoints, secrets, book: this.#book, files: this.#files },
      ...{ workloads: this.#workloads, lead: this.#lead, closing: this.#closing.signal },
      watchedUntil: (component) => {
        if (this.#taken.has(component)) return null;
        this.#taken.add(component);
        return this.#lead.watchedUntil;
      },
    };
    const run = new ClusterRun(file, world, report);
    this.#runs.set(file.run!, run);
    this.#ours.add(file.run!);
    return run;
  }

  #write(file: ComponentFile): void {
    try {
      this.#files.write(file);
    } catch (error) {
      this.#options.log.warn('what a run on Kubernetes follows could not be written down', { error: String(error) });
    }
  }

  /** Something to be done on the side: until it is done, or until we end. */
  #chore(what: string, action: () => Promise<void>): void {
    const { clock, log } = this.#options;
    const { signal } = this.#closing;
    const work = async () => {
      for (let waitMs = 2_000; !signal.aborted; waitMs = Math.min(30_000, waitMs * 2)) {
        try {
          await this.#lead.untilHeld(signal);
          await action();
          return;
        } catch (error) {
          if (signal.aborted) return;
          log.warn(`could not ${what}; trying again`, { error: (error as Error).message });
          await clock.sleepUntil((clock.now() + waitMs) as ReturnType<typeof clock.now>, signal).catch(() => {});
        }
      }
    };
    const done = work().finally(() => this.#chores.delete(done));
    this.#chores.add(done);
  }
}
