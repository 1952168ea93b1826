import { formatDuration } from '../../base/pure/format.ts';
import type { ComponentView } from '../../supervision/rules/views.ts';

/** What is known about the loop. */
export interface LoopObservation {
  readonly view: ComponentView;
  /** Since its last sign of progress, whoever wrote it when; null: there never was one. */
  readonly ageMs: number | null;
  /** Nothing can start it again: others run it, and there is no command for it. */
  readonly observed: boolean;
  /**
   * Nobody supervises components here, as in a program that only looks after its agents: then the loop's own file says whether it goes
   * on. Null: the loop is supervised like any other component.
   */
  readonly unsupervised: { readonly limitMs: number } | null;
}

/** A freeze that is not over. It outlives the daemon. */
export interface OpenFreeze {
  /** The run that froze first. */
  readonly run: string | null;
  /** When that was noticed, for people. */
  readonly at: string;
  readonly incident: number | null;
  readonly ticket: number | null;
  /** Why people were alerted; null: they were not, yet. */
  readonly alert: string | null;
}

export type LoopAction =
  | { readonly kind: 'file'; readonly title: string; readonly rootCause: string; readonly evidence: readonly string[] }
  | { readonly kind: 'alert'; readonly text: string }
  /** It goes on, or somebody stopped it by hand. `well`: the former. */
  | { readonly kind: 'over'; readonly well: boolean };

/** What is to be done now; null: nothing. */
export function loopAction(open: OpenFreeze | null, observation: LoopObservation): LoopAction | null {
  const { view } = observation;
  if (open === null) return isFrozen(observation) && !isUnwanted(observation) ? fileFreeze(observation) : null;
  if (isUnwanted(observation)) return { kind: 'over', well: false };
  if (isHeard(open, observation)) return { kind: 'over', well: true };
  if (open.alert !== null) return null;
  const why = whyInVain(open, observation);
  return why === null ? null : { kind: 'alert', text: `${view.name} is frozen, and ${why}` };
}

function isFrozen({ view, ageMs, unsupervised }: LoopObservation): boolean {
  if (unsupervised === null) return view.condition === 'frozen';
  return ageMs !== null && ageMs > unsupervised.limitMs;
}

/** Nobody waits for it any more: one that is being stopped by hand may still be called frozen. */
const isUnwanted = ({ view, unsupervised }: LoopObservation): boolean =>
  unsupervised === null && (view.desired === 'stopped' || view.state === 'completed');

function fileFreeze(observation: LoopObservation): LoopAction {
  const { view, ageMs, unsupervised } = observation;
  const { name, pid, heartbeat } = view;
  const limitMs = unsupervised?.limitMs ?? heartbeat?.limit_ms ?? null;
  const limit = limitMs === null ? '' : ` for ${formatDuration(limitMs)}`;
  const last = ageMs === null ? 'it has given none yet' : `the last one was ${formatDuration(ageMs)} ago`;
  const problem = heartbeat?.problem ?? null;
  return {
    kind: 'file',
    title: `${name} is frozen: no sign of progress${limit}`,
    rootCause: `${name} ${unsupervised === null ? 'is running but ' : ''}makes no progress: it gave no sign of it${limit} (${last})${problem === null ? '' : `; ${problem}`}`,
    evidence: [
      ...(unsupervised === null
        ? [
            `process: ${pid ?? 'not known'}, up for ${view.uptime_ms === null ? 'an unknown time' : formatDuration(view.uptime_ms)}`,
          ]
        : ['no daemon runs, so nobody knows its process: only its heartbeat file was read']),
      ...(heartbeat === null
        ? []
        : [`heartbeat: ${heartbeat.source}, silent for ${formatDuration(heartbeat.silent_ms)}`]),
      ...(view.note === null ? [] : [view.note]),
    ],
  };
}

/** It gave a sign in a later run, or the alarm of the same run is off. */
function isHeard(open: OpenFreeze, observation: LoopObservation): boolean {
  const { view, ageMs, unsupervised } = observation;
  if (unsupervised !== null) return ageMs !== null && !isFrozen(observation);
  if (view.state !== 'running' || view.condition === 'frozen') return false;
  if (view.run_id === open.run) return true;
  const beat = view.heartbeat?.last_beat_at ?? null;
  return beat !== null && beat > open.at;
}

function whyInVain(open: OpenFreeze, { view, observed, unsupervised }: LoopObservation): string | null {
  const { state, condition, run_id } = view;
  if (unsupervised !== null) return 'no daemon runs that could start it again ("keepwell up" starts one)';
  if (state === 'gave-up') return 'has used up its restarts';
  if (condition === 'unkillable') return 'it cannot be ended: even SIGKILL does not end its processes';
  if (condition !== 'frozen') return null;
  if (observed) return 'nothing here can start it again: others run it, and there is no restart.command';
  return run_id === open.run ? null : 'starting it again did not help: it is frozen again';
}

/** Whether it goes on; null: nobody can say, or nobody wants it to. */
export function isResponsive(open: OpenFreeze | null, observation: LoopObservation): boolean | null {
  const { view, unsupervised, ageMs } = observation;
  const { state, condition, desired } = view;
  if (unsupervised !== null) return open !== null || isFrozen(observation) ? false : ageMs === null ? null : true;
  if (desired === 'stopped' || condition === 'engine-unreachable') return null;
  if (open !== null || condition === 'frozen' || condition === 'unkillable' || state === 'gave-up') return false;
  return state === 'running' ? true : null;
}

/**
 * How long ago the loop last gave a sign; null: it gave none since it was started. A file that an earlier run wrote says nothing about
 * this one, unless it is frozen: then there is nothing newer to tell.
 */
export function lastSignMs(open: OpenFreeze | null, { view, ageMs, unsupervised }: LoopObservation): number | null {
  const isOld = ageMs !== null && view.uptime_ms !== null && ageMs > view.uptime_ms;
  return isOld && open === null && unsupervised === null ? null : ageMs;
}

/** "frozen, being started again": for the report. */
export function describeLoop(
  open: OpenFreeze,
  { view, observed, unsupervised }: LoopObservation,
): { readonly error: string; readonly action: string } {
  const error = `${view.name} is frozen since ${open.at}`;
  if (open.alert !== null) return { error: open.alert, action: 'alerted' };
  return {
    error,
    action: observed || unsupervised !== null ? 'none' : view.state === 'running' ? 'being examined' : 'restarted',
  };
}
