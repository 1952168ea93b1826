import type { ExitCause, SpawnProblem } from '../../src/base/pure/exit.ts';
import { type ComponentName, componentName, type MonoMs, type RunId } from '../../src/base/pure/ids.ts';
import { NO_PROBES } from '../../src/supervision/rules/health/probe.ts';
import { type ComponentSpec, NO_LIMITS, type RestartSpec } from '../../src/supervision/spec.ts';

export const mono = (ms: number): MonoMs => ms as MonoMs;
export const run = (text: string): RunId => text as RunId;

type DeepPartial<T> = {
  [K in keyof T]?: T[K] extends object ? (T[K] extends readonly unknown[] ? T[K] : DeepPartial<T[K]>) : T[K];
};

export function restartSpec(over: DeepPartial<RestartSpec> = {}): RestartSpec {
  return {
    policy: over.policy ?? 'always',
    backoff: { initialMs: 1_000, factor: 2, maxMs: 60_000, jitterRatio: 0, resetAfterMs: 600_000, ...over.backoff },
    limit: { max: 10, withinMs: 600_000, retryMs: 900_000, ...over.limit },
    neverOn: over.neverOn ?? [],
    dependents: over.dependents ?? false,
  };
}

export function spec(name: string, over: Partial<ComponentSpec> = {}): ComponentSpec {
  return {
    name: componentName(name),
    driver: { kind: 'process', command: ['true'], shell: false, cwd: '/', env: {}, envFiles: [] },
    dependsOn: {} as Record<ComponentName, 'started'>,
    stop: { signal: 'SIGTERM', graceMs: 10_000 },
    restart: restartSpec(),
    minUptimeMs: 0,
    probes: NO_PROBES,
    crashPatterns: [],
    limits: NO_LIMITS,
    logs: { maxBytes: 50_000_000, keep: 5, compress: true },
    ...over,
  };
}

export const exitCode = (code: number): ExitCause => ({ kind: 'code', code, ambiguous: code === 130 || code === 141 });
export const killedBy = (signal: `SIG${string}`): ExitCause => ({ kind: 'signal', signal, core: false, oom: false });
export const notStarted = (code: SpawnProblem['code'], heals: boolean): ExitCause => ({
  kind: 'spawn-failed',
  problem: { code, message: code, heals },
});
export const UNKNOWN: ExitCause = { kind: 'unknown', why: 'nobody saw it' };
