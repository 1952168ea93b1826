/** What the pods of a component say: which lives of its container there were, how each ended, and whose doing that was. */

import type { ExitCause, SpawnProblem } from '../../base/pure/exit.ts';
import { causeOfCode } from '../../docker/rules/exit.ts';
import type { Stored } from './api.ts';

/** One life of the container: from its start to its end. */
export interface Life {
  /** Of the pod. */
  readonly uid: string;
  readonly pod: string;
  readonly container: string;
  /** How often the container had been restarted before. */
  readonly restarts: number;
  /** Of the container, in the words of its runtime; empty: it had none. */
  readonly id: string;
  /** When the pod was made, epoch milliseconds. */
  readonly podMadeAt: number;
}

export interface Terminated {
  readonly id: string;
  readonly exitCode: number;
  /** "OOMKilled", "Error", "Completed", "ContainerCannotRun" */
  readonly reason: string;
  readonly message: string;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
}

/** As much of a pod as is needed: a thousand of them are held in memory. */
export interface PodFacts {
  readonly uid: string;
  readonly name: string;
  readonly node: string | null;
  readonly madeAt: number;
  /** When somebody, or Kubernetes itself, asked for its end; null: nobody did. */
  readonly deletedAt: number | null;
  readonly reason: string;
  readonly message: string;
  /** Why no node takes it; empty: one did. */
  readonly unscheduled: string;
  readonly image: string;
  readonly container: string;
  readonly restarts: number;
  readonly isReady: boolean;
  /** Of what runs now. */
  readonly running: { readonly id: string; readonly since: number } | null;
  readonly waiting: { readonly reason: string; readonly message: string } | null;
  readonly ended: Terminated | null;
  readonly lastEnded: Terminated | null;
}

interface RawState {
  readonly running?: { readonly startedAt?: string };
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly terminated?: RawTerminated;
}
interface RawTerminated {
  readonly exitCode?: number;
  readonly reason?: string;
  readonly message?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly containerID?: string;
}

/** A pod as the server tells it. */
export interface RawPod extends Stored {
  readonly metadata: Stored['metadata'] & { readonly deletionGracePeriodSeconds?: number };
  readonly spec?: {
    readonly nodeName?: string;
    readonly containers?: readonly { readonly name: string; readonly image?: string }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
    readonly containerStatuses?: readonly {
      readonly name: string;
      readonly restartCount?: number;
      readonly ready?: boolean;
      readonly containerID?: string;
      readonly state?: RawState;
      readonly lastState?: RawState;
    }[];
  };
}

const time = (text: string | undefined): number | null => {
  const at = Date.parse(text ?? '');
  return Number.isNaN(at) || at <= 0 ? null : at;
};

const terminatedOf = (raw: RawTerminated | undefined): Terminated | null =>
  raw === undefined
    ? null
    : {
        id: raw.containerID ?? '',
        exitCode: raw.exitCode ?? 0,
        reason: raw.reason ?? '',
        message: raw.message ?? '',
        startedAt: time(raw.startedAt),
        finishedAt: time(raw.finishedAt),
      };

/** `container`: the one of ours; a pod may have others beside it. */
export function podFacts({ metadata, spec, status }: RawPod, container: string): PodFacts {
  const own = status?.containerStatuses?.find(({ name }) => name === container);
  const { state = {}, lastState = {} } = own ?? {};
  const asked = time(metadata.deletionTimestamp);
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const unscheduled = status?.conditions?.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False');
  return {
    uid: metadata.uid,
    name: metadata.name,
    node: spec?.nodeName ?? null,
    madeAt: time(metadata.creationTimestamp) ?? 0,
    // The time that is written there is that by which it has to be gone.
    deletedAt: asked === null ? null : asked - (metadata.deletionGracePeriodSeconds ?? 0) * 1_000,
    reason: status?.reason ?? '',
    message: status?.message ?? '',
    unscheduled: unscheduled?.message ?? '',
    image: spec?.containers?.find(({ name }) => name === container)?.image ?? '',
    container,
    restarts: own?.restartCount ?? 0,
    // Of a node that is lost the container still says that it is ready, but the pod does not.
    isReady: own?.ready === true && ready?.status !== 'False',
    running: state.running ? { id: own?.containerID ?? '', since: time(state.running.startedAt) ?? 0 } : null,
    waiting: state.waiting ? { reason: state.waiting.reason ?? '', message: state.waiting.message ?? '' } : null,
    ended: terminatedOf(state.terminated),
    lastEnded: terminatedOf(lastState.terminated),
  };
}

