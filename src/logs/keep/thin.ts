/** The text of NAME.log.times with less in it: only what concerns bytes that are still kept, and coarser where it is old. */
import { type Fact, FactReader, factLine, type Moment } from '../format.ts';

export interface ThinOptions {
  readonly oldestPosition: number;
  readonly base: number;
  readonly maxBytes: number;
}

export function thinned(text: string, { oldestPosition, base, maxBytes }: ThinOptions): string {
  let facts = relevant(text, oldestPosition);
  let written = write(facts, base);
  while (written.length > maxBytes && facts.length > 1) {
    facts = coarser(facts);
    written = write(facts, base);
  }
  return written;
}

type Dated = Exclude<Fact, { kind: 'base' }>;

/** Of the runs that ended before the oldest byte, the last one is kept: it may have written that byte. */
function relevant(text: string, oldestPosition: number): readonly Dated[] {
  const reader = new FactReader();
  const facts: Dated[] = [];
  let before: Dated | null = null;
  for (const line of text.split('\n')) {
    const fact = reader.read(line);
    if (!fact || fact.kind === 'base') continue;
    if (fact.position >= oldestPosition) facts.push(fact);
    if (fact.position < oldestPosition && fact.kind === 'run') before = fact;
  }
  return before ? [before, ...facts] : facts;
}

/** In the older half every second moment goes; of runs that wrote nothing, all but the last. Else the oldest facts go. */
function coarser(facts: readonly Dated[]): readonly Dated[] {
  const half = Math.ceil(facts.length / 2);
  const kept = facts.filter((fact, index) => {
    if (index >= half) return true;
    if (fact.kind === 'at') return index % 2 === 0;
    const next = facts[index + 1];
    return !(next?.kind === 'run' && next.position === fact.position);
  });
  return kept.length < facts.length ? kept : facts.slice(Math.ceil(facts.length / 8));
}

function write(facts: readonly Dated[], base: number): string {
  let last: Moment | null = null;
  const lines = [factLine({ kind: 'base', position: base }, null)];
  for (const fact of facts) {
    lines.push(factLine(fact, last));
    if (fact.kind === 'at') last = fact;
  }
  return lines.join('');
}
