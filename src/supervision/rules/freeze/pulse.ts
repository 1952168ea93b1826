/**
 * How long a run has been silent, as far as we were awake to hear it. Only the time since boot counts here: a wall clock that
 * jumps, a daemon that was stopped and a machine that was suspended are nobody's silence.
 */
import { after, type MonoMs, type RunId } from '../../../base/pure/ids.ts';
import { type HeartbeatSpec, silenceLimitMs } from './heartbeat.ts';

export interface Pulse {
  /** From when silence is counted: the last beat, or the start; later by what we missed. */
  readonly from: MonoMs;
  /** When it was last heard; null: never in this run. */
  readonly beatAt: MonoMs | null;
  readonly lookedAt: MonoMs;
  /** What we missed of the time before the next step of an alarm: it is late by as much. */
  readonly missedMs: number;
}

/** How far the heartbeat of a run has been listened to. Times count from the boot of the record. */
export interface StoredPulse {
  readonly run: RunId;
  /** Silence is counted from here. */
  readonly from: MonoMs;
  readonly beatAt: MonoMs | null;
  /** Of the last beat that was read from a file or a log. */
  readonly mark: string | null;
}

export const newPulse = (from: MonoMs, now: MonoMs): Pulse => ({ from, beatAt: null, lookedAt: now, missedMs: 0 });

export const beaten = (pulse: Pulse, at: MonoMs): Pulse => ({ ...pulse, from: at, beatAt: at });

/** Silence counts from here, but nothing was heard: its startup probe has just passed, or it was given a new heartbeat. */
export const countedFrom = (pulse: Pulse, at: MonoMs): Pulse => ({ ...pulse, from: at });

/** The alarm begins, or its last step: from now on it is owed what we miss. */
export const alarmed = (pulse: Pulse): Pulse => ({ ...pulse, missedMs: 0 });

/** A look this many times later than planned was not ours to choose: we were stopped, starved or suspended. */
const LATE_RATIO = 2;

/** We have looked. `isDeaf`: and could not hear anything, whatever there was. */
export function looked(pulse: Pulse, now: MonoMs, plannedMs: number, isDeaf: boolean): Pulse {
  const passedMs = Math.max(0, now - pulse.lookedAt);
  const awayMs = passedMs > plannedMs * LATE_RATIO ? passedMs - plannedMs : 0;
  const missedMs = isDeaf ? passedMs : awayMs;
  const from = Math.min(now, after(pulse.from, missedMs)) as MonoMs;
  return { ...pulse, lookedAt: now, from, missedMs: pulse.missedMs + missedMs };
}

export const silentMs = ({ from }: Pulse, now: MonoMs): number => Math.max(0, now - from);

export const isOverdue = (pulse: Pulse, spec: HeartbeatSpec, now: MonoMs): boolean =>
  silentMs(pulse, now) >= silenceLimitMs(spec);

/** So many looks fit into the time it may be silent. */
const LOOKS = 10;
const MIN_PERIOD_MS = 100;
const MAX_PERIOD_MS = 5_000;
/** While there is an alarm: a beat ends it at once. */
const ALARMED_PERIOD_MS = 500;

export function lookPeriodMs(spec: HeartbeatSpec, isAlarmed: boolean): number {
  const usual = Math.min(MAX_PERIOD_MS, Math.max(MIN_PERIOD_MS, Math.round(silenceLimitMs(spec) / LOOKS)));
  return isAlarmed ? Math.min(usual, ALARMED_PERIOD_MS) : usual;
}

// Lines in a log that our own probes cause: many servers write one for each request. They are no progress, but nobody can tell them from
// the component's own by their text. So it goes by time. What is new while nothing was asked is its own. What is new only around our
// questions is an echo: it may be either, and to find out, nothing is asked for as long as a line of its own may take.

/** What comes this long after an answer may still be because of the question: a server writes when it is done. */
export const ECHO_MS = 500;

export const ONLY_ECHOES = 'its log has new lines only when its own probes ask it';

/** Nothing but echoes was heard for this long: it is time to stop asking. The last `log_every` before the limit is left for that. */
export const isTimeToRest = (pulse: Pulse, spec: HeartbeatSpec, now: MonoMs): boolean =>
  silentMs(pulse, now) >= spec.freezeAfterMs;

/** Whether it has had its chance to write a line with nobody asking. `since`: when the last question was over; null: it is not. */
export const isRested = (since: MonoMs | null, { source }: HeartbeatSpec, now: MonoMs): boolean =>
  since !== null && now - since >= (source.kind === 'log' ? source.everyMs : 0);
