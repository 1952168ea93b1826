/** Sends signals to a container in order; what the Engine could not take is sent when it is back. */
import type { SignalName } from '../../base/pure/exit.ts';
import { after, type RunId } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { EngineClient } from '../../docker/ports.ts';

export interface SignalsWorld extends Pick<Runtime, 'clock' | 'log' | 'failpoints'> {
  readonly engine: Pick<EngineClient, 'kill' | 'unpause'>;
}

export interface SignalsOptions {
  readonly run: RunId;
  readonly container: string;
  /** Ends the trying: the run is over, or the daemon is. */
  readonly signal: AbortSignal;
  /** A container that somebody paused takes no signal, not even to end. */
  isPaused(): boolean;
  /** The Engine could not take one, and why: what was not asked has not refused. */
  unreachable(why: string): void;
}

const RETRY_MS = 500;

export class Signals {
  readonly #options: SignalsOptions;
  readonly #world: SignalsWorld;
  #last: Promise<void> = Promise.resolve();
  /** Only the newest one that could not be sent is worth sending later. */
  #newest = 0;

  constructor(options: SignalsOptions, world: SignalsWorld) {
    this.#options = options;
    this.#world = world;
  }

  send(signal: SignalName): void {
    const number = ++this.#newest;
    this.#last = this.#last.then(() => this.#deliver(signal, number));
  }

  /** Never rejects. */
  async #deliver(unixSignal: SignalName, number: number): Promise<void> {
    const { engine, clock, log, failpoints } = this.#world;
    const { container, run, signal } = this.#options;
    try {
      for (let isFirst = true; !signal.aborted && (isFirst || number === this.#newest); isFirst = false) {
        if (this.#options.isPaused()) await engine.unpause(container, signal);
        failpoints.hit('container.before-kill');
        const action = await engine.kill(container, unixSignal, signal);
        if (action.kind === 'refused')
          log.warn('a container does not take a signal', { run, signal: unixSignal, why: action.why });
        if (action.kind === 'unreachable') this.#options.unreachable(action.why);
        if (action.kind !== 'unreachable' && action.kind !== 'engine-fault') return;
        await clock.sleepUntil(after(clock.now(), RETRY_MS), signal);
      }
    } catch (error) {
      if (!signal.aborted) log.error('a signal could not be sent', { run, signal: unixSignal, error: String(error) });
    }
  }
}
