/** The line to the shim of one run: what it says, and the moment from which nothing can come any more. */
import type { RunId } from '../../../base/pure/ids.ts';
import { type ExitRecord, parseExit } from '../exit-record.ts';
import { isShimOf, parseStarted, readClaim, type Started } from '../run-dir.ts';
import { FifoWatch } from './fifo.ts';

export interface ShimLineEvents {
  started(started: Started): void;
  exited(record: ExitRecord): void;
  /** The shim, or whoever held its end of the FIFO last, is gone. */
  gone(): void;
}

const NOTHING = { text: '', isShimDead: false } as const;

export class ShimLine {
  readonly #events: ShimLineEvents;
  #fifo: FifoWatch | null = null;
  #isShimDead = false;
  #onSilent: (() => void)[] = [];

  constructor(events: ShimLineEvents) {
    this.#events = events;
  }

  /** `fd` null: there is nothing to listen to. `text`: what was read from it before. */
  open(fd: number | null, before: { readonly text: string; readonly isShimDead: boolean } = NOTHING): void {
    this.#isShimDead = before.isShimDead;
    if (fd !== null) {
      this.#fifo = new FifoWatch(
        fd,
        (line) => this.#line(line),
        () => this.#end(),
      );
    }
    if (this.#fifo) this.#fifo.feed(before.text);
    else for (const line of before.text.split('\n')) this.#line(line);
  }

  /** The shim was our own child and its exit was seen. Somebody else may still hold the FIFO: its child, about to begin. */
  shimExited(): void {
    this.#isShimDead = true;
    this.#events.gone();
  }

  /** Nobody holds the FIFO any more, so nothing of the shim or its beginning child is left. */
  get isSilent(): boolean {
    return this.#fifo === null;
  }

  /** Whether the shim lives or may still come. Its pid counts only together with the run id in its arguments. */
  hasShim(dir: string, run: RunId): boolean {
    if (this.#isShimDead) return false;
    const claim = readClaim(dir);
    return claim.by === 'nobody' || (claim.by === 'shim' && isShimOf(claim.pid, run));
  }

  /** Resolves when it is silent. */
  silent(): Promise<void> {
    if (this.isSilent) return Promise.resolve();
    return new Promise((resolve) => this.#onSilent.push(resolve));
  }

  close(): void {
    this.#fifo?.close();
    this.#silence();
  }

  #line(line: string): void {
    const started = line.startsWith('started ') ? parseStarted(line.slice('started '.length)) : null;
    const record = parseExit(line);
    if (started) this.#events.started(started);
    else if (record) this.#events.exited(record);
  }

  #end(): void {
    this.#isShimDead = true;
    this.#silence();
    this.#events.gone();
  }

  #silence(): void {
    this.#fifo = null;
    for (const resolve of this.#onSilent.splice(0)) resolve();
  }
}
