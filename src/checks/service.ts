/** Makes reports for everybody who asks the daemon: the API, the library, and the daemon itself on schedule. */

import { AppError } from '../base/pure/errors.ts';
import { DEFAULTS } from '../config/defaults.ts';
import type { ResolvedConfig } from '../config/load.ts';
import { createGate } from './gate.ts';
import type { CheckParts } from './kind.ts';
import { type CheckObserver, together } from './observer.ts';
import { type HealthQuery, selectChecks } from './rules/plan.ts';
import { implicitChecks } from './rules/results.ts';
import { MAX_AT_ONCE, runChecks } from './run-checks.ts';
import type { CheckSpec, HealthReport } from './spec.ts';

export interface HealthReports {
  /** Throws NO_SUCH_CHECK; DAEMON_CLOSING when the daemon ends before it is complete. */
  report(query: HealthQuery): Promise<HealthReport>;
  /** All of these; `also` is told of every check besides. Rejects as `report` does. */
  reportOn(specs: readonly CheckSpec[], also: CheckObserver): Promise<HealthReport>;
  /** The checks of the configuration in force. */
  checks(): readonly CheckSpec[];
  /** Calls off what is being asked, and waits until it has ended. */
  close(): Promise<void>;
}

export interface HealthReportsParts extends CheckParts {
  current(): ResolvedConfig;
}

export function createHealthReports(parts: HealthReportsParts): HealthReports {
  const end = new AbortController();
  const gate = createGate(MAX_AT_ONCE);
  const running = new Set<Promise<unknown>>();
  const checks = () => checksOf(parts.current());

  const run = async (specs: readonly CheckSpec[], observer: CheckObserver): Promise<HealthReport> => {
    if (end.signal.aborted) throw new AppError('DAEMON_CLOSING');
    // Never shared with another caller's: an answer that was begun before the question could be untrue by now.
    const report = runChecks(specs, { ...parts, observer }, { signal: end.signal, gate });
    running.add(report);
    try {
      return await report;
    } finally {
      running.delete(report);
    }
  };

  return {
    checks,
    report: async (query) => await run(asked(checks(), query), parts.observer),
    reportOn: async (specs, also) => await run(specs, together([parts.observer, also])),
    close: async () => {
      end.abort(new AppError('DAEMON_CLOSING'));
      await Promise.allSettled(running);
    },
  };
}

// Which checks a configuration comes to, and those of them that somebody asks for.

/** Without any of its own, one for each component. */
export const checksOf = ({
  checks,
  components,
}: Pick<ResolvedConfig, 'checks' | 'components'>): readonly CheckSpec[] =>
  checks.length > 0
    ? checks
    : implicitChecks(
        components.map(({ name }) => name),
        DEFAULTS.check.timeoutMs,
      );

/** Throws NO_SUCH_CHECK. */
export function asked(specs: readonly CheckSpec[], { checks, withDeps, timeoutMs }: HealthQuery): readonly CheckSpec[] {
  const chosen = selectChecks(specs, { checks, withDeps });
  if (timeoutMs === undefined) return chosen;
  return chosen.map((spec) => ({ ...spec, timeoutMs: Math.min(spec.timeoutMs, timeoutMs) }));
}
