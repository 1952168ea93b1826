/** Containers that are looked after one by one, without being components: restarted when unhealthy or dead, within a budget. */
import type { HealthVerdict } from '../../supervision/rules/container-health.ts';
import type { Failure, HealingPhase, HealPolicy } from './rules/state.ts';

export type { Failure, HealPolicy };

/**
 * watching: nothing is to be done. backing-off: it is unhealthy or ended, and is restarted at `nextAttemptAt`. restarting: it is
 * being restarted now. ended: it ended well, and its policy asks for no restart. gave-up: it is not restarted any more, but for a
 * quiet retry at `nextAttemptAt`. gone: there is no such container (any more).
 */
export type HealState = HealingPhase['kind'];

export interface HealStatus {
  /** As it was asked for: an id or a name. */
  readonly container: string;
  /** The full id; null: it has not been seen yet, or there is none. */
  readonly id: string | null;
  readonly state: HealState;
  /** `unknown` until it was seen for the first time, and while the Engine cannot be asked. Always with a reason unless healthy. */
  readonly health: HealthVerdict;
  /** By us, since `begin`. */
  readonly restarts: number;
  /** Epoch milliseconds; null: none is due. */
  readonly nextAttemptAt: number | null;
  /** Why it is in this state, as a sentence for people: "exit code 7: restart in 2 s (2 of 10 in 10 min)". Empty while watching. */
  readonly reason: string;
  /** Why the Engine cannot be asked; null: it can. Nothing is decided meanwhile. */
  readonly engineAway: string | null;
}

/** All are called later than `begin` returns, one after the other, and never after the end. They must return at once and not throw. */
export interface HealCallbacks {
  /** Something of the status is another thing now. Called before the more special ones below. */
  changed?(status: HealStatus): void;
  /** It failed: ended, or was found unhealthy. `status` says what is done about it. One call for each failure. */
  failed?(status: HealStatus, why: string, failure: Failure): void;
  /** The container was started anew by us. */
  restarted?(status: HealStatus): void;
  /** It can't be saved by restarting. Not called again when only a quiet retry failed. */
  gaveUp?(status: HealStatus): void;
  /** It was there and is not any more, or was never there. Who wants it back makes a new one, and begins anew with that. */
  gone?(status: HealStatus): void;
}

/** One container that is looked after. Disposed, it is left as it is: nothing more is done or told, and no timer is left. */
export interface Healing extends Disposable {
  readonly status: HealStatus;
}

export interface Healer {
  /** Returns at once; what is known comes by `changed`. The same container may be looked after only once: a second time throws. */
  begin(container: string, policy: HealPolicy, callbacks: HealCallbacks): Healing;
  /** Ends all that was begun, and waits until no call to the Engine is under way any more. Containers are left as they are. */
  close(): Promise<void>;
}
