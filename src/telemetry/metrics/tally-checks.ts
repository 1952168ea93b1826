/** Counts the answers of the checks. */
import type { CheckObserver } from '../../checks/observer.ts';
import type { Tallies } from './tallies.ts';

export const tallyChecks = (tallies: Tallies): CheckObserver => ({
  reportStarted: () => ({
    checkFinished: ({ name, result }) => tallies.checked(name, result.status),
    reportFinished: () => {},
  }),
});
