/** What a component's runs followed on Kubernetes, on disk: one small file each, written before a run is told of, so that no end is told twice. */

import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { meansGone } from '../../base/pure/errno.ts';
import { type ComponentName, NAME_PATTERN, type RunId } from '../../base/pure/ids.ts';
import { NotOursError, readRegularFile, writeNewFile } from '../../base/regular-file.ts';
import type { Life } from '../rules/pods.ts';

export interface ComponentFile {
  readonly v: 1;
  readonly component: ComponentName;
  /** The run that is not over, as far as is known. */
  readonly run: RunId | null;
  readonly spec_hash: string;
  readonly workload: 'Deployment' | 'Job';
  readonly object: string;
  readonly log: string;
  /** What the run follows; null: it has not begun there. */
  readonly life: Life | null;
  /** The last one that is over and recorded. */
  readonly last: Life | null;
  /** How far its output is written: the time of the last line, and how many lines had that time. */
  readonly written: { readonly stamp: string; readonly lines: number } | null;
}

const SUFFIX = '.json';

export class ComponentFiles {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** The old one or the new one, never half of it. */
  write(file: ComponentFile): void {
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    const path = this.#path(file.component);
    writeNewFile(`${path}.tmp`, `${JSON.stringify(file)}\n`);
    renameSync(`${path}.tmp`, path);
  }

  /** Null: there is none, or it is damaged. Throws when it cannot be read just now. */
  read(component: ComponentName): ComponentFile | null {
    const text = ifThere(() => readRegularFile(this.#path(component)));
    if (text === null) return null;
    try {
      const file = JSON.parse(text) as ComponentFile;
      return file.v === 1 && file.component === component ? file : null;
    } catch {
      return null;
    }
  }

  all(): readonly ComponentFile[] {
    const names = (ifThere(() => readdirSync(this.#dir)) ?? [])
      .filter((name) => name.endsWith(SUFFIX))
      .map((name) => name.slice(0, -SUFFIX.length));
    return names.filter((name) => NAME_PATTERN.test(name)).flatMap((name) => this.read(name as ComponentName) ?? []);
  }

  remove(component: ComponentName): void {
    rmSync(this.#path(component), { force: true });
  }

  #path(component: ComponentName): string {
    return join(this.#dir, component + SUFFIX);
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
