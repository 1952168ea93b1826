/** Pings from outside, and what is remembered of all heartbeats: in memory, and now and then in the history, all in one go. */

import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/pure/errors.ts';
import type { ComponentRunner } from '../component-runner.ts';
import type { ComponentSet } from '../component-set.ts';
import { Journal } from '../journal.ts';
import type { ComponentCommit } from '../ports/store.ts';
import { runOf } from '../rules/status.ts';

/** A thousand beats a second are one row in this time. What is lost by a kill is as if it had beaten when it was found again. */
export const BEATS_BATCH_MS = 15_000;

export interface BeatsWorld {
  readonly clock: Clock;
  readonly set: Pick<ComponentSet, 'get' | 'find'>;
  commit(...commits: readonly ComponentCommit[]): void;
}

export class Beats {
  readonly #set: BeatsWorld['set'];
  readonly #journal: Journal<string>;

  constructor({ clock, set, commit }: BeatsWorld) {
    this.#set = set;
    const write = (names: readonly string[]) =>
      commit(...names.flatMap((name) => set.get(name) ?? []).map((runner) => runner.want(runner.desired)));
    this.#journal = new Journal({ clock, everyMs: BEATS_BATCH_MS, keyOf: (name) => name, write });
  }

  readonly noted = ({ name }: ComponentRunner): void => this.#journal.note(name);

  /** Throws NO_SUCH_COMPONENT, HEARTBEAT_NOT_BY_PING or COMPONENT_NOT_RUNNING. */
  beat(name: string): void {
    const runner = this.#set.find([name])[0]!;
    if (runner.spec.heartbeat?.source.kind !== 'ping') throw new AppError('HEARTBEAT_NOT_BY_PING', { name });
    if (runOf(runner.component.state) === null) throw new AppError('COMPONENT_NOT_RUNNING', { name });
    runner.beat();
  }

  close(): void {
    this.#journal.close();
  }
}
