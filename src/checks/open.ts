/** Checks in the daemon: reports for whoever asks, and on schedule. */

import { after, type MonoMs } from '../base/pure/ids.ts';
import type { Runtime } from '../base/runtime.ts';
import type { ResolvedConfig } from '../config/load.ts';
import type { Recorder, Store } from '../history/ports.ts';
import type { NewEvent } from '../supervision/ports/store.ts';
import { NO_RUN } from './ask.ts';
import type { CheckObserver, FinishedCheck } from './observer.ts';
import { type CheckStretch, stretched } from './rules/view.ts';
import { createHealthReports, type HealthReports, type HealthReportsParts } from './service.ts';
import type { CheckStatus } from './spec.ts';

interface ChecksOptions
  extends Omit<HealthReportsParts, 'whose' | 'target' | 'current'>,
    Pick<ScheduleParts, 'store' | 'log' | 'record'> {
  config(): ResolvedConfig;
  onConfig(listener: (config: ResolvedConfig) => void): void;
}

export function openChecks(options: ChecksOptions): HealthReports {
  const { config, onConfig } = options;
  const reports = createHealthReports({ ...options, whose: 'the daemon', target: NO_RUN, current: config });
  const schedule = new HealthSchedule({ ...options, reports });
  schedule.set(config().health.everyMs);
  onConfig(({ health }) => schedule.set(health.everyMs));
  return {
    ...reports,
    close: async () => {
      schedule[Symbol.dispose]();
      await reports.close();
    },
  };
}

// Runs all checks again and again, keeps what they came to, and tells of each change.

interface ScheduleParts extends Pick<Runtime, 'clock' | 'log'> {
  readonly reports: Pick<HealthReports, 'checks' | 'reportOn'>;
  readonly store: Pick<Store, 'checkResults'>;
  readonly record: Recorder;
}

export class HealthSchedule implements Disposable {
  readonly #parts: ScheduleParts;
  /** The stretch that goes on, of each check. A new daemon begins new ones: nobody asked while there was none. */
  readonly #stretches = new Map<string, CheckStretch>();
  #everyMs: number | null = null;
  #over = new AbortController();

  constructor(parts: ScheduleParts) {
    this.#parts = parts;
  }

  /** Begins with the first report one period from now: a daemon that has just started has components that have just started. */
  set(everyMs: number | null): void {
    if (everyMs === this.#everyMs) return;
    this.#everyMs = everyMs;
    this.#over.abort();
    this.#over = new AbortController();
    if (everyMs !== null) void this.#run(everyMs, this.#over.signal);
  }

  [Symbol.dispose](): void {
    this.#over.abort();
  }

  async #run(everyMs: number, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#parts;
    for (let due = after(clock.now(), everyMs); ; due = nextDue(due, everyMs, clock.now())) {
      try {
        await clock.sleepUntil(due, signal);
        await this.#report(signal);
      } catch (error) {
        if (signal.aborted) return;
        log.error('the checks on schedule could not be run', { error: String(error) });
      }
    }
  }

  async #report(signal: AbortSignal): Promise<void> {
    const { reports, record } = this.#parts;
    const finished: FinishedCheck[] = [];
    const collect: CheckObserver = {
      reportStarted: () => ({ checkFinished: (check) => void finished.push(check), reportFinished: () => {} }),
    };
    await reports.reportOn(reports.checks(), collect);
    if (signal.aborted || finished.length === 0) return;
    const events = finished.flatMap((check) => this.#changed(check));
    const checked = finished.map((check) => this.#stretch(check));
    record({ checked, events });
  }

  #stretch({ name, result, beganAt, tookMs }: FinishedCheck): CheckStretch {
    const stretch = stretched(this.#stretches.get(name), { check: name, result, at: beganAt, tookMs });
    this.#stretches.set(name, stretch);
    return stretch;
  }

  /** What was never asked before and is ok is no news. */
  #changed({ name, result, beganAt }: FinishedCheck): readonly NewEvent[] {
    const before = this.#before(name);
    const { status, message } = result;
    if (status === (before ?? 'ok')) return [];
    const data = { status, before, message };
    return [{ at: beganAt, subject: { kind: 'check', name }, type: 'check.changed', run: null, data }];
  }

  #before(check: string): CheckStatus | null {
    const known = this.#stretches.get(check) ?? this.#parts.store.checkResults({ check, limit: 1 })[0];
    return known?.status ?? null;
  }
}

/** One that falls due while the one before is still being made is left out. */
function nextDue(due: MonoMs, everyMs: number, now: MonoMs): MonoMs {
  const periods = Math.max(1, Math.ceil((now - due) / everyMs));
  return after(due, periods * everyMs);
}