/** The lives that a pod still knows of, oldest first: at most two. */
function livesIn(pod: PodFacts): readonly Life[] {
  const { uid, name, container, restarts, madeAt, running, ended, lastEnded } = pod;
  const life = (id: string, count: number): Life => ({
    ...{ uid, pod: name, container, id, restarts: count, podMadeAt: madeAt },
  });
  const current = running ?? ended;
  // While it waits to be started again, the count has not gone up yet.
  const before = lastEnded ? [life(lastEnded.id, current ? Math.max(0, restarts - 1) : restarts)] : [];
  return current ? [...before, life(current.id, restarts)] : before;
}

const isSame = (one: Pick<Life, 'uid' | 'id' | 'restarts'>, other: Pick<Life, 'uid' | 'id' | 'restarts'>): boolean =>
  one.uid === other.uid && (one.id === '' || other.id === '' ? one.restarts === other.restarts : one.id === other.id);

export interface NextOptions {
  /** The last life whose end is known; null: none is. */
  readonly after: Life | null;
  /** Every life since then is wanted, also those that have ended; otherwise only one that is there now. */
  readonly catchUp: boolean;
  /** Pods that were there before it was made: what has ended in them is not what was asked for. */
  readonly earlier: ReadonlySet<string>;
  /** Until when another Keepwell watched, epoch milliseconds: what ended later is wanted, too. Null: none did. */
  readonly since: number | null;
}

/** The life that a run is to follow; null: there is none yet. */
export function nextLife(pods: readonly PodFacts[], { after, catchUp, earlier, since }: NextOptions): Life | null {
  const byAge = [...pods].sort((a, b) => a.madeAt - b.madeAt || (a.uid < b.uid ? -1 : 1));
  if (after === null && since !== null) return lifeSince(byAge, since);
  if (after === null || !catchUp) {
    const newest = byAge.filter(({ deletedAt }) => deletedAt === null).at(-1);
    const current = newest && livesIn(newest).at(-1);
    const isPast = newest !== undefined && isOver(newest) && earlier.has(newest.uid);
    return current && !(after && isSame(current, after)) && !isPast ? current : null;
  }
  for (const pod of byAge) {
    if (pod.uid === after.uid) {
      const lives = livesIn(pod);
      const known = lives.findIndex((life) => isSame(life, after));
      const later = known === -1 ? lives.filter(({ restarts }) => restarts > after.restarts) : lives.slice(known + 1);
      if (later.length > 0) return later[0]!;
    } else if (pod.madeAt >= after.podMadeAt && pod.deletedAt === null) {
      const [first] = livesIn(pod);
      if (first) return first;
    }
  }
  return null;
}

/** What another Keepwell, who watched until `since`, has not told of yet. */
function lifeSince(byAge: readonly PodFacts[], since: number): Life | null {
  const newest = byAge.filter(({ deletedAt }) => deletedAt === null).at(-1);
  if (newest === undefined) return null;
  const lives = livesIn(newest);
  return isOver(newest) ? lives.at(-1)! : (lives.find((life) => !endedBefore(life, newest, since)) ?? null);
}

/** Whoever watched until then has told of its end. */
const endedBefore = (life: Life, { lastEnded }: PodFacts, until: number): boolean =>
  lastEnded !== null && life.id === lastEnded.id && (lastEnded.finishedAt ?? 0) <= until;

/** Ended, and nobody will start it again in this pod. */
const isOver = ({ ended, running, waiting }: PodFacts): boolean => ended !== null && !running && !waiting;

/** Nothing runs in it, and what ran is known to have ended: a pod without a container yet may still begin. */
export const isAtRest = ({ running, ended }: PodFacts): boolean => running === null && ended !== null;

/** How a life stands. */
export type Observation =
  | { readonly kind: 'running'; readonly since: number; readonly isReady: boolean }
  /** Its container is being made. */
  | { readonly kind: 'pending' }
  | { readonly kind: 'ended'; readonly how: Ended };

