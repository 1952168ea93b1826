import type { WallMs } from '../base/pure/ids.ts';
import type { CheckResult, HealthReport } from './spec.ts';

/** One check of a report, asked or skipped. */
export interface FinishedCheck {
  readonly name: string;
  readonly result: CheckResult;
  readonly beganAt: WallMs;
  /** 0 for one that was skipped. */
  readonly tookMs: number;
}

/** Told of one report, from its first check to its end. `reportFinished` comes last, also when the asking was called off. */
export interface ReportObserver {
  /** In the order in which they finish. */
  checkFinished(check: FinishedCheck): void;
  /** `report`: null when it was called off before it was complete. */
  reportFinished(report: HealthReport | null, tookMs: number): void;
}

/** Sees every report that is made, whoever asked for it. It must not throw, and nothing waits for it. */
export interface CheckObserver {
  reportStarted(beganAt: WallMs): ReportObserver;
}

/** All of them as one. */
export const together = (observers: readonly CheckObserver[]): CheckObserver => ({
  reportStarted: (beganAt) => {
    const reports = observers.map((observer) => observer.reportStarted(beganAt));
    return {
      checkFinished: (check) => {
        for (const report of reports) report.checkFinished(check);
      },
      reportFinished: (finished, tookMs) => {
        for (const report of reports) report.reportFinished(finished, tookMs);
      },
    };
  },
});
