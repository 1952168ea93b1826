import type { Clock } from '../../src/base/clock.ts';
import type { ExitCause, SignalName, SpawnProblem } from '../../src/base/pure/exit.ts';
import type { RunId } from '../../src/base/pure/ids.ts';
import type { Doubt, Driver, FoundRun, Launch, ProcessInfo, Reporter } from '../../src/supervision/ports/driver.ts';
import type { Findings } from '../../src/supervision/rules/freeze/freeze.ts';

export interface FakeRun {
  readonly launch: Launch;
  readonly report: Reporter;
  readonly signals: SignalName[];
  killed: boolean;
  released: boolean;
  over: boolean;
}

/** A driver without processes: tests say what becomes of each run. Starts are confirmed at once unless told otherwise. */
export class FakeDriver implements Driver {
  readonly treeMechanism = 'fake';
  readonly shim = { kind: 'sh', why: null } as const;
  readonly runs: FakeRun[] = [];
  left: FoundRun[] = [];
  adopted: RunId[] = [];
  /** Why components cannot be started. */
  readonly problems = new Map<string, SpawnProblem>();
  /** What SIGTERM does: end at once, or be ignored. */
  obedient = true;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  start(launch: Launch, report: Reporter): void {
    const problem = this.problems.get(launch.component);
    this.runs.push({ launch, report, signals: [], killed: false, released: false, over: problem !== undefined });
    if (problem) queueMicrotask(() => report({ kind: 'spawn-failed', problem }));
    else queueMicrotask(() => report({ kind: 'started', pid: 100 + this.runs.length, at: this.#clock.now() }));
  }

  of(component: string): readonly FakeRun[] {
    return this.runs.filter(({ launch }) => launch.component === component);
  }
  live(component: string): FakeRun {
    const found = this.of(component).find(({ over }) => !over);
    if (!found) throw new Error(`no live run of ${component}`);
    return found;
  }
  get liveNames(): readonly string[] {
    return this.runs.filter(({ over }) => !over).map(({ launch }) => launch.component);
  }

  die(component: string, cause: ExitCause): void {
    const run = this.live(component);
    run.over = true;
    run.report({ kind: 'exited', at: this.#clock.now(), cause, leftovers: [] });
  }

  found(): readonly FoundRun[] {
    return this.left;
  }
  adopt(run: RunId): void {
    this.adopted.push(run);
  }
  /** Components whose image was built anew. */
  readonly outdated = new Set<string>();
  isOutdated(run: RunId): Promise<boolean> {
    return Promise.resolve(this.outdated.has(this.#find(run)?.launch.component ?? ''));
  }
  startedByOthers(): null {
    return null;
  }
  container(): null {
    return null;
  }
  /** Components whose containers were to go. */
  readonly cleaned: string[] = [];
  cleanUp(component: string, done: (container: string) => void): void {
    this.cleaned.push(component);
    done(`container-of-${component}`);
  }
  letGo(): void {}
  tidy(): void {}
  limits(): readonly [] {
    return [];
  }
  condition(): null {
    return null;
  }
  doubts = new Map<RunId, Doubt>();
  doubt(run: RunId): Doubt | null {
    return this.doubts.get(run) ?? null;
  }
  signal(run: RunId, signal: SignalName): void {
    const found = this.#find(run);
    found?.signals.push(signal);
    if (found && this.obedient)
      queueMicrotask(
        () => found.over || this.die(found.launch.component, { kind: 'signal', signal, core: false, oom: false }),
      );
  }
  killTree(run: RunId): void {
    const found = this.#find(run);
    if (!found) return;
    found.killed = true;
    queueMicrotask(
      () =>
        found.over || this.die(found.launch.component, { kind: 'signal', signal: 'SIGKILL', core: false, oom: false }),
    );
  }
  survivors(): Promise<readonly ProcessInfo[]> {
    return Promise.resolve([]);
  }
  examine(): Promise<Findings> {
    return Promise.resolve({ busy: null, stopped: null, evidence: [] });
  }
  release(run: RunId): void {
    const found = this.#find(run);
    if (found) found.released = true;
  }
  close(): Promise<void> {
    return Promise.resolve();
  }

  #find(run: RunId): FakeRun | undefined {
    return this.runs.find(({ launch }) => launch.run === run);
  }
}
