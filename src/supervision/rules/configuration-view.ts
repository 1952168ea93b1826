/** A component's configuration as it was applied: what it runs, under which rules, and when it would give up. Values of variables are left out. Pure. */
import type { Amount, Count } from '../../base/pure/json.ts';
import type { ComponentSpec, DriverSpec } from '../spec.ts';
import { type Bounds, schedule } from './restart/schedule.ts';

/** From the shortest to the longest that chance allows. */
export interface RangeView {
  readonly min: Count;
  readonly max: Count;
}

/** A restart after each run failed at once. */
export interface PlannedRestartView {
  /** 1 is the first. */
  readonly restart: Count;
  readonly wait_ms: RangeView;
  /** Since the first failure. */
  readonly begins_ms: RangeView;
}

/** The configuration of a component, complete and with all defaults. */
export interface ConfigurationView {
  readonly schema_version: 1;
  readonly component: string;
  readonly kind: DriverSpec['kind'];
  /** What is run, secrets taken out; null: as the image or the compose file says. */
  readonly command: readonly string[] | null;
  readonly cwd: string;
  readonly user: string | null;
  /** Of a container. */
  readonly image: string | null;
  /** The variables that the configuration sets, without their values. */
  readonly env_names: readonly string[];
  readonly env_files: readonly string[];
  readonly stop: { readonly signal: string; readonly grace_ms: Count };
  readonly restart: {
    readonly policy: 'always' | 'on-failure' | 'never';
    /** Beside 0. */
    readonly success_codes: readonly Count[];
    readonly never_on: readonly string[];
    readonly backoff: {
      readonly initial_ms: Count;
      readonly factor: Amount;
      readonly max_ms: Count;
      /** Waits are shortened by a random part, up to this ratio. */
      readonly jitter: Amount;
      readonly reset_after_ms: Count;
    };
    readonly limit: { readonly max: Count; readonly within_ms: Count; readonly retry_ms: Count | null };
  };
  /** The first restarts, should every run fail at once. */
  readonly schedule: readonly PlannedRestartView[];
  /** After how many restarts it gives up then; null: never, or not within a thousand. */
  readonly gives_up_after: Count | null;
  readonly limits: {
    readonly memory_bytes: Count | null;
    readonly soft_memory_bytes: Count | null;
    readonly pids: Count | null;
    readonly nofile: Count | null;
    readonly cpus: Amount | null;
  };
}

/** More rows than this say nothing new. */
const SHOWN = 12;

const range = ({ minMs, maxMs }: Bounds): RangeView => ({ min: Math.round(minMs), max: Math.round(maxMs) });

/** `hide`: takes secrets out of a text. */
export function configurationView(spec: ComponentSpec, hide: (text: string) => string): ConfigurationView {
  const { driver, stop, restart, limits } = spec;
  const { backoff, limit } = restart;
  const planned = schedule(spec, 0);
  const { memoryBytes, softMemoryBytes, pids, nofile, cpus } = limits;
  return {
    schema_version: 1,
    component: spec.name,
    kind: driver.kind,
    command: commandOf(driver)?.map(hide) ?? null,
    cwd: driver.cwd,
    user: ('user' in driver ? driver.user : null) ?? null,
    image: driver.kind === 'container' ? driver.image : null,
    env_names: Object.keys(driver.env).toSorted(),
    env_files: driver.envFiles,
    stop: { signal: stop.signal, grace_ms: stop.graceMs },
    restart: {
      policy: restart.policy,
      success_codes: restart.successCodes ?? [],
      never_on: restart.neverOn.map(String),
      backoff: {
        ...{ initial_ms: backoff.initialMs, factor: backoff.factor, max_ms: backoff.maxMs },
        ...{ jitter: backoff.jitterRatio, reset_after_ms: backoff.resetAfterMs },
      },
      limit: { max: limit.max, within_ms: limit.withinMs, retry_ms: limit.retryMs },
    },
    schedule: planned.restarts
      .slice(0, SHOWN)
      .map(({ number, wait, begins }) => ({ restart: number, wait_ms: range(wait), begins_ms: range(begins) })),
    gives_up_after: planned.givesUp === 'always' ? planned.restarts.length : null,
    limits: {
      ...{ memory_bytes: memoryBytes, soft_memory_bytes: softMemoryBytes, pids, nofile },
      cpus: cpus ?? null,
    },
  };
}

function commandOf(driver: DriverSpec): readonly string[] | null {
  switch (driver.kind) {
    case 'process':
      return driver.command;
    case 'container':
      return driver.command;
    case 'external':
      return driver.recover;
    case 'compose':
    case 'kubernetes':
      return null;
  }
}