export interface Ended {
  readonly cause: ExitCause;
  /** Epoch milliseconds; null: not known. */
  readonly at: number | null;
  readonly startedAt: number | null;
  /** Which log is its own; null: none is left. */
  readonly log: 'current' | 'previous' | null;
  /** What it said last, as Kubernetes kept it. */
  readonly lastWords: string;
  /** What is known beside: for people. */
  readonly notes: readonly string[];
}

/** `life`: as it was found; `pods`: all of the component as they are now. */
export function observe(life: Life, pods: readonly PodFacts[]): Observation {
  const pod = pods.find(({ uid }) => uid === life.uid);
  if (pod === undefined) return gone(`its pod ${life.pod} was deleted`);
  const { running, ended, lastEnded } = pod;
  const isThis = (one: { readonly id: string } | null, restarts: number): boolean =>
    one !== null && isSame(life, { uid: pod.uid, id: one.id, restarts });
  if (isThis(running, pod.restarts)) {
    const successor = pod.deletedAt !== null && pods.some((other) => other.madeAt > pod.madeAt && !other.deletedAt);
    if (successor) return gone(`its node ${pod.node ?? ''} does not answer; Kubernetes started it elsewhere`, pod);
    return { kind: 'running', since: running!.since, isReady: pod.isReady };
  }
  if (isThis(ended, pod.restarts)) return { kind: 'ended', how: endOf(ended!, pod, life, 'current') };
  const count = running || ended ? pod.restarts - 1 : pod.restarts;
  if (isThis(lastEnded, count)) return { kind: 'ended', how: endOf(lastEnded!, pod, life, 'previous') };
  if (pod.restarts > life.restarts) return { kind: 'ended', how: lostEnd(life, pod) };
  if (life.id !== '' && (running || ended)) return { kind: 'ended', how: lostEnd(life, pod) };
  return isEngineReason(pod.reason) ? gone(engineWords(pod), pod) : { kind: 'pending' };
}

const gone = (why: string, pod?: PodFacts): Observation => ({
  kind: 'ended',
  how: {
    cause: { kind: 'engine', why },
    ...{ at: null, startedAt: null, log: null, lastWords: '' },
    notes: pod ? [placeNote(pod, null)] : [],
  },
});

/** Kubernetes keeps only the last end: whoever was away for two of them has lost one. */
function lostEnd(life: Life, pod: PodFacts): Ended {
  const ends = Math.max(1, pod.restarts - life.restarts);
  const known = pod.lastEnded ? 1 : 0;
  const lost = Math.max(1, ends - known);
  const times = ends === 1 ? 'once' : `${ends} times`;
  const which = lost === 1 ? 'how it ended before is lost' : `how it ended the other ${lost} times is lost`;
  return {
    cause: {
      kind: 'unknown',
      why: `Kubernetes restarted it ${times} while nobody watched, and keeps only the last end: ${which}`,
    },
    ...{ at: null, startedAt: null, log: null, lastWords: '' },
    notes: [placeNote(pod, life.restarts)],
  };
}

/** Reasons that Kubernetes gives for ending a pod by itself: that says nothing about the component. */
const ENGINE_REASONS: ReadonlySet<string> = new Set(
  'Evicted NodeLost NodeShutdown NodeAffinity Shutdown Terminated Preempting Preempted UnexpectedAdmissionError'.split(
    ' ',
  ),
);
const isEngineReason = (reason: string): boolean => ENGINE_REASONS.has(reason) || /^OutOf[a-z]/i.test(reason);

const engineWords = ({ reason, message, node }: PodFacts): string =>
  `Kubernetes ended its pod${node === null ? '' : ` on ${node}`}: ${reason}${message === '' ? '' : `: ${message}`}`;

const COULD_NOT_START: ReadonlySet<string> = new Set(['ContainerCannotRun', 'StartError', 'RunContainerError']);

function endOf(end: Terminated, pod: PodFacts, { restarts }: Life, log: 'current' | 'previous'): Ended {
  return {
    cause: causeOf(end, pod),
    at: end.finishedAt,
    startedAt: end.startedAt,
    log,
    lastWords: end.message,
    notes: [placeNote(pod, restarts), `kubernetes: ${end.reason || 'ended'}, exit code ${end.exitCode}`],
  };
}

