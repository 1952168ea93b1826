/**
 * The driver of what others started: a process with a pid file, an address, a container. It looks, and runs the recovery
 * command it was given; it never signals, stops or removes anything.
 */
import type { CommandRunner } from '../../base/command.ts';
import type { ExitCause } from '../../base/pure/exit.ts';
import type { RunId } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { ContainerWatch } from '../../docker/container-watch.ts';
import type { Engine } from '../../docker/ports.ts';
import type { ExternalDriver, ExternalLaunch, Reporter } from '../../supervision/ports/driver.ts';
import type { Findings } from '../../supervision/rules/freeze/freeze.ts';
import type { Condition } from '../../supervision/rules/views.ts';
import type { ExternalTarget } from '../../supervision/spec.ts';
import { away } from '../container/container-run.ts';
import { cannotSee, examine, NOTHING_TO_SEE } from '../process/examine/examine.ts';
import { readProcStat } from '../process/proc.ts';
import { addressTarget, createNames } from './address.ts';
import { containerTarget, DockerWord } from './container.ts';
import { type Beginning, live } from './life.ts';
import { pidFileTarget } from './pid-file.ts';
import type { TargetWatch } from './target.ts';
import { Troubles, Watch } from './watch.ts';

export interface ExternalDriverOptions extends Pick<Runtime, 'clock' | 'log'> {
  readonly commands: CommandRunner;
  readonly engine: Engine;
  /** Says when something about a container may have changed. */
  readonly containers: ContainerWatch;
}

export const createExternalDriver = (options: ExternalDriverOptions): ExternalDriver => new WatchedExternals(options);

interface WatchedRun {
  readonly target: ExternalTarget;
  readonly watch: Watch;
  /** Aborted with LET_GO, the run is reported to have ended; otherwise nothing more is said of it. */
  readonly ending: AbortController;
  readonly over: Promise<void>;
  /** Ends what tells of changes. */
  readonly events: Disposable | null;
}

interface Followed extends Pick<WatchedRun, 'watch'> {
  readonly run: RunId;
  readonly beginning: Beginning;
  readonly signal: AbortSignal;
  readonly report: Reporter;
  readonly word: DockerWord;
}

const LET_GO: ExitCause = { kind: 'unknown', why: 'no longer watched' };

class WatchedExternals implements ExternalDriver {
  readonly #options: ExternalDriverOptions;
  readonly #troubles: Troubles;
  readonly #names = createNames();
  readonly #runs = new Map<RunId, WatchedRun>();
  readonly #pids = new Map<RunId, number>();

  constructor(options: ExternalDriverOptions) {
    this.#options = options;
    this.#troubles = new Troubles(options.log);
  }

  start(launch: ExternalLaunch, report: Reporter): void {
    this.#watch(launch.run, launch.target, beginningOf(launch), report);
  }

  adopt: ExternalDriver['adopt'] = (run, { target }, report) => this.#watch(run, target, { kind: 'take-over' }, report);

  /** Whatever the signal: the thing itself is not ours to end, so only the watching ends. */
  signal(run: RunId): void {
    this.#runs.get(run)?.ending.abort(LET_GO);
  }
  killTree(run: RunId): void {
    this.signal(run);
  }
  survivors(): Promise<readonly []> {
    return Promise.resolve([]);
  }

  /** Looking is allowed where there is a process to look at; no signal is sent. */
  async examine(run: RunId): Promise<Findings> {
    const { clock } = this.#options;
    const pid = this.#pids.get(run) ?? null;
    const { signal } = this.#runs.get(run)?.ending ?? new AbortController();
    try {
      const main = pid === null ? null : readProcStat(pid);
      const tree = { main, members: async () => (main ? [main] : []), signalOnlyMain: () => {} };
      return main ? await examine({ tree, dump: null, clock, signal }) : NOTHING_TO_SEE;
    } catch (error) {
      return cannotSee(error);
    }
  }

  release(run: RunId): void {
    this.#runs.get(run)?.ending.abort();
    this.#runs.get(run)?.events?.[Symbol.dispose]();
    this.#runs.delete(run);
    this.#pids.delete(run);
  }

  async close(): Promise<void> {
    const runs = [...this.#runs.values()];
    for (const run of this.#runs.keys()) this.release(run);
    await Promise.all(runs.map(({ over }) => over));
  }

  condition(run: RunId): Condition | null {
    const watched = this.#runs.get(run);
    return watched?.target.kind === 'container' && watched.watch.isBlind ? 'engine-unreachable' : null;
  }

  #watch(run: RunId, target: ExternalTarget, beginning: Beginning, report: Reporter): void {
    const { clock, containers } = this.#options;
    const ending = new AbortController();
    const { signal } = ending;
    const told = (why: string | null) => {
      if (!signal.aborted) report({ kind: 'held', why: why === null ? null : away(why) });
    };
    const engine = target.kind === 'container' ? { isHeard: () => containers.blindness === null, blind: told } : {};
    const watch = new Watch({
      targetWatch: this.#targetFor(target),
      clock,
      troubles: this.#troubles,
      signal,
      ...engine,
    });
    const word = new DockerWord(clock, report);
    const over = this.#follow({ run, watch, beginning, signal, report, word });
    const events = target.kind === 'container' ? this.#listen(target.name, watch, word) : null;
    this.#runs.set(run, { target, watch, ending, over, events });
  }

  #listen(container: string, watch: Watch, word: DockerWord): Disposable {
    return this.#options.containers.watch(container, {
      seen: (observation) => {
        word.seen(observation);
        watch.hurry();
      },
      blind: () => watch.hurry(),
    });
  }

  #targetFor(target: ExternalTarget): TargetWatch {
    const { clock, engine } = this.#options;
    switch (target.kind) {
      case 'pid-file':
        return pidFileTarget(target.path);
      case 'address':
        return addressTarget(target, clock, this.#names);
      case 'container':
        return containerTarget(target.name, engine);
      default:
        throw new Error(`no such target: ${JSON.stringify(target satisfies never)}`);
    }
  }

  /** Never rejects. */
  async #follow({ run, watch, beginning, signal, report, word }: Followed): Promise<void> {
    const { clock, log } = this.#options;
    const started = (pid: number | null) => {
      if (pid !== null) this.#pids.set(run, pid);
      word.started(pid);
    };
    let cause: ExitCause;
    try {
      cause = await live(beginning, { ...this.#options, watch, signal, started });
      signal.throwIfAborted();
    } catch (error) {
      if (signal.aborted && signal.reason !== LET_GO) return;
      if (!signal.aborted) log.error('watching something external failed', { run, error: String(error) });
      cause = signal.aborted ? LET_GO : { kind: 'unknown', why: `watching it failed: ${String(error)}` };
    }
    report({ kind: 'exited', at: clock.now(), cause, leftovers: [] });
  }
}

function beginningOf(launch: ExternalLaunch): Beginning {
  const { recover: command, attempt } = launch;
  if (command === null) return { kind: 'wait' };
  const always = attempt === 'restart' || attempt === 'again'; // a restart, by the policy or by hand
  return { kind: 'recover', always, recovery: { ...launch, command } };
}
