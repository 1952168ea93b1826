/** Checks in the daemon: reports for whoever asks, and on schedule. */
import type { ResolvedConfig } from '../config/load.ts';
import { NO_RUN } from './ask.ts';
import { HealthSchedule, type ScheduleParts } from './schedule.ts';
import { createHealthReports, type HealthReports, type HealthReportsParts } from './service.ts';

export interface ChecksOptions
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
