/** What cannot be asked right now: said once when it begins and once when it is over, however many ask and however often. */
import type { Log } from '../../base/log.ts';

export class Troubles {
  readonly #log: Log;
  readonly #open = new Map<string, string>();

  constructor(log: Log) {
    this.#log = log;
  }

  begin(who: string, why: string): void {
    if (this.#open.has(who)) return;
    this.#open.set(who, why);
    this.#log.warn('cannot be asked: nothing is concluded about what it tells of until it can', { who, why });
  }

  end(who: string): void {
    if (this.#open.delete(who)) this.#log.info('can be asked again', { who });
  }
}
