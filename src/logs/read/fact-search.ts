/** Finds the last facts of a kind in NAME.log.times from its end, without looking at most of it. */
import { closeSync, fstatSync } from 'node:fs';
import { type Fact, FactReader } from '../format.ts';
import { openToRead, readAt } from './files.ts';

const BLOCK_BYTES = 64 * 1024;

export interface FoundFact<Kind extends Fact['kind']> {
  readonly fact: Extract<Fact, { kind: Kind }>;
  /** Where its line begins in the file. */
  readonly offset: number;
}

/** The last one that `wanted` accepts; null: none. Only facts written in full are seen, not those counted from others. */
export function findLastFact<Kind extends Fact['kind']>(
  path: string,
  kind: Kind,
  wanted: (fact: Extract<Fact, { kind: Kind }>) => boolean = () => true,
): FoundFact<Kind> | null {
  const fd = openToRead(path);
  if (fd === null) return null;
  try {
    for (const { line, offset } of linesBackwards(fd, `${kind} `)) {
      const fact = new FactReader().read(line) as Extract<Fact, { kind: Kind }> | null;
      if (fact?.kind === kind && wanted(fact)) return { fact, offset };
    }
    return null;
  } finally {
    closeSync(fd);
  }
}

/** Whole lines that begin with `start`, the last one first. */
function* linesBackwards(fd: number, start: string): Generator<{ line: string; offset: number }> {
  let end = fstatSync(fd).size;
  /** The rest of the line that the block before this one ended in. */
  let rest = '';
  while (end > 0) {
    const from = Math.max(0, end - BLOCK_BYTES);
    // In front of the first line of the file there is a break that is not there, which makes it one like the others.
    const text = `${from === 0 ? '\n' : ''}${readAt(fd, from, end - from).toString('latin1')}${rest}`;
    const shift = from === 0 ? -1 : 0;
    for (let at = text.length; at >= 0; ) {
      at = at === 0 ? -1 : text.lastIndexOf(`\n${start}`, at - 1);
      const lineEnd = at < 0 ? -1 : text.indexOf('\n', at + 1);
      if (lineEnd >= 0) yield { line: text.slice(at + 1, lineEnd), offset: from + shift + at + 1 };
    }
    rest = text.slice(0, text.indexOf('\n') + 1);
    end = from;
  }
}
