/**
 * Where there are no cgroups: what short commands left running in sessions of their own is found by its mark and ended. To
 * look at every process after every command would cost more than the commands, so it is done now and then.
 */
import type { Log } from '../../../base/log.ts';
import { isAlive, sameProcess } from '../proc.ts';
import type { ProcScan } from '../tree/proc-scan.ts';
import type { Cookies } from './cookies.ts';

/** As often as the driver looks after its runs; only while commands are run. */
const SWEEP_MS = 5_000;

export class Strays {
  readonly #scan: ProcScan;
  readonly #cookies: Cookies;
  readonly #log: Log;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor({ scan, cookies, log }: { readonly scan: ProcScan; readonly cookies: Cookies; readonly log: Log }) {
    this.#scan = scan;
    this.#cookies = cookies;
    this.#log = log;
  }

  /** A command is over; it may have left something behind. */
  expect(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.sweep(Number(this.#cookies.ownStartTime));
    }, SWEEP_MS).unref();
  }

  /** Ends what carries the mark of a command that is over. `since`: in ticks; nobody older is looked into. Never rejects. */
  async sweep(since: number): Promise<void> {
    try {
      const seen = await this.#scan.look(since);
      const strays = seen.filter((each) => each.cookie !== null && this.#cookies.isOver(each.cookie) && isAlive(each));
      for (const { pid, startTime } of strays) if (sameProcess(pid, startTime)) killOne(pid);
      if (strays.length > 0) this.expect(); // one more look: they may have had children meanwhile
    } catch (error) {
      this.#log.warn('what short commands left behind could not be looked for', { error: String(error) });
      this.expect();
    }
  }

  /** With a last look if one was due. */
  async close(): Promise<void> {
    const isDue = this.#timer !== null;
    if (this.#timer) clearTimeout(this.#timer);
    this.#isClosed = true;
    if (isDue) await this.sweep(Number(this.#cookies.ownStartTime));
  }
}

function killOne(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // gone meanwhile, or another user's by now
  }
}
