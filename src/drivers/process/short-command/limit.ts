/** The one deadline of a command, from the moment it was asked for, and everything else that ends it early. */

/** A longer Node timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export class Limit implements Disposable {
  /** Resolves when the time is up or one of the signals aborts. */
  readonly reached: Promise<void>;
  readonly #signals: readonly AbortSignal[];
  readonly #timer: NodeJS.Timeout;
  readonly #end: () => void;
  #isReached = false;

  constructor(timeoutMs: number, signals: readonly AbortSignal[]) {
    const { promise, resolve } = withResolver();
    this.reached = promise;
    this.#signals = signals;
    this.#end = () => {
      this.#isReached = true;
      resolve();
    };
    // An exit that waits to be seen comes first: after a stall of our own, timers run before anything else.
    this.#timer = setTimeout(() => setImmediate(this.#end), Math.min(timeoutMs, MAX_TIMER_MS));
    for (const signal of signals) signal.addEventListener('abort', this.#end, { once: true });
    if (signals.some(({ aborted }) => aborted)) this.#end();
  }

  get isReached(): boolean {
    return this.#isReached;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const signal of this.#signals) signal.removeEventListener('abort', this.#end);
  }
}

function withResolver(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
