/**
 * Lines in a log that our own probes cause: many servers write one for each request. They are no progress, but nobody can tell them
 * from the component's own by their text. So it goes by time. What is new while nothing was asked is its own. What is new only
 * around our questions is an echo: it may be either, and to find out, nothing is asked for as long as a line of its own may take.
 */
import type { MonoMs } from '../../../base/pure/ids.ts';
import type { HeartbeatSpec } from './heartbeat.ts';
import { type Pulse, silentMs } from './pulse.ts';

/** What comes this long after an answer may still be because of the question: a server writes when it is done. */
export const ECHO_MS = 500;

export const ONLY_ECHOES = 'its log has new lines only when its own probes ask it';

/** Nothing but echoes was heard for this long: it is time to stop asking. The last `log_every` before the limit is left for that. */
export const isTimeToRest = (pulse: Pulse, spec: HeartbeatSpec, now: MonoMs): boolean =>
  silentMs(pulse, now) >= spec.freezeAfterMs;

/** Whether it has had its chance to write a line with nobody asking. `since`: when the last question was over; null: it is not. */
export const isRested = (since: MonoMs | null, { source }: HeartbeatSpec, now: MonoMs): boolean =>
  since !== null && now - since >= (source.kind === 'log' ? source.everyMs : 0);
