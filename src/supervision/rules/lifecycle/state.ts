/** One state per component; each kind carries only what exists in that state. Events are facts, effects are requests. */

import type { ExitCause, SignalName, SpawnProblem } from '../../../base/pure/exit.ts';
import type { ComponentName, MonoMs, RunId } from '../../../base/pure/ids.ts';
import type { ComponentSpec } from '../../spec.ts';
import type { HealthVerdict } from '../container-health.ts';
import type { Findings, Freeze } from '../freeze/freeze.ts';
import type { Role } from '../health/probe.ts';
import type { RunHealth } from '../health/run-health.ts';

/**
 * Why a run was begun: by hand or boot, again after an end that was asked for, by the restart policy, or as the one quiet retry
 * after giving up.
 */
export type Attempt = 'first' | 'again' | 'restart' | 'quiet';

/** Nobody asked for these: they count as restarts. */
export const isUnasked = (attempt: Attempt): boolean => attempt === 'restart' || attempt === 'quiet';

/** What happens once everything of the run being stopped is gone. */
export type Goal = 'stay-stopped' | 'start-again' | 'decide';

/** The main process of a run is gone: how, when, after how long, and whether anybody had asked for it by then. */
export interface Ended {
  readonly cause: ExitCause;
  readonly at: MonoMs;
  readonly uptimeMs: number;
  /** How long it had been healthy without a break. */
  readonly healthyMs: number;
  readonly asked: boolean;
  /**
   * Why we ended it: "liveness http :8080/healthz failed 3 times: HTTP 503",
   * "soft_memory: 412 MiB, more than 400 MiB in 3 samples".
   */
  readonly unhealthy: string | null;
  /** It was silent when it ended. */
  readonly freeze?: Freeze;
}

/** Nothing can or may be asked of a run: its Engine does not answer, somebody paused it. How it was before is the past. */
export interface Hold {
  /** "the Docker Engine at /var/run/docker.sock does not answer; until it answers nothing is done" */
  readonly why: string;
  readonly since: MonoMs;
  /** Taken over by a daemon that has not looked at it yet: nobody was told of that. */
  readonly unseen?: true;
}

export type ComponentState =
  | { readonly kind: 'stopped' }
  | { readonly kind: 'waiting'; readonly attempt: Attempt }
  | {
      readonly kind: 'starting';
      readonly run: RunId;
      readonly since: MonoMs;
      readonly attempt: Attempt;
      readonly hold?: Hold;
    }
  | {
      readonly kind: 'running';
      readonly run: RunId;
      /** Null: it has none, or none that is known. */
      readonly pid: number | null;
      readonly startedAt: MonoMs;
      readonly attempt: Attempt;
      /** The command put itself in the background: its tree lives, its exit code will never be known. */
      readonly daemonised: boolean;
      readonly health: RunHealth;
      /** Its heartbeat is overdue. */
      readonly freeze?: Freeze;
      readonly hold?: Hold;
    }
  /** `machine`: it could not be started for want of files, memory, space: it is tried as soon as the machine has some again. */
  | { readonly kind: 'backing-off'; readonly until: MonoMs; readonly machine?: true }
  | {
      readonly kind: 'stopping';
      readonly run: RunId;
      readonly pid: number | null;
      readonly startedAt: MonoMs;
      readonly attempt: Attempt;
      /**
       * interrupted: it was frozen, and SIGINT was sent; asked: the stop signal was sent; killed: SIGKILL went to the tree;
       * unkillable: it is still there.
       */
      readonly stage: 'interrupted' | 'asked' | 'killed' | 'unkillable';
      readonly until: MonoMs;
      readonly goal: Goal;
      readonly healthySince: MonoMs | null;
      /** Why we end it by ourselves: a probe failed, it uses too much memory, or it is frozen. */
      readonly unhealthy: string | null;
      readonly freeze?: Freeze;
      readonly hold?: Hold;
      /** Nothing could be done, or be known of it, when the time was up; nobody is to be held up by that. */
      readonly stalled?: true;
      /** Set once the main process is gone; what is awaited then is the rest of its tree. */
      readonly ended: Ended | null;
    }
  | { readonly kind: 'completed' }
  /** `since`: when it gave up; older versions did not say. */
  | { readonly kind: 'gave-up'; readonly rule: Rule; readonly retryAt: MonoMs | null; readonly since?: MonoMs };

