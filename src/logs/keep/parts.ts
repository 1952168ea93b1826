/** The parts of logs that were put aside, as they lie in the directory. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { meansGone } from '../../base/pure/errno.ts';
import { NAME_PATTERN } from '../../base/pure/ids.ts';
import { logFile, parsePartFile, partFile } from '../format.ts';
import { gzLength } from '../read/gz-stream.ts';
import { look } from './files.ts';

/** How the name of everything ends that is not finished yet. */
export const TEMPORARY = '.tmp';

export interface Part {
  readonly path: string;
  /** Position of its first byte. */
  readonly base: number;
  readonly form: 'plain' | 'gz';
  /** On the disk. */
  readonly bytes: number;
  /** How much of the log it holds; null: not known before somebody looks (`lengthOf`). */
  readonly length: number | null;
  /** When it was put aside, in milliseconds since 1970. */
  readonly atMs: number;
}

export interface Listing {
  /** Names of all components that have a log, or parts of one. */
  readonly names: ReadonlySet<string>;
  /** Oldest first. */
  readonly parts: ReadonlyMap<string, readonly Part[]>;
  /** What somebody left unfinished. */
  readonly temporary: readonly string[];
  /** What has the name of a part and is none. */
  readonly strange: readonly string[];
}

export const NOTHING_LISTED: Listing = { names: new Set(), parts: new Map(), temporary: [], strange: [] };

const ENDING = logFile('');

/** Null: that is not known just now. */
export function listLogs(dir: string): Listing | null {
  try {
    return listed(dir);
  } catch {
    return null;
  }
}

function listed(dir: string): Listing {
  const names = new Set<string>();
  const parts = new Map<string, Part[]>();
  const temporary: string[] = [];
  const strange: string[] = [];
  for (const file of filesIn(dir).sort()) {
    const path = join(dir, file);
    if (file.endsWith(ENDING) && NAME_PATTERN.test(file.slice(0, -ENDING.length)))
      names.add(file.slice(0, -ENDING.length));
    if (file.endsWith(TEMPORARY)) temporary.push(path);
    const name = parsePartFile(file);
    if (!name || !NAME_PATTERN.test(name.component)) continue;
    const stat = look(path);
    if (!stat) continue;
    if (!stat.isFile()) {
      strange.push(path);
      continue;
    }
    names.add(name.component);
    const { base, form } = name;
    const length = form === 'plain' ? stat.size : null;
    const part = { path, base, form, bytes: stat.size, length, atMs: stat.mtimeMs };
    parts.set(name.component, [...(parts.get(name.component) ?? []), part]);
  }
  return { names, parts, temporary, strange };
}

function filesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (meansGone(error)) return []; // nothing was ever started
    throw error;
  }
}

export const partPath = (dir: string, component: string, base: number, form: Part['form'] = 'plain'): string =>
  join(dir, partFile(component, base, form));

/** A compressed part of more than 4 GiB is read to the remainder only. */
export const lengthOf = ({ length, path }: Part): number => length ?? gzLength(path) ?? 0;
