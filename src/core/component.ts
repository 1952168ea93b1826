/** What the configuration says about a component, complete and checked: nothing downstream defaults or validates again. */
import type { SignalName } from './exit.ts';
import type { ComponentName } from './ids.ts';

export type DependencyCondition = 'started' | 'ready' | 'completed';

export interface ProcessSpec {
  readonly kind: 'process';
  /** argv; with `shell: true` this is already ['/bin/sh', '-c', text]. */
  readonly command: readonly string[];
  readonly shell: boolean;
  /** Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Absolute paths, read again at each start; later files win, `env` wins over files. */
  readonly envFiles: readonly string[];
}

export interface BackoffSpec {
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** Jitter only shortens, by up to this ratio (0 to 1), so the maximum is a maximum. */
  readonly jitterRatio: number;
  readonly resetAfterMs: number;
}

export interface LimitSpec {
  /** Restarts, so at most max + 1 runs begin in the window. */
  readonly max: number;
  readonly withinMs: number;
  /** The quiet retry after giving up; null: never. */
  readonly retryMs: number | null;
}

export interface RestartSpec {
  readonly policy: 'always' | 'on-failure' | 'never';
  readonly backoff: BackoffSpec;
  readonly limit: LimitSpec;
  /** Exit codes and signals that end it for good. */
  readonly neverOn: readonly (number | SignalName)[];
  /** Restart the components that depend on this one after it recovers. */
  readonly dependents: boolean;
}

export interface StopSpec {
  readonly signal: SignalName;
  readonly graceMs: number;
}

export interface ComponentSpec {
  readonly name: ComponentName;
  readonly driver: ProcessSpec;
  readonly dependsOn: Readonly<Record<ComponentName, DependencyCondition>>;
  readonly stop: StopSpec;
  readonly restart: RestartSpec;
  /** A run that ends sooner is a failure whatever its code. It never delays `ready`. */
  readonly minUptimeMs: number;
}
