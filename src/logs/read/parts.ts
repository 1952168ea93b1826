/** The parts of a log that were put aside: which there are, and from where to where each reaches. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type PartName, parsePartFile, partFile } from '../format.ts';
import { statOf } from './files.ts';
import { gzLength } from './gz-stream.ts';

export interface Part {
  readonly base: number;
  readonly end: number;
  readonly path: string;
  readonly form: PartName['form'];
}

/** A part that is being compressed has two names for a moment and the other one afterwards. */
const MAX_TRIES = 5;

/** From old to new; they do not overlap. */
export function listParts(dir: string, component: string): readonly Part[] {
  let parts: readonly (Part | null)[] = [];
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const bases = partBases(dir, component);
    parts = bases.map((base, at) => partAt(dir, component, base, bases[at + 1]));
    if (!parts.includes(null)) break; // otherwise one has just gone, and maybe more than one
  }
  return parts.filter((part) => part !== null);
}

function partBases(dir: string, component: string): readonly number[] {
  try {
    const bases = readdirSync(dir).flatMap((file) => {
      const name = file.startsWith(component) ? parsePartFile(file) : null;
      return name?.component === component ? [name.base] : [];
    });
    return [...new Set(bases)].sort((a, b) => a - b);
  } catch {
    return [];
  }
}

/** The part that begins there; null: there is none. `next`: where the next one begins, which is where this one ends at the latest. */
export function partAt(dir: string, component: string, base: number, next = Number.MAX_SAFE_INTEGER): Part | null {
  // Plain before compressed: the compressed one is there before the plain one goes, so that one of them is always found.
  for (const form of ['plain', 'gz'] as const) {
    const path = join(dir, partFile(component, base, form));
    const length = form === 'plain' ? plainLength(path) : gzLength(path, next - base);
    if (length !== null) return { base, end: Math.min(next, base + length), path, form };
  }
  return null;
}

function plainLength(path: string): number | null {
  const seen = statOf(path);
  return seen?.isFile() ? seen.size : null;
}
