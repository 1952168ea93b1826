/** Everybody who wants to know of the reports of `keepwell health`, as one. */
import type { CheckObserver } from '../ports/check-observer.ts';
import type { Tallies } from './metrics/tallies.ts';

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

export const tallyChecks = (tallies: Tallies): CheckObserver => ({
  reportStarted: () => ({
    checkFinished: ({ name, result }) => tallies.checked(name, result.status),
    reportFinished: () => {},
  }),
});
