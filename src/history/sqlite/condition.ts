/** What is wrong with the store right now, kept as facts and said as one sentence by `health()`. */
import { formatBytes } from '../../base/pure/format.ts';
import type { WallMs } from '../../base/pure/ids.ts';
import type { Unwritten } from './unwritten.ts';

const timeOfDay = (at: WallMs): string => new Date(at).toTimeString().slice(0, 8);
const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

export class Condition {
  #trouble: { readonly words: string; readonly since: WallMs } | null = null;
  #readProblem: string | null = null;
  #begunAnew: string | null = null;
  #refused = 0;
  #walBytes: number | null = null;
  #syncProblem: string | null = null;

  /** True when this is news. */
  cannot(what: 'open' | 'write', words: string, at: WallMs): boolean {
    const sentence = `cannot ${what} (${words})`;
    const isNews = this.#trouble?.words !== sentence;
    this.#trouble = { words: sentence, since: this.#trouble?.since ?? at };
    return isNews;
  }

  /** True when it was not so before. */
  canWrite(): boolean {
    const isNews = this.#trouble !== null;
    this.#trouble = null;
    return isNews;
  }

  get isFailing(): boolean {
    return this.#trouble !== null;
  }

  /** Null once reading works again. True when this is news. */
  reading(problem: string | null): boolean {
    const isNews = this.#readProblem !== problem;
    this.#readProblem = problem;
    return isNews;
  }

  /** Null once what was written reaches the disk again. True when this is news. */
  syncing(problem: string | null): boolean {
    const isNews = this.#syncProblem !== problem;
    this.#syncProblem = problem;
    return isNews;
  }

  /** How far the WAL has grown when that is too far; null: it has not. True when this is news. */
  wal(bytes: number | null): boolean {
    const isNews = (this.#walBytes === null) !== (bytes === null);
    this.#walBytes = bytes;
    return isNews;
  }

  /** Stays for as long as this daemon runs: part of the history is missing from what people see. */
  begunAnew(why: string, at: WallMs): void {
    this.#begunAnew = `begun anew at ${timeOfDay(at)}: ${why}`;
  }

  refusedOne(): void {
    this.#refused += 1;
  }

  sentence(kept: Unwritten): string {
    const parts: string[] = [];
    if (this.#trouble !== null) {
      const { words, since } = this.#trouble;
      parts.push(`${words}, ${count(kept.size, 'record')} kept in memory since ${timeOfDay(since)}`);
    }
    for (const { words } of kept.dropped()) parts.push(words);
    if (this.#readProblem !== null) parts.push(`cannot read (${this.#readProblem})`);
    if (this.#syncProblem !== null)
      parts.push(`cannot sync (${this.#syncProblem}): a power cut would take what was written last`);
    if (this.#walBytes !== null)
      parts.push(
        `keepwell.db-wal has grown to ${formatBytes(this.#walBytes)}: another program keeps reading the database`,
      );
    if (this.#refused > 0) parts.push(`${count(this.#refused, 'record')} could not be stored, see daemon.log`);
    if (this.#begunAnew !== null) parts.push(this.#begunAnew);
    return parts.length === 0 ? 'ok' : parts.join('; ');
  }
}
