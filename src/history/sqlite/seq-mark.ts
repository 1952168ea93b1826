/**
 * Numbers that were handed out and are not in the database yet must not be handed out again by the next daemon: whoever follows
 * the events by number would miss the new ones. So in trouble, and only then, they are covered by a mark beside the database: a
 * symbolic link to a number, because making one needs no space on most disks and is all or nothing.
 */
import { readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { quietly } from './connection.ts';

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
