/**
 * Keeps the logs of a project within their bounds while components write to them: looks at those that are written to once a second, writes
 * down when what was written, and has shortened what is too long. Components never notice; when it cannot do its work, they go on all the same.
 */
import { type FSWatcher, watch } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log } from '../../base/log.ts';
import { alignedAfter } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { LogKeepingView } from '../../supervision/rules/views.ts';
import type { LogBounds, LogKeeping } from '../../supervision/spec.ts';
import { logFile } from '../format.ts';
import type { HoldStill, LogPlace } from '../ports.ts';
import { untilNoOrphan } from './collapse.ts';
import { Compressor } from './compressor.ts';
import { openFile, remove } from './files.ts';
import { Jobs } from './jobs.ts';
import { type LogChange, type LogClock, ManagedLog } from './managed-log.ts';
import { type Listing, lengthOf, listLogs, NOTHING_LISTED, type Part } from './parts.ts';
import { type FreeRule, lookAtDisk, markOf, SpaceWatch } from './space.ts';
import { type GapSpan, Tally, type Teller } from './tally.ts';

export interface LogKeeperOptions extends Pick<Runtime, 'log' | 'failpoints'> {
  readonly dir: string;
  readonly clock: LogClock;
  readonly freeRule: FreeRule;
  /** Also of components that the configuration no longer names. */
  keeping(name: string): LogKeeping;
  bounds(): LogBounds;
  /** For the history. */
  readonly tell: Teller;
  readonly holdStill: HoldStill;
  isRunning(name: string): boolean;
}

export interface LogKeeper extends AsyncDisposable {
  /** From now on logs are looked at, and shortened. */
  begin(): void;
  /** The position behind the last byte of a component's log. */
  end(name: string): number;
  /** From now on it is looked at, also when there is no log yet. */
  watch(name: string): void;
  /** A run is about to begin: what comes now in its component's log is its own. */
  runBegins(name: string, run: string): void;
  /** Where the bytes from a position on lie. `path`: of the log. */
  place(path: string, position: number): LogPlace;
  /** Docker did not tell what the component's container wrote in that time. */
  gap(name: string, span: GapSpan): void;
  view(): LogKeepingView;
}

const TICK_MS = 1_000;
/** While nothing is written; the first write wakes it. */
const IDLE_TICK_MS = 5_000;
/** While little is free, or soon will be. */
const HURRIED_TICK_MS = 250;
const RELIST_MS = 60_000;
/** So often all logs are looked at, whatever was heard of them. */
const ALL_MS = 20_000;
/** Then others get a turn. */
const SLICE_MS = 8;
const SLICE_LOGS = 25;

/** Puts in order what an earlier daemon left. Nothing is watched before `begin`. */
export async function openLogKeeper(options: LogKeeperOptions): Promise<LogKeeper> {
  const { dir, clock, log } = options;
  const logs = new Map<string, ManagedLog>();
  const listing = listLogs(dir) ?? NOTHING_LISTED;
  const parts = clearAway(listing);
  for (const [index, name] of [...listing.names].entries()) {
    const kept = new ManagedLog(dir, name, clock);
    await recover(kept, parts.get(name) ?? [], log);
    logs.set(name, kept);
    if (index % SLICE_LOGS === SLICE_LOGS - 1) await nextTurn();
  }
  return new Keeper(options, logs);
}

class Keeper implements LogKeeper {
  readonly #options: LogKeeperOptions;
  readonly #logs: Map<string, ManagedLog>;
  readonly #end = new AbortController();
  readonly #space: SpaceWatch;
  readonly #tally: Tally;
  readonly #jobs: Jobs;
  readonly #compressor: Compressor;
  readonly #strange = new Set<string>();
  #missing = { bytes: 0, spareBytes: Number.MAX_SAFE_INTEGER };
  readonly #hints: WriteHints;
  #lookedAtAllAt = Number.NEGATIVE_INFINITY;
  #isIdle = false;
  #listedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;
  #ticking: Promise<void> | null = null;