export type StateKind = ComponentState['kind'];
export type In<K extends StateKind> = Extract<ComponentState, { kind: K }>;

/** Which rule made a decision. Stored with it, so that `why` can say so. */
export type Rule =
  | 'clean-exit'
  | 'backoff'
  | 'limit'
  | 'never-on'
  | 'policy-never'
  | 'spawn-error'
  | 'spawn-retry'
  | 'quiet-retry-failed'
  | 'observed'
  | 'engine-restart'
  | 'planned-stop'
  /** Of experiments: each attempt that fails counts against them. */
  | 'retries';

/** What outlives a single run. Reset by a start by hand. */
export interface Counters {
  /** When restarts were decided, for the limit's sliding window. */
  readonly restarts: readonly MonoMs[];
  /** Unplanned ends since the last good stretch: the exponent of the backoff. */
  readonly failures: number;
  /** Unplanned ends in a row since it was last well: starting it again does not help. Absent: none. */
  readonly unhelped?: number;
  /** Somebody asked for it: the next run has its container made anew. Absent: nobody did. */
  readonly anew?: true;
  /** Failures to start at all, in a row. */
  readonly spawnErrors: number;
  /** Unplanned restarts since the last start by hand, for people. */
  readonly total: number;
}

export interface Component {
  readonly state: ComponentState;
  readonly counters: Counters;
}

export type ComponentEvent =
  /** `fresh`: by hand, so counters start again; otherwise the daemon brings back what was wanted. */
  | { readonly kind: 'start-requested'; readonly fresh: boolean }
  | { readonly kind: 'stop-requested' }
  /** `byHand`: counters start again, and what is not running is started; otherwise only what runs is restarted. */
  | { readonly kind: 'restart-requested'; readonly byHand: boolean }
  /** The next run is to have its container made anew, whoever begins it. */
  | { readonly kind: 'anew-requested' }
  | { readonly kind: 'dependencies-changed' }
  /** The machine had a fault since then, of files, memory or space, and starts succeed again. */
  | { readonly kind: 'machine-recovered'; readonly since: MonoMs }
  /** `health`: what Docker's own health check says at that moment; absent: there is none. */
  | {
      readonly kind: 'started';
      readonly run: RunId;
      readonly pid: number | null;
      readonly at: MonoMs;
      readonly health?: HealthVerdict;
    }
  | { readonly kind: 'spawn-failed'; readonly run: RunId; readonly problem: SpawnProblem }
  /** `leftovers`: processes of the run's tree that outlived its main process, which ended `at`. */
  | {
      readonly kind: 'exited';
      readonly run: RunId;
      readonly at: MonoMs;
      readonly cause: ExitCause;
      readonly leftovers: readonly number[];
      /** What is known of the end beside its output. */
      readonly notes?: readonly string[];
    }
  | { readonly kind: 'tree-gone'; readonly run: RunId }
  /** The answers of a probe have crossed a threshold. `reason`: "http :8080/healthz failed 3 times: HTTP 503". */
  | {
      readonly kind: 'probed';
      readonly run: RunId;
      readonly role: Role;
      readonly pass: boolean;
      readonly reason: string;
    }
  /** Docker's own health check says something else than before. */
  | { readonly kind: 'docker-health'; readonly run: RunId; readonly verdict: HealthVerdict }
  /** Nothing can or may be asked of it for now, and why; null: that is over. */
  | { readonly kind: 'held'; readonly run: RunId; readonly why: string | null }
  /** So many samples in a row were above `limits.soft_memory`; `usedBytes` is the last of them. */
  | {
      readonly kind: 'over-soft-memory';
      readonly run: RunId;
      readonly usedBytes: number;
      readonly limitBytes: number;
      readonly samples: number;
    }
  /** Its heartbeat is overdue since `since`. `note`: what is wrong with the heartbeat itself. */
  | { readonly kind: 'silent'; readonly run: RunId; readonly since: MonoMs; readonly note: string | null }
  /** It has been listened for once more when the next step of the alarm was due, and nothing was heard. */
  | { readonly kind: 'still-silent'; readonly run: RunId }
  /** What a look into its processes has found. */
  | ({ readonly kind: 'examined'; readonly run: RunId } & Findings)
  /** It was heard. Told only while there is an alarm. */
  | { readonly kind: 'beat'; readonly run: RunId }
  /** The configuration of its probes or its heartbeat is another one now. */
  | { readonly kind: 'probes-changed' }
  | { readonly kind: 'woke' };

