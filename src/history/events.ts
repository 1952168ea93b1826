/** Events: numbered, written once, read in order. */

import type { Row } from '../base/sqlite.ts';
import type { NewEvent } from '../supervision/ports/store.ts';
import type { EventView, Subject } from '../supervision/rules/views.ts';
import { isObject, isoTime, json, num, parsed, str, strOrNull, whole } from './cells.ts';
import type { History } from './ports.ts';
import { above, listOf, type Rows, table } from './table.ts';

export interface NumberedEvent extends NewEvent {
  readonly seq: number;
}

/** Hands out sequence numbers: strictly increasing, whatever happens to the disk. */
export class Sequence {
  #last: number;

  constructor(last = 0) {
    this.#last = last;
  }

  get last(): number {
    return this.#last;
  }

  /** Never hand out a number at or below this one. */
  raiseTo(seq: number): void {
    this.#last = Math.max(this.#last, seq);
  }

  number(event: NewEvent): NumberedEvent {
    this.#last += 1;
    return { ...event, seq: this.#last };
  }
}

export const EVENTS = {
  ...table<NumberedEvent>({
    table: 'events',
    since: 1,
    key: { seq: ({ seq }) => seq },
    once: {
      at: ({ at }) => whole(at),
      subject_kind: ({ subject }) => subject.kind,
      subject_name: ({ subject }) => subject.name,
      type: ({ type }) => type,
      run_id: ({ run }) => run,
      data_json: ({ data }) => json(data),
    },
    order: ['seq'],
    old: 'at < $before',
  }),
  item: (row: Row): EventView => ({
    seq: num(row['seq']),
    at: isoTime(num(row['at'])),
    subject: subjectOf(row),
    type: str(row['type']),
    run_id: strOrNull(row['run_id']),
    data: parsed(row['data_json'], {}, isObject),
  }),
};

const SUBJECTS: readonly Subject['kind'][] = ['component', 'check', 'daemon', 'session', 'agent', 'experiment'];

export const subjectOf = (row: Row): Subject => ({
  kind: SUBJECTS.find((kind) => kind === row['subject_kind']) ?? 'component',
  name: str(row['subject_name']),
});

/** As whoever has just committed it is told. */
export function eventView({ seq, at, subject, type, run, data }: NumberedEvent): EventView {
  return { seq, at: isoTime(at), subject, type, run_id: run, data };
}

export const lastSeqOf = (rows: Rows): number =>
  num(rows.select(EVENTS, { columns: [], newestFirst: true, limit: 1 })[0]?.['seq']);

export const eventQuestions = (rows: Rows) =>
  ({
    events: ({ afterSeq, limit, component }) => {
      const whose = component === undefined ? {} : { subject_name: component, subject_kind: 'component' };
      return listOf(rows, EVENTS, { where: { ...whose, seq: above(afterSeq) }, limit });
    },
    lastSeq: () => lastSeqOf(rows),
  }) satisfies Partial<History>;