  constructor(options: LogKeeperOptions, logs: Map<string, ManagedLog>) {
    const { dir, clock, log, failpoints, tell, holdStill, keeping, bounds } = options;
    const { signal } = this.#end;
    this.#options = options;
    this.#logs = logs;
    this.#space = new SpaceWatch((type, data) => {
      log.warn(type, data);
      tell(type, data);
    });
    this.#tally = new Tally(tell, log);
    this.#hints = new WriteHints(dir, () => this.#isIdle && this.#wait(TICK_MS));
    const wallNow = (): number => clock.wallNow();
    const common = { dir, clock, log, failpoints, logs, signal, keeping };
    const missing = () => this.#missing;
    this.#jobs = new Jobs({ ...common, holdStill, bounds, wallNow, space: this.#space, tally: this.#tally, missing });
    // Where all of a log is copied at once, its end is in the newest part, and whoever explains a crash looks at that.
    const spared = (): number => (this.#jobs.mechanism === 'copy-truncate' ? 1 : 0);
    this.#compressor = new Compressor({ ...common, spared });
  }

  begin(): void {
    void this.#jobs.findOut();
    this.#wait(0);
  }

  end(name: string): number {
    const log = this.#log(name);
    if (log.cutting > 0) return log.endWhileCut();
    this.#look(log);
    return log.end;
  }

  watch(name: string): void {
    this.#log(name);
  }

  runBegins(name: string, run: string): void {
    const end = this.end(name);
    this.#log(name).times.run(end, this.#options.clock.wallNow(), run);
  }

  place(path: string, position: number): LogPlace {
    return this.#log(basename(path, logFile(''))).place(position);
  }

  gap(name: string, span: GapSpan): void {
    this.#tally.gap(name, span, this.#options.clock.now());
  }

  view(): LogKeepingView {
    return {
      mechanism: this.#jobs.mechanism,
      bytes: [...this.#logs.values()].reduce((sum, { totalBytes }) => sum + totalBytes, 0),
      dropped_bytes: this.#tally.droppedBytes,
      lost_bytes: this.#tally.lostBytes,
      gaps: this.#tally.gaps,
      condition: this.#space.condition,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    if (this.#timer) clearTimeout(this.#timer);
    this.#hints[Symbol.dispose]();
    await this.#ticking;
    await Promise.all([this.#jobs.rest(), this.#compressor.rest()]);
    this.#tally.flush(Number.MAX_SAFE_INTEGER);
  }

  #wait(ms: number): void {
    if (this.#end.signal.aborted) return;
    const now = this.#options.clock.now();
    this.#isIdle = ms === IDLE_TICK_MS;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#isIdle = false;
        this.#ticking = this.#tick().catch((error: unknown) => {
          this.#options.log.error('looking at the logs failed, going on', { error: String(error) });
          this.#wait(TICK_MS);
        });
      },
      this.#isIdle ? alignedAfter(now, ms) - now : ms,
    ).unref();
  }

  async #tick(): Promise<void> {
    const { clock } = this.#options;
    const isHurried = this.#lookAtDisk();
    const due = this.#due();
    await this.#lookAt(due);
    if (clock.now() - this.#listedAt >= RELIST_MS) this.#list();
    this.#tally.flush(clock.now());
    if (due.length > 0 || this.#missing.bytes > 0) this.#jobs.wake();
    if (due.length > 0 && this.#missing.bytes === 0) this.#compressor.wake();
    const isBusy = due.length > 0 || this.#missing.bytes > 0 || !this.#hints.isListening;
    this.#wait(isHurried ? HURRIED_TICK_MS : isBusy ? TICK_MS : IDLE_TICK_MS);
  }

  async #lookAt(logs: readonly ManagedLog[]): Promise<void> {
    const { clock } = this.#options;
    let now = clock.now();
    let sliceMs = performance.now();
    for (const [index, log] of logs.entries()) {
      this.#look(log, now);
      if (log.times.problem !== null) this.#lookAtFacts(log);
      if (log.times.isLong) log.times.rewrite(log.oldestPosition);
      if (index % SLICE_LOGS > 0 || performance.now() - sliceMs < SLICE_MS) continue;
      await nextTurn();
      if (this.#end.signal.aborted) return;
      now = clock.now();
      sliceMs = performance.now();
    }
  }

  /** Those that were written to or are in trouble, and all of them from time to time. */
  #due(): readonly ManagedLog[] {
    const all = [...this.#logs.values()];
    const hints = this.#hints.take();
    const now = this.#options.clock.now();
    if (hints === null || now - this.#lookedAtAllAt >= ALL_MS) {
      this.#lookedAtAllAt = now;
      return all;
    }
    const isInTrouble = (log: ManagedLog) => log.times.problem !== null || this.#jobs.hasFailed(log);
    return all.filter((log) => hints.has(log.file) || log.rate > 0 || isInTrouble(log));
  }

  /** Facts that cannot be written (a full disk) are missed by those who ask when something was written, and by nobody else. */
  #lookAtFacts(log: ManagedLog): void {
    const { times, name: component } = log;
    const { problem, failures } = times;
    if (failures === 1) this.#options.log.warn('when what was written cannot be noted', { component, problem });
    times.retry();
    if (times.problem === null) this.#options.log.info('when what was written is noted again', { component, failures });
  }

  /** Whether it has to be looked at again soon. */
  #lookAtDisk(): boolean {
    const { dir, bounds, freeRule, clock } = this.#options;
    const disk = lookAtDisk(dir);
    if (!disk) return false;
    const mark = markOf(bounds(), disk, freeRule);
    const bytes = this.#space.look(disk, mark, clock.now());
    this.#missing = { bytes, spareBytes: mark === 0 ? Number.MAX_SAFE_INTEGER : Math.max(0, disk.freeBytes - mark) };
    return mark > 0 && disk.freeBytes < 2 * mark;
  }

  /** Somebody may have removed parts by hand, or put something else there. */
  #list(): void {
    const { dir, clock, log, tell } = this.#options;
    this.#listedAt = clock.now();
    const listing = listLogs(dir);
    if (listing === null) return;
    const { names, parts, strange } = listing;
    for (const name of names) this.#log(name);
    for (const kept of this.#logs.values()) {
      if (kept.cutting === 0) kept.parts = known(kept, parts.get(kept.name) ?? []);
    }
    for (const path of strange.filter((each) => !this.#strange.has(each))) {
      this.#strange.add(path);
      log.warn('something has the name of a part of a log and is not a regular file; it is left alone', { path });
      tell('logs.not-a-file', { path });
    }
  }

  #log(name: string): ManagedLog {
    const there = this.#logs.get(name);
    if (there) return there;
    const { dir, clock } = this.#options;
    const log = new ManagedLog(dir, name, clock);
    const { base, end } = log.times.read();
    log.restore(base ?? 0, end);
    this.#logs.set(name, log);
    this.#look(log);
    return log;
  }

  #look(log: ManagedLog, now = this.#options.clock.now()): void {
    const surprise = log.look(now);
    if (surprise) this.#tellOf(surprise, log);
  }

  #tellOf(surprise: LogChange, { name: component, path }: ManagedLog): void {
    const { log, tell, isRunning } = this.#options;
    if (surprise === 'not-a-file') {
      log.warn('the log of a component is not a regular file; it is left alone', { component, path });
      tell('logs.not-a-file', { component, path });
    } else if (surprise === 'removed' && isRunning(component)) {
      log.warn('the log of a running component was removed: what it writes is lost until its next start', {
        component,
      });
      tell('logs.removed', { component });
    } else {
      log.info('the log of a component was changed by hand', { component, how: surprise });
    }
  }
}

