/** A commit as the stores keep it: the rows it writes, in order. */

import type { WallMs } from '../base/pure/ids.ts';
import { CAMPAIGNS, EXPERIMENTS } from './campaigns.ts';
import { COMPONENTS, LAST_NUMBERS, META } from './components.ts';
import { CRASHES } from './crashes.ts';
import { EVENTS, type NumberedEvent } from './events.ts';
import type { Commit } from './ports.ts';
import { RECORDS } from './records.ts';
import { RUN_WRITES } from './runs.ts';
import { STRETCHES } from './stretches.ts';
import { type RowQuery, type RowWrite, type Table, writeOf } from './table.ts';

type Facts = Omit<Commit, 'events' | 'onDurable' | 'syncLater'>;
type Item<Fact> = NonNullable<Fact> extends readonly (infer One)[] ? One : NonNullable<Fact>;

/** The table of each fact in a commit. What refers to others stands before them: the retention goes in this order. */
const FACTS: { readonly [Fact in keyof Facts]-?: Table<Item<Facts[Fact]>> } = {
  record: COMPONENTS,
  crash: CRASHES,
  ...RUN_WRITES,
  ...STRETCHES,
  ...RECORDS,
};

/** All that the daemon writes to. */
export const WRITTEN = [...Object.values(FACTS), EVENTS, META, LAST_NUMBERS] as readonly Table[];

/** Several may write to one table of the database; the first of them speaks for it. */
const eachOnce = <One extends RowQuery>(tables: readonly One[]): readonly One[] =>
  tables.filter((one, index) => tables.findIndex(({ table }) => table === one.table) === index);

export const TABLES = eachOnce<RowQuery>([...WRITTEN, CAMPAIGNS, EXPERIMENTS]);

/** Those in which something goes on. */
export const OPEN_TABLES = eachOnce(WRITTEN).filter(({ over }) => over !== undefined);

export interface Entry {
  readonly writes: Set<RowWrite>;
  readonly onDurable?: (() => void) | undefined;
  readonly syncLater?: boolean | undefined;
}

const EACH_FACT = Object.entries(FACTS) as unknown as readonly (readonly [keyof Facts, Table])[];

/** Throws when a fact is not what its type says. */
export function entryOf(commit: Commit, events: readonly NumberedEvent[], recordedAt: WallMs): Entry {
  const writes = new Set<RowWrite>();
  for (const [fact, into] of EACH_FACT)
    for (const item of [commit[fact] ?? []].flat()) {
      const write = writeOf(into, item, recordedAt);
      writes.add(write);
      if (into.lastNumber !== undefined) writes.add(numberWrite(into.lastNumber, write, recordedAt));
    }
  for (const event of events) writes.add(writeOf(EVENTS, event, recordedAt));
  return { writes, onDurable: commit.onDurable, syncLater: commit.syncLater };
}

const numberWrite = (key: string, { into, row }: RowWrite, recordedAt: WallMs): RowWrite =>
  writeOf(LAST_NUMBERS, { key, value: `${row[into.key[0]!]}` }, recordedAt);
