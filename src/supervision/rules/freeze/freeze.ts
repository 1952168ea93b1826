/** The alarm of one run that is silent: how far it has come, what was found, and every step with its time. Part of the state. */
import { formatDuration } from '../../../base/pure/format.ts';
import { after, type MonoMs } from '../../../base/pure/ids.ts';
import { type HeartbeatSpec, silenceLimitMs } from './heartbeat.ts';

/** From the note to SIGINT, and from SIGINT to the stop signal: time for a beat to end the alarm, and for a look. */
export const FREEZE_STEP_MS = 10_000;
/** An end without evidence explains nothing: so much longer it is waited for. */
export const EVIDENCE_PATIENCE_MS = 20_000;

export interface FreezeStep {
  readonly at: MonoMs;
  readonly text: string;
}

export interface Freeze {
  /** It is not silent: it ran longer than it may, since `silentSince`. */
  readonly timeout?: true;
  readonly noticedAt: MonoMs;
  readonly silentSince: MonoMs;
  /** "frozen: no heartbeat for 5 min" */
  readonly reason: string;
  /** noted: SIGINT comes next; postponed: it is busy and gets its time once more; final: looked at again, and SIGINT comes next. */
  readonly stage: 'noted' | 'postponed' | 'final';
  /** When the next step is due. */
  readonly until: MonoMs;
  /** The dump signal was sent: whatever it dies of now is our doing. */
  readonly dumped: boolean;
  /** Null: nobody has looked yet. */
  readonly evidence: readonly string[] | null;
  readonly steps: readonly FreezeStep[];
}

/** What a look into its processes found. */
export interface Findings {
  /** "its processes used 2.9 s of CPU in 3 s, most of it 1234 (node)"; null: they do nothing. */
  readonly busy: string | null;
  /** "its process 1234 is stopped (SIGSTOP)"; null: it is not. */
  readonly stopped: string | null;
  readonly evidence: readonly string[];
}

const FROZEN = 'frozen: ';
/** From the reason why a run was ended. */
export const isFrozen = (unhealthy: string | null): boolean => unhealthy?.startsWith(FROZEN) ?? false;

/** `note`: what is wrong with the heartbeat itself: "state.json has no field last_update". */
export function newFreeze(spec: HeartbeatSpec, silentSince: MonoMs, note: string | null, now: MonoMs): Freeze {
  const silence = `no heartbeat for ${formatDuration(silenceLimitMs(spec))}${note === null ? '' : ` (${note})`}`;
  return {
    ...{ noticedAt: now, silentSince, reason: `${FROZEN}${silence}`, stage: 'noted', evidence: null },
    until: after(now, FREEZE_STEP_MS),
    dumped: spec.dumpSignal !== null,
    steps: [{ at: now, text: silence }],
  };
}

/** Found busy for the first time, it gets `freeze_after` once more; the second look only replaces the evidence. */
export function afterLook(freeze: Freeze, findings: Findings, spec: HeartbeatSpec, now: MonoMs): Freeze {
  const { busy, stopped, evidence } = findings;
  const isPostponed = freeze.stage === 'noted' && busy !== null;
  const seen = lookText(findings);
  return {
    ...freeze,
    evidence,
    reason: stopped === null ? freeze.reason : withCause(freeze.reason, stopped),
    stage: isPostponed ? 'postponed' : freeze.stage,
    until: isPostponed ? after(freeze.noticedAt, spec.freezeAfterMs) : freeze.until,
    steps: [
      ...freeze.steps,
      { at: now, text: isPostponed ? `${seen}; it gets ${formatDuration(spec.freezeAfterMs)} more` : seen },
    ],
  };
}

/** "its processes were examined: its process 1234 is stopped (SIGSTOP)" */
export function lookText({ busy, stopped }: Pick<Findings, 'busy' | 'stopped'>): string {
  const found = [...(stopped === null ? [] : [stopped]), ...(busy === null ? [] : [busy])];
  return `its processes were examined: ${found.length === 0 ? 'they are idle' : found.join('; ')}`;
}

const withCause = (reason: string, cause: string): string =>
  reason.includes(cause) ? reason : `${FROZEN}${cause}, ${reason.slice(FROZEN.length)}`;

/** The extra time is over: one more look, and then SIGINT. */
export const lastChance = (freeze: Freeze, now: MonoMs): Freeze =>
  withStep({ ...freeze, stage: 'final', until: after(now, FREEZE_STEP_MS) }, 'still silent: examined once more', now);

export const withStep = (freeze: Freeze, text: string, at: MonoMs): Freeze => ({
  ...freeze,
  steps: [...freeze.steps, { at, text }],
});

/** Due, and what there is to be known is known. */
export const mayGoOn = ({ until, evidence }: Freeze, now: MonoMs): boolean =>
  now >= until && (evidence !== null || now >= after(until, EVIDENCE_PATIENCE_MS));

/** Why, and what comes next. */
export function frozenNote({ reason, stage, until }: Freeze, now: MonoMs): string {
  const leftMs = Math.round(until - now);
  if (stage === 'postponed') return `${reason}; it is busy and has ${formatDuration(leftMs)} more`;
  return `${reason}; it is ended ${leftMs > 0 ? `in ${formatDuration(leftMs)}` : 'soon'} unless it beats`;
}

/** A daemon that comes back has heard nothing meanwhile: the step that was due begins again. */
export const resumed = (freeze: Freeze, now: MonoMs): Freeze => ({
  ...freeze,
  until: Math.max(freeze.until, after(now, FREEZE_STEP_MS)) as MonoMs,
});