export type Effect =
  | { readonly kind: 'spawn'; readonly run: RunId; readonly attempt: Attempt }
  | { readonly kind: 'signal'; readonly run: RunId; readonly signal: SignalName }
  | { readonly kind: 'kill-tree'; readonly run: RunId }
  /** Look into its processes. `dump`: sent to the main process first, so that it says where it is. */
  | { readonly kind: 'examine'; readonly run: RunId; readonly dump: SignalName | null }
  /** The run is over and decided upon: its directory may go once the record is safe. */
  | { readonly kind: 'end-run'; readonly run: RunId; readonly end: RunEnd }
  /** It gave up and nothing of it is to stay: the container goes once the record is safe. */
  | { readonly kind: 'clean-up'; readonly run: RunId }
  /** Something worth an event in the history. */
  | { readonly kind: 'tell'; readonly type: TellType; readonly run: RunId | null; readonly data: TellData };

export interface RunEnd extends Ended {
  /** A crash is an unplanned end that counts as a failure. */
  readonly crash: boolean;
  readonly rule: Rule;
  /** "restart in 1 s (1 of 10 in 10 min)" */
  readonly decision: string;
  readonly counters: Counters;
}

export type TellType =
  | 'component.waiting'
  | 'component.starting'
  | 'component.started'
  | 'component.exited'
  | 'component.backing-off'
  | 'component.gave-up'
  | 'component.completed'
  | 'component.stopping'
  | 'component.stopped'
  | 'component.killed'
  | 'component.unkillable'
  | 'component.healthy'
  | 'component.unhealthy'
  | 'component.over-soft-memory'
  | 'component.frozen'
  | 'component.examined'
  | 'component.thawed'
  | 'component.ready'
  | 'component.not-ready'
  | 'component.daemonised'
  | 'component.leftovers';

export type TellData = Readonly<Record<string, string | number | boolean | null | readonly (string | number)[]>>;

/** Everything a step may look at besides the component itself. */
export interface Context {
  readonly now: MonoMs;
  /** In [0, 1). */
  readonly random: number;
  /** The id to use if this step begins a run. */
  readonly newRun: RunId;
  /** Dependencies whose condition does not hold right now. */
  readonly unmet: readonly ComponentName[];
  /** Nothing can be done to its run, or be known of it: the Docker Engine does not answer, or its processes cannot be looked at. */
  readonly blind?: boolean;
  readonly policy: LifecyclePolicy;
}

export type LifecyclePolicy = Pick<
  ComponentSpec,
  'driver' | 'restart' | 'stop' | 'minUptimeMs' | 'probes' | 'heartbeat'
>;

export interface Step {
  readonly component: Component;
  readonly effects: readonly Effect[];
}

export const FRESH: Counters = { restarts: [], failures: 0, spawnErrors: 0, total: 0 };
/** By hand all is forgotten but what was asked for by hand. */
export const fresh = ({ anew }: Counters): Counters => (anew ? { ...FRESH, anew } : FRESH);
export const INITIAL: Component = { state: { kind: 'stopped' }, counters: FRESH };
