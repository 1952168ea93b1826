/** Commits on their way to the disk, in order: normally out again at once, otherwise kept and tried again until they are. */
import type { Log } from '../../base/log.ts';
import type { Entry } from '../entry.ts';
import { json } from './cells.ts';
import type { Condition } from './condition.ts';
import type { Disk } from './disk.ts';
import { Kept, saysSomething } from './unwritten.ts';

const RETRY_MS = 1_000;
const MAX_REOPEN_MS = 30_000;
/** A long queue is written in transactions of this size, and not all of them in one turn of the event loop. */
const BATCH = 200;
const MAX_BATCHES = 5;
/** What is still at hand when the database turns out to be damaged: the newest history is what people will ask for. */
const RECENT = 200;

interface Dropped {
  readonly events: number;
  readonly hasDroppedProbes: boolean;
  readonly hasDroppedSamples: boolean;
}

export interface OutboxOptions {
  readonly disk: Disk;
  readonly condition: Condition;
  readonly log: Log;
  /** What had to be dropped; told once everything else is written. */
  readonly onDropped: (dropped: Dropped) => void;
  /** After every try, with what is still kept. */
  readonly onFlushed: (kept: number) => void;
}

export class Outbox {
  readonly #options: OutboxOptions;
  readonly kept = new Kept();
  #recent: readonly Entry[] = [];
  #timer: NodeJS.Timeout | null = null;
  #reopenMs = RETRY_MS;
  #batchSize = BATCH;
  #isClosed = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Only queues. */
  push(entry: Entry): void {
    this.kept.push(entry);
  }

  /** The database is a new one: what was written lately is written again. Only queues. */
  startOver(): void {
    this.kept.prepend(this.#recent);
    this.#recent = [];
  }

  /** Writes what can be written now, and sees to it that the rest is tried again. */
  flush(): void {
    for (let batches = 0; this.kept.size > 0 && batches < MAX_BATCHES; batches += 1) {
      // In trouble one entry is enough to find out; two hundred of them, at every commit, would be work for nothing.
      const batch = this.kept.peek(this.#options.condition.isFailing ? 1 : this.#batchSize);
      const outcome = this.#options.disk.write(batch);
      if (outcome === 'later') break;
      if (outcome === 'written') this.#written(batch.length);
      if (outcome === 'refused') this.#refused(batch);
    }
    if (this.kept.size > 0) this.kept.shrink();
    this.#options.onFlushed(this.kept.size);
    this.#schedule();
  }

  /** One last try, with a new connection if need be; then no more timers. */
  close(): void {
    const { disk, log } = this.#options;
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (!disk.isWritable && this.kept.size > 0) disk.reopen();
    for (let before = Infinity; this.kept.size > 0 && this.kept.size < before; ) {
      before = this.kept.size;
      this.flush();
    }
    if (this.kept.size > 0) log.error('closed with unwritten history', { records: this.kept.size });
  }

  #written(count: number): void {
    this.#reopenMs = RETRY_MS;
    const { droppedEvents: events, hasDroppedProbes, hasDroppedSamples } = this.kept;
    const written = this.kept.remove(count);
    this.#recent = [...this.#recent, ...written.map(historyOf).filter(saysSomething)].slice(-RECENT);
    if (this.kept.size === 0) {
      this.#batchSize = BATCH;
      this.#options.onDropped({ events, hasDroppedProbes, hasDroppedSamples });
    }
    // Last, because whoever is called may commit again.
    for (const { onDurable } of written) this.#call(onDurable);
  }

  /** One entry that can never be written must not hold up the others: find it alone, put it in the log and go on. */
  #refused(batch: readonly Entry[]): void {
    this.#batchSize = 1;
    if (batch.length > 1) return;
    this.kept.remove(1);
    this.#options.condition.refusedOne();
    this.#options.log.error('a record could not be stored', { record: json(batch[0]) });
  }

  #call(callback: (() => void) | undefined): void {
    try {
      callback?.();
    } catch (error) {
      this.#options.log.error('a callback of a commit failed', { problem: String(error) });
    }
  }

  #schedule(): void {
    const { disk, condition } = this.#options;
    if (this.#isClosed || this.#timer !== null || (this.kept.size === 0 && disk.isWritable)) return;
    const inTrouble = disk.isWritable ? RETRY_MS : this.#reopenMs;
    const delayMs = condition.isFailing ? inTrouble : 0;
    this.#timer = setTimeout(() => this.#retry(), delayMs).unref();
  }

  #retry(): void {
    const { disk } = this.#options;
    this.#timer = null;
    if (!disk.isWritable) {
      this.#reopenMs = Math.min(this.#reopenMs * 2, MAX_REOPEN_MS);
      disk.reopen();
    }
    this.flush();
  }
}

/**
 * Without what the store itself knows better by now, without the promise that has been kept already, and without stretches of
 * probes and samples: hundreds every few seconds are too many to hold, and those that go on come again.
 */
function historyOf(entry: Entry): Entry {
  const {
    record: _,
    forget: __,
    meta: ___,
    onDurable: ____,
    probed: _____,
    sampled: ______,
    checked: _______,
    ...history
  } = entry;
  return history;
}
