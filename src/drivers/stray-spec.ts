/** A specification that can only end a run: for components that the configuration no longer names. */

import type { ComponentName } from '../base/pure/ids.ts';
import { DEFAULTS } from '../config/defaults.ts';
import { NO_PROBES } from '../supervision/rules/health/probe.ts';
import { type ComponentSpec, NO_LIMITS } from '../supervision/spec.ts';

export function straySpec(name: ComponentName): ComponentSpec {
  const { restart, stop } = DEFAULTS;
  return {
    name,
    driver: { kind: 'process', command: [], shell: false, cwd: '/', env: {}, envFiles: [] },
    dependsOn: {},
    stop: { signal: stop.signal, graceMs: stop.graceMs },
    restart: { ...restart, policy: 'never', neverOn: [], dependents: false },
    minUptimeMs: 0,
    probes: NO_PROBES,
    crashPatterns: [],
    limits: NO_LIMITS,
    logs: DEFAULTS.logs,
  };
}