/** What is still there, with what was known about it. */
function known({ parts: before, base }: ManagedLog, listed: readonly Part[]): readonly Part[] {
  const byPath = new Map(before.map((part) => [part.path, part]));
  return listed.filter((part) => part.base < base).map((part) => byPath.get(part.path) ?? part);
}

// Which logs were written to, as the kernel tells: so that those that rest cost nothing. Only a hint: watching may fail, and where very
// much is written it is cheaper to look than to be told. Then it is not known, and all have to be looked at.

/** More in one round are not listened to. */
const MAX_HINTS = 200;

export class WriteHints implements Disposable {
  readonly #dir: string;
  #watcher: FSWatcher | null = null;
  #files = new Set<string>();
  #heard = 0;
  readonly #firstHeard: () => void;

  /** `heard`: called for the first thing that happens after each `take`. */
  constructor(dir: string, heard: () => void) {
    this.#dir = dir;
    this.#firstHeard = heard;
  }

  get isListening(): boolean {
    return this.#watcher !== null;
  }

  /** The files that something happened to since the last time; null: that is not known. */
  take(): ReadonlySet<string> | null {
    const files = this.#files;
    const wasListening = this.#watcher !== null;
    this.#files = new Set();
    this.#heard = 0;
    if (!wasListening) this.#listen();
    return wasListening ? files : null;
  }

