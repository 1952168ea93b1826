/** Where a campaign is: what each experiment came to, how its services stand, and what is being done right now. */
import type { ServiceHealth } from '../../compose/rules/readiness.ts';

export type ExperimentState = 'pending' | 'running' | 'done' | 'failed';

export interface Experiment {
  readonly name: string;
  readonly service: string;
  readonly state: ExperimentState;
  /** All that were begun. */
  readonly attempts: number;
  /** Those that count against `retries`. */
  readonly failures: number;
  /** Of the last attempt that ended by itself; null: none did. */
  readonly exitCode: number | null;
  /** Of the last attempt that ended; null: none did, or nobody saw how long it took. */
  readonly durationMs: number | null;
  /** Why it is as it is; null: nothing to say. */
  readonly reason: string | null;
}

/** An attempt that was written down before it was begun, and whose end nobody has written down yet. */
export interface OpenAttempt {
  readonly position: number;
  readonly attempt: string;
  readonly number: number;
  readonly container: string;
}

export interface Recovery {
  readonly remedy: 'restart' | 'recreate';
  readonly why: string;
}

export interface ServiceState {
  readonly restarts: number;
  /** Why nothing is run in it any more; null: something is. */
  readonly quarantined: string | null;
  /** It must be brought back before anything else is begun in it, whatever it says of itself. */
  readonly mustRecover: Recovery | null;
  /** Looks in a row that told nothing. */
  readonly unclear: number;
}

export type FinalState = 'done' | 'failed' | 'stopped' | 'interrupted';

export type Doing =
  | { readonly kind: 'beginning' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'checking'; readonly position: number }
  | { readonly kind: 'recovering'; readonly position: number; readonly because: Recovery }
  | { readonly kind: 'waiting'; readonly position: number }
  | { readonly kind: 'running'; readonly open: OpenAttempt }
  | { readonly kind: 'over'; readonly outcome: FinalState };

export interface CampaignState {
  readonly experiments: readonly Experiment[];
  readonly services: Readonly<Record<string, ServiceState>>;
  readonly areServicesUp: boolean;
  /** The Engine was away since they were started: it may have taken all of them along, or none. */
  readonly wasAway: boolean;
  /** How often they were started in vain. */
  readonly failedStarts: number;
  readonly doing: Doing;
}

export type AttemptEnd =
  | { readonly kind: 'exited'; readonly code: number }
  /** `left`: something of it may still run. */
  | { readonly kind: 'timeout'; readonly afterMs: number; readonly left: boolean }
  /** Its service turned unhealthy under it. */
  | {
      readonly kind: 'unhealthy';
      readonly why: string;
      readonly remedy: ServiceHealth['remedy'];
      readonly left: boolean;
    }
  | { readonly kind: 'lost'; readonly why: string }
  /** It cannot be begun, and trying again does not help. */
  | { readonly kind: 'refused'; readonly why: string }
  /** It was ended by us, or lost while nobody watched: that says nothing about the experiment. */
  | { readonly kind: 'interrupted'; readonly why: string };

export type CampaignEvent =
  /** The first event. `open`: an attempt that an earlier process left behind. */
  | { readonly kind: 'began'; readonly open: OpenAttempt | null }
  | { readonly kind: 'services-started' }
  /** `mayPass`: another start may go well. */
  | { readonly kind: 'services-failed'; readonly why: string; readonly mayPass: boolean }
  /** `container`: where the next command of this service would run; null: nowhere. */
  | { readonly kind: 'checked'; readonly health: ServiceHealth; readonly container: string | null }
  | { readonly kind: 'recovered'; readonly isBack: boolean }
  | { readonly kind: 'waited' }
  | {
      readonly kind: 'attempt-over';
      readonly end: AttemptEnd;
      readonly durationMs: number | null;
      /** So was the Engine, for a while. */
      readonly wasAway?: true;
    }
  /** The Engine was away while something else than an attempt was done, and answers again: that may have come to nothing. */
  | { readonly kind: 'engine-was-away' }
  /** Somebody wants it to end. An attempt that ran is over by then. */
  | { readonly kind: 'interrupted' };

/** What is to be done next: always exactly one thing, answered by one event. */
export type Request =
  /** `again`: some of them may be up, and not well. */
  | { readonly kind: 'start-services'; readonly services: readonly string[]; readonly again: boolean }
  | { readonly kind: 'check-health'; readonly service: string }
  | ({ readonly kind: 'recover'; readonly service: string } & Recovery)
  | { readonly kind: 'wait'; readonly ms: number; readonly why: string }
  /** `joining`: it may have been begun already, by an earlier process. */
  | { readonly kind: 'run'; readonly open: OpenAttempt; readonly joining: boolean }
  | { readonly kind: 'finish'; readonly outcome: FinalState; readonly reason: string | null };

/** What is written into the book before the request is answered. */
export type Write =
  | { readonly kind: 'attempt-begun'; readonly open: OpenAttempt }
  | {
      readonly kind: 'attempt-over';
      readonly open: OpenAttempt;
      readonly outcome: AttemptEnd['kind'];
      readonly exitCode: number | null;
      readonly durationMs: number | null;
      readonly reason: string | null;
    }
  | { readonly kind: 'experiment'; readonly position: number; readonly experiment: Experiment }
  | { readonly kind: 'campaign'; readonly state: FinalState; readonly reason: string | null };

export const FRESH_SERVICE: ServiceState = { restarts: 0, quarantined: null, mustRecover: null, unclear: 0 };

export const isFinal = ({ state }: Pick<Experiment, 'state'>): boolean => state === 'done' || state === 'failed';

/** As the book has it: services start with a clean record, whoever resumes has looked at them. */
export const stateFrom = (experiments: readonly Experiment[]): CampaignState => ({
  experiments,
  services: Object.fromEntries(experiments.map(({ service }) => [service, FRESH_SERVICE])),
  areServicesUp: false,
  wasAway: false,
  failedStarts: 0,
  doing: { kind: 'beginning' },
});
