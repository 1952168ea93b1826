/** Our guardian brings us back; we bring our guardian back. */
import { everyAligned } from '../base/aligned.ts';
import type { HomePaths } from '../base/home.ts';
import type { Log } from '../base/log.ts';
import { isAlive, readProcStat } from '../drivers/process/proc.ts';
import { type GuardianOptions, startGuardian } from './guardian.ts';

const GUARDIAN_CHECK_MS = 5_000;

export class GuardianWatch {
  #pid: number | null;
  #checks: Disposable | null = null;
  readonly #options: Pick<GuardianOptions, 'project' | 'env' | 'entry'>;
  readonly #paths: HomePaths;
  readonly #log: Log;
  /** Start time of the guardian's pid, so that a recycled pid is not mistaken for it; null: not known yet. */
  #born: string | null;
  #isFailing = false;

  constructor(options: Pick<GuardianOptions, 'project' | 'env' | 'entry'>, paths: HomePaths, log: Log) {
    this.#options = options;
    this.#paths = paths;
    this.#log = log;
    const pid = Number(options.env['KEEPWELL_GUARDIAN']);
    this.#pid = Number.isInteger(pid) && pid > 0 ? pid : null;
    this.#born = this.#pid === null ? null : this.#startOf(this.#pid);
  }

  get pid(): number | null {
    return this.#pid;
  }

  watch(): void {
    if (this.#pid === null) return; // in the foreground: systemd, a container or a person looks after us
    this.#checks = everyAligned(GUARDIAN_CHECK_MS, () => this.#check());
  }

  /** A guardian that cannot be looked at, or none that can be started, is no reason to end: it is tried again the next time. */
  #check(): void {
    try {
      if (!this.#isGone()) return;
      const { project, env, entry } = this.#options;
      const startTime = readProcStat(process.pid)?.startTime ?? '';
      const pid = startGuardian({ project, paths: this.#paths, env, entry, watch: { pid: process.pid, startTime } });
      if (pid === 0) throw new Error('no process can be started');
      this.#pid = pid;
      this.#born = null;
      this.#isFailing = false;
      this.#log.warn('the guardian was gone; started a new one', { guardian: this.#pid });
    } catch (error) {
      if (!this.#isFailing)
        this.#log.error('the guardian cannot be checked now; trying again', { error: String(error) });
      this.#isFailing = true;
    }
  }

  /** Throws when that is not known just now. */
  #isGone(): boolean {
    if (this.#pid === null) return true;
    const stat = readProcStat(this.#pid);
    if (stat === null || !isAlive(stat)) return true;
    this.#born ??= stat.startTime; // it could not be read at first
    return stat.startTime !== this.#born;
  }

  #startOf(pid: number): string | null {
    try {
      return readProcStat(pid)?.startTime ?? null;
    } catch {
      return null;
    }
  }

  dispose(): void {
    this.#checks?.[Symbol.dispose]();
  }
}
