/** What the configuration says about a component, complete and checked: nothing downstream defaults or validates again. */
import type { SignalName } from './exit.ts';
import type { ProbesSpec } from './health/probe.ts';
import type { ComponentName } from './ids.ts';

export type DependencyCondition = 'started' | 'ready' | 'completed';

/** Where commands of a component run and what they see: its own, its exec probes, its recovery. */
export interface Surroundings {
  /** Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Absolute paths, read again at each start; later files win, `env` wins over files. */
  readonly envFiles: readonly string[];
}

export interface ProcessSpec extends Surroundings {
  readonly kind: 'process';
  /** argv; with `shell: true` this is already ['/bin/sh', '-c', text]. */
  readonly command: readonly string[];
  readonly shell: boolean;
}

/** Something that others started. It is watched; with a recovery command it can be brought back. */
export interface ExternalSpec extends Surroundings {
  readonly kind: 'external';
  readonly target: ExternalTarget;
  /** `restart.command`; null: observed only. */
  readonly recover: readonly string[] | null;
}

export type ExternalTarget =
  | { readonly kind: 'pid-file'; readonly path: string }
  | { readonly kind: 'address'; readonly host: string; readonly port: number }
  | { readonly kind: 'container'; readonly name: string };

export type DriverSpec = ProcessSpec | ExternalSpec;

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
  readonly driver: DriverSpec;
  readonly dependsOn: Readonly<Record<ComponentName, DependencyCondition>>;
  readonly stop: StopSpec;
  readonly restart: RestartSpec;
  /** A run that ends sooner is a failure whatever its code. It never delays `ready`. */
  readonly minUptimeMs: number;
  readonly probes: ProbesSpec;
  /** Text, or /regular expression/flags; a line of output that fits one is one failed liveness answer, so there is a liveness probe. */
  readonly crashPatterns: readonly string[];
}