  [Symbol.dispose](): void {
    this.#watcher?.close();
    this.#watcher = null;
  }

  #listen(): void {
    try {
      this.#watcher = watch(this.#dir, { persistent: false }, (_event, file) => this.#hear(file));
      this.#watcher.on('error', () => this[Symbol.dispose]());
    } catch {
      this.#watcher = null; // no such directory, or no watches left
    }
  }

  #hear(file: string | null): void {
    this.#heard += 1;
    if (this.#heard === 1) this.#firstHeard();
    if (file === null || this.#heard > MAX_HINTS) this[Symbol.dispose]();
    else this.#files.add(file);
  }
}

// Puts in order what a daemon that was killed left half-done. Afterwards the facts and the files say the same.

/** So much of a head and a part is compared. A log that repeats itself that long cannot be told apart, and need not be. */
const COMPARED_BYTES = 8 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/** What nobody will finish: half-written files, and plain parts that are compressed already. Returns the parts that stay. */
export function clearAway({ temporary, parts }: Listing): Map<string, readonly Part[]> {
  for (const path of temporary) remove(path);
  return new Map(
    [...parts].map(([name, all]) => {
      const compressed = new Set(all.filter(({ form }) => form === 'gz').map(({ base }) => base));
      const isDouble = ({ form, base }: Part): boolean => form === 'plain' && compressed.has(base);
      for (const part of all) if (isDouble(part)) remove(part.path);
      return [name, all.filter((part) => !isDouble(part))];
    }),
  );
}

export async function recover(log: ManagedLog, parts: readonly Part[], diary: Log): Promise<void> {
  const last = parts.at(-1);
  const known = log.times.read();
  const behindParts = last ? last.base + lengthOf(last) : 0;
  const base = known.base ?? behindParts;
  const half = parts.filter((part) => part.base >= base);
  log.parts = parts.filter((part) => part.base < base);
  if (half.length === 0) {
    log.restore(base, known.end);
    return;
  }
  await untilNoOrphan(log.path);
  if (await isHeadThere(log.path, half[0]!, base, known.end)) {
    for (const { path } of half) remove(path);
    diary.info('putting a log aside was interrupted and is taken back', { component: log.name });
    log.restore(base, known.end);
    return;
  }
  log.parts = parts;
  log.restore(behindParts, Math.max(known.end, behindParts));
  log.times.base(behindParts);
  diary.info('putting a log aside was interrupted after its head was cut off', { component: log.name });
}

/** Whether the log still begins with what the part holds. */
async function isHeadThere(path: string, part: Part, base: number, knownEnd: number): Promise<boolean> {
  if (part.form === 'gz' || part.base !== base) return false;
  try {
    await using log = await openFile(path, 'read');
    await using copy = await openFile(part.path, 'read');
    const { size } = await log.stat();
    const length = lengthOf(part);
    if (size < length || base + size < knownEnd) return false;
    return await isEqual(log, copy, Math.min(length, COMPARED_BYTES));
  } catch {
    return false; // there is no log, so its head is not there either
  }
}

async function isEqual(one: FileHandle, other: FileHandle, bytes: number): Promise<boolean> {
  const [a, b] = [Buffer.alloc(CHUNK_BYTES), Buffer.alloc(CHUNK_BYTES)];
  for (let at = 0; at < bytes; at += CHUNK_BYTES) {
    const length = Math.min(CHUNK_BYTES, bytes - at);
    await one.read(a, 0, length, at);
    await other.read(b, 0, length, at);
    if (!a.subarray(0, length).equals(b.subarray(0, length))) return false;
  }
  return true;
}
