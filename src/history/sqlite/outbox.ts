/** Commits on their way to the disk, in order: normally out again at once, otherwise kept and tried again until they are. */

import { readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import type { Log } from '../../base/log.ts';
import { json } from '../cells.ts';
import type { Entry } from '../entry.ts';
import type { Condition } from './condition.ts';
import { quietly } from './connection.ts';
import type { Disk } from './disk.ts';
import { type Callback, GroupSync } from './group-sync.ts';
import { type Dropped, saysSomething, Unwritten } from './unwritten.ts';

const RETRY_MS = 1_000;
const MAX_REOPEN_MS = 30_000;
/** A long queue is written in transactions of this size, and not all of them in one turn of the event loop. */
const BATCH = 200;
const MAX_BATCHES = 5;
/** What is still at hand when the database turns out to be damaged: the newest history is what people will ask for. */
const RECENT = 200;

export interface OutboxOptions {
  readonly disk: Disk;
  readonly condition: Condition;
  readonly log: Log;
  /** What had to be dropped; told once everything else is written. */
  readonly onDropped: (dropped: readonly Dropped[]) => void;
  /** After every try, with what is still kept. */
  readonly onFlushed: (kept: number) => void;
}

export class Outbox {
  readonly #options: OutboxOptions;
  readonly kept = new Unwritten();
  readonly #syncs: GroupSync;
  #recent: readonly Entry[] = [];
  #timer: NodeJS.Timeout | null = null;
  #reopenMs = RETRY_MS;
  #batchSize = BATCH;
  #isClosed = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#syncs = new GroupSync({ ...options, call: (callback) => this.#call(callback) });
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
      const syncLater = batch.every((entry) => entry.syncLater === true);
      const outcome = this.#options.disk.write(batch, syncLater);
      if (outcome === 'later') break;
      if (outcome === 'written') this.#written(batch.length, syncLater);
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
    this.#syncs.close();
  }

  #written(count: number, syncLater: boolean): void {
    this.#reopenMs = RETRY_MS;
    const dropped = this.kept.dropped();
    const written = this.kept.remove(count);
    this.#recent = [...this.#recent, ...written.map(historyIn).filter(saysSomething)].slice(-RECENT);
    if (this.kept.size === 0) {
      this.#batchSize = BATCH;
      this.#options.onDropped(dropped);
    }
    // Last, because whoever is called may commit again.
    const callbacks = written.map(({ onDurable }) => onDurable);
    // What writes no row syncs nothing either.
    const isSynced = !syncLater && written.some(({ writes }) => writes.size > 0);
    if (isSynced) this.#syncs.done();
    if (isSynced || (this.#syncs.isEmpty && !syncLater)) for (const callback of callbacks) this.#call(callback);
    else this.#syncs.add(callbacks);
  }

  /** One entry that can never be written must not hold up the others: find it alone, put it in the log and go on. */
  #refused(batch: readonly Entry[]): void {
    this.#batchSize = 1;
    if (batch.length > 1) return;
    const [entry] = this.kept.remove(1);
    this.refuse([...entry!.writes].map(({ into, row }) => ({ table: into.table, ...row })));
  }

  refuse(record: unknown): void {
    this.#options.condition.refusedOne();
    this.#options.log.error('a record could not be stored', { record: json(record) });
  }

  #call(callback: Callback): void {
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
 * Without what the store itself knows better by now, without the promise that has been kept already, and without stretches: hundreds
 * every few seconds are too many to hold, and those that go on come again.
 */
const historyIn = ({ writes }: Entry): Entry => ({
  writes: new Set([...writes].filter(({ into }) => into.per === undefined && into.over?.length !== 0)),
});

// Numbers that were handed out and are not in the database yet must not be handed out again by the next daemon: whoever follows the events
// by number would miss the new ones. So in trouble, and only then, they are covered by a mark beside the database: a symbolic link to a
// number, because making one needs no space on most disks and is all or nothing.

/** One mark covers that many numbers more, so that a long trouble does not mean one for every commit. */
const AHEAD = 1_000;

export class SeqMark {
  readonly #path: string;
  #covered: number;

  constructor(databasePath: string) {
    this.#path = `${databasePath}.seq`;
    this.#covered = readMark(this.#path);
  }

  /** Up to here numbers may have been used; 0 when there is no mark. */
  get covered(): number {
    return this.#covered;
  }

  /** Best effort: on a disk that takes nothing at all there is nothing to be done. */
  cover(seq: number): void {
    if (seq <= this.#covered) return;
    const covered = seq + AHEAD;
    const next = `${this.#path}-next`;
    quietly(() => {
      rmSync(next, { force: true });
      symlinkSync(`${covered}`, next);
      renameSync(next, this.#path);
      this.#covered = covered;
    });
  }

  clear(): void {
    if (this.#covered === 0) return;
    quietly(() => {
      rmSync(this.#path, { force: true });
      this.#covered = 0;
    });
  }
}

function readMark(path: string): number {
  try {
    const covered = Number(readlinkSync(path));
    return Number.isSafeInteger(covered) && covered < Number.MAX_SAFE_INTEGER / 2 ? covered : 0;
  } catch {
    return 0;
  }
}
