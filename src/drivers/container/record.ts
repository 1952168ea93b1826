/** A run of a container on disk: one small file each, written before anything is asked of the Engine. */
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { meansGone } from '../../base/pure/errno.ts';
import { type BootId, type ComponentName, RUN_ID_PATTERN, type RunId } from '../../base/pure/ids.ts';
import { NotOursError, readRegularFile, writeNewFile } from '../../base/regular-file.ts';
import type { LimitView } from '../../supervision/rules/views.ts';

export interface ContainerRecord {
  readonly v: 1;
  readonly run: RunId;
  readonly component: ComponentName;
  readonly boot_id: BootId;
  readonly spec_hash: string;
  /** The component's log. */
  readonly log: string;
  readonly limits: readonly LimitView[];
  /** The full id; null: none was chosen yet. */
  readonly container: string | null;
  /** When it had been started the last time before this run, in the Engine's text; null: not known yet. */
  readonly before: string | null;
  /** The Engine's text: with the id it names the run. Null: it has not begun, as far as is known. */
  readonly started_at: string | null;
}

const SUFFIX = '.json';
const UNFINISHED = '.tmp';

export class Records {
  readonly dir: string;

  constructor(dir: string) {
    this.dir = dir;
  }

  /** The old one or the new one, never half of it. */
  write(record: ContainerRecord): void {
    mkdirSync(this.dir, { recursive: true, mode: 0o700 });
    writeDurably(this.#path(record.run), `${JSON.stringify(record)}\n`);
  }

  /** Null: there is none, or it is damaged. Throws when it cannot be read just now. */
  read(run: RunId): ContainerRecord | null {
    if (!RUN_ID_PATTERN.test(run)) return null;
    const text = ifThere(() => readRegularFile(this.#path(run)));
    if (text === null) return null;
    try {
      const record = JSON.parse(text) as ContainerRecord;
      return record.v === 1 && record.run === run ? record : null;
    } catch {
      return null;
    }
  }

  /** All of them, newest first. Throws when they cannot be read just now. */
  all(): readonly ContainerRecord[] {
    const runs = this.#names()
      .filter((name) => name.endsWith(SUFFIX))
      .map((name) => name.slice(0, -SUFFIX.length));
    return runs.sort((a, b) => stamp(b).localeCompare(stamp(a))).flatMap((run) => this.read(run as RunId) ?? []);
  }

  remove(run: RunId): void {
    if (RUN_ID_PATTERN.test(run)) rmSync(this.#path(run), { force: true });
  }

  #path(run: RunId): string {
    return join(this.dir, run + SUFFIX);
  }

  /** Without a directory no container was ever made here. */
  #names(): readonly string[] {
    return ifThere(() => readdirSync(this.dir)) ?? [];
  }
}

function ifThere<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (meansGone(error) || error instanceof NotOursError) return null;
    throw error;
  }
}

const stamp = (run: string): string => run.slice(run.lastIndexOf('~') + 1);

export function writeDurably(path: string, text: string): void {
  writeNewFile(path + UNFINISHED, text);
  renameSync(path + UNFINISHED, path);
}
