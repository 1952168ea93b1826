/** The mark of one short command: in its environment, and the name of its cgroup. It says whose it is. */
import { createHash, randomBytes } from 'node:crypto';
import { readProcStat, sameProcess } from '../proc.ts';

export class Cookies {
  /** In ticks; null when /proc could not be read just now. */
  readonly ownStartTime: string | null;
  readonly #ofHome: string;
  readonly #own: string;
  readonly #active = new Set<string>();
  #count = 0;

  /** `home`: pids mean nothing outside of their namespace, so a mark counts only among daemons of the same home. */
  constructor(home: string) {
    this.ownStartTime = ownStartTime();
    this.#ofHome = `command-${createHash('sha256').update(home).digest('hex').slice(0, 12)}-`;
    this.#own = `${this.#ofHome}${process.pid}-${this.ownStartTime ?? 0}-${randomBytes(3).toString('hex')}-`;
  }

  next(): string {
    const cookie = `${this.#own}${this.#count++}`;
    this.#active.add(cookie);
    return cookie;
  }

  /** The command is over: whoever carries its mark from now on is a stray. */
  retire(cookie: string): void {
    this.#active.delete(cookie);
  }

  /** Whether it marks a command of this home that is over: one of ours, or one of a daemon that is gone. */
  isOver(cookie: string): boolean {
    if (cookie.startsWith(this.#own)) return !this.#active.has(cookie);
    if (!cookie.startsWith(this.#ofHome)) return false;
    const [pid = '', startTime = ''] = cookie.slice(this.#ofHome.length).split('-');
    try {
      return !sameProcess(Number(pid), startTime);
    } catch {
      return false; // its daemon may live
    }
  }
}

function ownStartTime(): string | null {
  try {
    return readProcStat(process.pid)?.startTime ?? null;
  } catch {
    return null;
  }
}
