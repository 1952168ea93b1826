/** The lines of one component that somebody wants, from old to new, and what is written later. */
import { join } from 'node:path';
import { type Moment, timesFile } from '../format.ts';
import { type Line, LineSplitter } from '../lines.ts';
import type { LogLineView } from '../ports.ts';
import { beginning, type Wanted } from './beginning.ts';
import { steadily } from './files.ts';
import { breathe, matchInSlices } from './match.ts';
import { LogSpace } from './space.ts';
import { findLastTimeEntry, TimeEntryStream } from './time-index.ts';

const CHUNK_BYTES = 256 * 1024;

export class ComponentReader implements AsyncDisposable {
  readonly component: string;
  readonly #wanted: Wanted;
  readonly #space: LogSpace;
  readonly #timesPath: string;
  readonly #times: LineTimes;
  /** Null: not looked for yet. */
  #position: number | null = null;
  /** Behind the last byte that is wanted. */
  #end = Number.MAX_SAFE_INTEGER;
  /** The last position at which a wanted line may begin. */
  #lastStart = Number.MAX_SAFE_INTEGER;
  #splitter: LineSplitter;
  #lines: Line[] = [];
  #lastTime: { readonly ms: number; readonly iso: string } | null = null;
  /** By the position behind it: bytes that were to come before. */
  #lost = new Map<number, number>();

  constructor(dir: string, component: string, wanted: Wanted) {
    this.component = component;
    this.#wanted = wanted;
    this.#space = new LogSpace(dir, component);
    this.#timesPath = join(dir, timesFile(component));
    this.#times = new LineTimes(this.#timesPath);
    this.#splitter = this.#splitFrom(0);
  }

  /** About so many bytes of it. `more`: there is more to be read at once. */
  async read(maxBytes: number): Promise<{ readonly lines: readonly LogLineView[]; readonly more: boolean }> {
    const begun = this.#position ?? (await this.#begin());
    let more = true;
    for (let read = 0; more && read < maxBytes; read = this.#position! - begun) {
      more = this.#position! < this.#end && this.#splitter.lineStart <= this.#lastStart && (await this.#readOn());
    }
    return { lines: await this.#judge(), more };
  }

  /** What stands at the end without a line break. */
  async rest(): Promise<readonly LogLineView[]> {
    this.#splitter.flush();
    return await this.#judge();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#space[Symbol.asyncDispose]();
  }

  async #begin(): Promise<number> {
    const { from, end, lastStart } = await beginning(this.#space, this.#timesPath, this.#wanted, (bytes) =>
      this.#loses(bytes),
    );
    this.#moveTo(from);
    this.#end = end;
    this.#lastStart = lastStart;
    return from;
  }

