/** What stands where a probe expects a run: a check is about none, so its commands see what the one who asks sees. */
import type { ComponentName, RunId } from '../base/pure/ids.ts';
import { straySpec } from '../drivers/stray-spec.ts';
import type { ProbeTarget } from '../supervision/ports/prober.ts';

export const NO_RUN: ProbeTarget = {
  spec: straySpec('check' as ComponentName),
  run: '' as RunId,
  pid: null,
  logFrom: 0,
};
