/** A commit as the stores keep it: its events numbered, and small writes (meta, forget) in the same queue so that order holds. */

import type { ComponentName, WallMs } from '../base/pure/ids.ts';
import type { NewEvent } from '../supervision/ports/store.ts';
import type { EventView } from '../supervision/rules/views.ts';
import type { Commit } from './ports.ts';
import { wholeSample, wholeStretch } from './stretches.ts';
import { isoTime } from './views.ts';

export interface NumberedEvent extends NewEvent {
  readonly seq: number;
}

export interface Entry extends Omit<Commit, 'events'> {
  readonly events: readonly NumberedEvent[];
  readonly meta?: { readonly key: string; readonly value: string };
  readonly forget?: ComponentName;
  readonly recordedAt: WallMs;
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

export function entryOf(commit: Commit, sequence: Sequence): Omit<Entry, 'recordedAt'> {
  const events = (commit.events ?? []).map((event) => sequence.number(event));
  const { probed, sampled, checked } = commit;
  return {
    ...commit,
    events,
    ...(probed === undefined ? {} : { probed: probed.map(wholeStretch) }),
    ...(sampled === undefined ? {} : { sampled: sampled.map(wholeSample) }),
    ...(checked === undefined ? {} : { checked: checked.map(wholeStretch) }),
  };
}

export function eventView(event: NumberedEvent): EventView {
  const { seq, at, subject, type, run, data } = event;
  return { seq, at: isoTime(at), subject, type, run_id: run, data };
}
