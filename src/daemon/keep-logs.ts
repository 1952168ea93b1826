/** Opens the keeper of the logs with what the configuration says about each. */

import { systemClock } from '../base/clock.ts';
import { DEFAULTS } from '../config/defaults.ts';
import type { ResolvedConfig } from '../config/load.ts';
import { type LogKeeper, type LogKeeperOptions, openLogKeeper } from '../logs/keep/keeper.ts';
import type { LogKeeping } from '../supervision/spec.ts';

export interface KeepLogsOptions
  extends Pick<LogKeeperOptions, 'dir' | 'log' | 'failpoints' | 'holdStill' | 'tell' | 'isRunning'> {
  /** As it is now. */
  config(): ResolvedConfig;
}

export function keepLogs({ config, ...rest }: KeepLogsOptions): Promise<LogKeeper> {
  let known: { readonly of: ResolvedConfig; readonly keeping: ReadonlyMap<string, LogKeeping> } | null = null;
  const keeping = (name: string): LogKeeping => {
    const current = config();
    if (known?.of !== current)
      known = { of: current, keeping: new Map(current.components.map(({ name: one, logs }) => [one, logs])) };
    return known.keeping.get(name) ?? DEFAULTS.logs; // it left the configuration
  };
  return openLogKeeper({
    ...rest,
    clock: systemClock,
    freeRule: DEFAULTS.logs.minFree,
    keeping,
    bounds: () => config().logs,
  });
}