  /** False: that was all for now. */
  async #readOn(): Promise<boolean> {
    await breathe();
    const position = this.#position!;
    const piece = await this.#space.read(position, Math.min(CHUNK_BYTES, this.#end - position));
    switch (piece.kind) {
      case 'bytes':
        this.#splitter.push(piece.bytes);
        this.#position = position + piece.bytes.length;
        return true;
      case 'end':
        return false;
      case 'lost':
        this.#moveTo(piece.to);
        this.#loses(piece.to - position);
        return true;
      case 'restart':
        this.#moveTo(piece.to);
        if (piece.lostBytes > 0) this.#loses(piece.lostBytes);
        this.#wanted.onNote(`its log was ${piece.why}; going on from its beginning`);
        return true;
      case 'renumbered':
        this.#moveTo(piece.to);
        return true;
      default:
        throw new Error(`no such piece: ${JSON.stringify(piece satisfies never)}`);
    }
  }

  #moveTo(position: number): void {
    this.#splitter.flush();
    this.#position = position;
    this.#splitter = this.#splitFrom(position);
  }

  #splitFrom(position: number): LineSplitter {
    return new LineSplitter((line) => this.#lines.push(line), position);
  }

  #loses(bytes: number): void {
    const at = this.#position ?? 0;
    this.#lost.set(at, (this.#lost.get(at) ?? 0) + bytes);
    this.#wanted.onNote(`${bytes} bytes are no longer kept`);
  }

  /** The lines that were completed and are wanted. */
  async #judge(): Promise<readonly LogLineView[]> {
    const { matcher, sinceMs, untilMs } = this.#wanted;
    const lines = this.#lines.filter(({ offset }) => offset <= this.#lastStart);
    this.#lines = [];
    if (lines.length === 0) return [];
    const texts = lines.map(({ text }) => text);
    const answers = matcher === null ? null : await matchInSlices(matcher, texts);
    const latestMs = this.#space.mtimeMs;
    this.#times.refresh();
    const wanted: LogLineView[] = [];
    for (const [at, { text, cutBytes, offset }] of lines.entries()) {
      if (answers && !answers[at]) continue;
      const { atMs, run } = this.#times.of(offset, latestMs);
      if (atMs !== null && (atMs < (sinceMs ?? 0) || atMs > (untilMs ?? Number.MAX_SAFE_INTEGER))) continue;
      wanted.push({
        component: this.component,
        line: text,
        at: atMs === null ? null : this.#iso(atMs),
        run,
        offset,
        cut_bytes: cutBytes,
        lost_bytes: this.#lost.size > 0 ? this.#takeLost(offset) : 0,
      });
    }
    return wanted;
  }

  /** Many lines in a row have the same time. */
  #iso(ms: number): string {
    if (this.#lastTime?.ms !== ms) this.#lastTime = { ms, iso: new Date(ms).toISOString() };
    return this.#lastTime.iso;
  }

  #takeLost(offset: number): number {
    let bytes = 0;
    for (const [at, lost] of this.#lost) {
      if (at > offset) continue;
      bytes += lost;
      this.#lost.delete(at);
    }
    return bytes;
  }
}

// When and by which run each line was written, asked from old to new: the facts are read along, never all held.

export interface Written {
  /** Milliseconds since 1970; null: not known. */
  readonly atMs: number | null;
  readonly run: string | null;
}

type Dated =
  | Moment
  | { readonly kind: 'run'; readonly position: number; readonly wallMs: number; readonly run: string };

export class LineTimes {
  readonly #path: string;
  #stream: TimeEntryStream | null = null;
  /** The first one behind what was asked for last. */
  #next: Dated | null = null;
  /** There is a fact at or before what was asked for last: only what lies between two of them has a time. */
  #isBetween = false;
  #run: string | null = null;
  #asked = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** To be called before a number of lines is asked about. */
  refresh(): void {
    if (this.#stream?.refresh() === false) this.#stream = null;
  }

  /** `latestMs`: when the log was last written to, for what is newer than the facts. */
  of(position: number, latestMs: number | null): Written {
    if (!this.#stream || position < this.#asked) this.#begin(position);
    this.#asked = position;
    for (this.#next ??= this.#pull(); this.#next && this.#next.position <= position; this.#next = this.#pull()) {
      this.#isBetween = true;
      if (this.#next.kind === 'run') this.#run = this.#next.run;
    }
    const atMs = this.#isBetween ? (this.#next?.wallMs ?? latestMs) : null;
    return { atMs, run: this.#run };
  }

  #pull(): Dated | null {
    for (;;) {
      const fact = this.#stream!.next();
      if (fact === null || fact.kind !== 'base') return fact;
    }
  }

  #begin(position: number): void {
    steadily(this.#path, () => {
      const moment = findLastTimeEntry(this.#path, 'at', (fact) => fact.position <= position);
      const run = findLastTimeEntry(this.#path, 'run', (fact) => fact.position <= position);
      this.#run = run?.fact.run ?? null;
      this.#isBetween = moment !== null || run !== null;
      this.#stream = new TimeEntryStream(this.#path, moment?.offset ?? 0);
    });
    this.#next = null;
  }
}
