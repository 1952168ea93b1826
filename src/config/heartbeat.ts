/** A heartbeat as it is written, made complete. */
import type { HeartbeatSource, HeartbeatSpec } from '../supervision/rules/freeze/heartbeat.ts';
import { DEFAULTS } from './defaults.ts';
import type { ComponentConfig } from './shape.ts';

type HeartbeatConfig = NonNullable<ComponentConfig['heartbeat']>;

export const heartbeatSpec = (config: HeartbeatConfig, absolute: (path: string) => string): HeartbeatSpec => ({
  source: sourceOf(config, absolute),
  freezeAfterMs: config.freeze_after ?? DEFAULTS.heartbeat.freezeAfterMs,
  dumpSignal: config.dump_signal ?? null,
});

/** Exactly one of them is there, or something would have been reported. */
function sourceOf(config: HeartbeatConfig, absolute: (path: string) => string): HeartbeatSource {
  const { file, field, log_every, log_pattern } = config;
  if (file !== undefined) return { kind: 'file', path: absolute(file), field: field ?? null };
  return log_every === undefined ? { kind: 'ping' } : { kind: 'log', everyMs: log_every, pattern: log_pattern ?? null };
}