function causeOf({ exitCode, reason, message, finishedAt }: Terminated, pod: PodFacts): ExitCause {
  if (isEngineReason(pod.reason)) return { kind: 'engine', why: engineWords(pod) };
  const isDeleted = pod.deletedAt !== null && (finishedAt === null || finishedAt >= pod.deletedAt);
  if (isDeleted) return { kind: 'engine', why: `its pod ${pod.name} was deleted` };
  if (COULD_NOT_START.has(reason)) return { kind: 'spawn-failed', problem: startProblem(exitCode, message) };
  const isOom = reason === 'OOMKilled';
  const cause = causeOfCode(exitCode, isOom);
  return isOom && cause.kind === 'code' ? { ...cause, oom: true } : cause;
}

function startProblem(exitCode: number, message: string): SpawnProblem {
  const code = exitCode === 127 ? 'command-not-found' : exitCode === 126 ? 'command-permission' : 'refused';
  return { code, message: `its container could not be started: ${message.trim()}`, heals: false };
}

const placeNote = ({ name, node, container }: PodFacts, restarts: number | null): string =>
  `kubernetes: pod ${name}, container ${container}${restarts === null ? '' : `, restart ${restarts}`}${node === null ? '' : `, node ${node}`}`;

/** Why nothing runs yet, when Kubernetes says so; null: it is on its way. */
export function whyNotYet(pods: readonly PodFacts[]): string | null {
  const newest = [...pods].filter(({ deletedAt }) => deletedAt === null).sort((a, b) => b.madeAt - a.madeAt)[0];
  if (newest === undefined) return null;
  const { waiting, unscheduled } = newest;
  if (unscheduled !== '') return `no node takes it: ${unscheduled}`;
  if (waiting === null || ON_ITS_WAY.has(waiting.reason)) return null;
  if (waiting.reason === 'CrashLoopBackOff') return `Kubernetes waits before it starts it again: ${waiting.message}`;
  return `Kubernetes cannot start it: ${waiting.reason}${waiting.message === '' ? '' : `: ${waiting.message}`}`;
}

const ON_ITS_WAY: ReadonlySet<string> = new Set(['', 'ContainerCreating', 'PodInitializing']);

// What Events say about an end. They are hints: they expire, are merged, and stop after a burst.

export interface RawEvent extends Stored {
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
}

/** Those from a little before the end. */
const JOINED_MS = 120_000;
const MAX_EVENTS = 8;
const TELLING: ReadonlySet<string> = new Set(
  'Unhealthy Killing BackOff Failed Evicted Preempted OOMKilling NodeNotReady TaintManagerEviction FailedMount FailedScheduling'.split(
    ' ',
  ),
);

export interface JoinedEvents {
  /** Why the kubelet killed it; null: it did not, as far as is known. */
  readonly unhealthy: string | null;
  readonly notes: readonly string[];
}

/** `at`: when it ended. */
export function joinEvents(events: readonly RawEvent[], at: number): JoinedEvents {
  const near = events
    .map((event) => ({ event, when: time(event.lastTimestamp ?? event.eventTime ?? undefined) ?? 0 }))
    .filter(({ event, when }) => TELLING.has(event.reason ?? '') && Math.abs(at - when) < JOINED_MS)
    .sort((a, b) => a.when - b.when);
  const killed = near.findLast(({ event }) => event.reason === 'Killing' && PROBE.test(event.message ?? ''));
  const role = killed && PROBE.exec(killed.event.message ?? '')?.[1];
  const said = near.findLast(
    ({ event }) => event.reason === 'Unhealthy' && (event.message ?? '').toLowerCase().startsWith(role ?? '?'),
  );
  return {
    unhealthy: role ? (said?.event.message ?? `its ${role} probe failed`).trim() : null,
    notes: near.slice(-MAX_EVENTS).map(({ event }) => eventNote(event)),
  };
}

const PROBE = /failed (liveness|startup) probe/;

const eventNote = ({ reason = '', message = '', count = 1 }: RawEvent): string =>
  `kubernetes: event ${reason}${count > 1 ? ` (${count} times)` : ''}: ${message.replace(/\s+/g, ' ').trim().slice(0, 300)}`;
