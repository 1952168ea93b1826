/** One look at all processes of the machine, shared by everybody who asks at the same time and never holding up the loop. */
import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ProcStat, readProcStat } from '../proc.ts';

export interface Seen extends ProcStat {
  /** The run id in its environment, as it was when the program began; null when there is none or we may not look. */
  readonly cookie: string | null;
}

const COOKIE = 'KEEPWELL_RUN=';
/** Less than half of what the design allows the loop to be held up for. */
const TURN_MS = 8;

export class ProcScan {
  #running: Promise<readonly Seen[]> | null = null;
  #next: Promise<readonly Seen[]> | null = null;
  #nextSince = Number.POSITIVE_INFINITY;

  /**
   * Everything that lives when this is called. A look already under way may have passed by, so it is never joined.
   * Cookies are only read of processes that began at or after `since` (in ticks): a tree is never older than its root, and
   * reading environments is most of the work.
   */
  look(since: number): Promise<readonly Seen[]> {
    if (this.#running === null) return this.#begin(since);
    this.#nextSince = Math.min(this.#nextSince, since);
    this.#next ??= this.#running.then(() => {
      const all = this.#nextSince;
      this.#next = null;
      this.#nextSince = Number.POSITIVE_INFINITY;
      return this.#begin(all);
    });
    return this.#next;
  }

  #begin(since: number): Promise<readonly Seen[]> {
    const running = scan(since).finally(() => {
      if (this.#running === running) this.#running = null;
    });
    this.#running = running;
    return running;
  }
}

async function scan(since: number): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  let turn = performance.now();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!(pid > 0)) continue;
    const stat = readProcStat(pid);
    if (stat) seen.push({ ...stat, cookie: Number(stat.startTime) >= since ? readCookie(pid) : null });
    if (performance.now() - turn > TURN_MS) {
      await nextTurn();
      turn = performance.now();
    }
  }
  return seen;
}

function readCookie(pid: number): string | null {
  try {
    const environ = `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`;
    const at = environ.indexOf(`\0${COOKIE}`);
    if (at < 0) return null;
    const start = at + 1 + COOKIE.length;
    const end = environ.indexOf('\0', start);
    return environ.slice(start, end < 0 ? undefined : end);
  } catch {
    return null; // another user's, or gone
  }
}
