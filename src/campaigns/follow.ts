/** Stays with a command that runs in a container until it has ended, and copies what it writes meanwhile. */

import { after, type MonoMs } from '../base/pure/ids.ts';
import type { AttemptPlace } from '../compose/ports.ts';
import type { AttemptLog } from './attempt-log.ts';
import type { Outages } from './outages.ts';
import type { CampaignParts } from './ports.ts';
import type { AttemptEnd } from './rules/state.ts';

/** Looks get rarer while nothing happens: an experiment of a second is not kept waiting, one of hours costs nothing. Mostly the end is heard of before. */
const FIRST_LOOK_MS = 50;
const LOOK_FACTOR = 1.3;
const MAX_LOOK_MS = 1_000;
/** To read the output takes a command in the container. */
const OUTPUT_EVERY_MS = 1_000;
const MAX_OUTPUT_EVERY_MS = 5_000;
/** A piece that is smaller was the last one there was: another command in the container only to hear so is saved. */
const SMALL_PIECE_BYTES = 64 * 1024;

export interface Followed {
  readonly place: AttemptPlace;
  readonly experiment: string;
  readonly log: AttemptLog;
  /** Put off by the time for which the Engine is away. */
  readonly deadline: MonoMs;
  readonly timeoutMs: number;
  /** Null: its service is not looked at while it runs. */
  readonly healthEveryMs: number | null;
}

export type FollowedEnd =
  | { readonly kind: 'ended'; readonly exitCode: number; readonly durationMs: number | null }
  /** `wasAway`: the Engine could not be asked just before, and may have taken its containers with it. */
  | { readonly kind: 'lost'; readonly why: string; readonly wasAway: boolean }
  /** It runs still, and must not. */
  | Extract<AttemptEnd, { kind: 'timeout' | 'unhealthy' }>;

/** Rejects only when `signal` aborts. While the Engine cannot be asked, nothing is known, and that is all. */
export async function follow(
  parts: CampaignParts,
  followed: Followed,
  outages: Outages,
  signal: AbortSignal,
): Promise<FollowedEnd> {
  const { clock, execs } = parts;
  const { place, deadline, timeoutMs } = followed;
  let pauseMs = FIRST_LOOK_MS;
  const awayBeforeMs = outages.awayMs;
  let known = outages.count;
  let wasUnreachable = false;
  /** An Engine that ends takes its containers along before it is gone itself: so it is asked again. */
  const wasAway = async () => {
    await outages.over(signal);
    return wasUnreachable || outages.count !== known;
  };
  const output = outputCopier(parts, followed, signal);
  const health = healthWatch(parts, followed, signal);
  for (;;) {
    await execs.pause(place, after(clock.now(), pauseMs), signal);
    pauseMs = Math.min(MAX_LOOK_MS, pauseMs * LOOK_FACTOR);
    const before = outages.count;
    const observation = await execs.look(place, signal);
    if (observation.kind === 'ended') return observation;
    if (observation.kind === 'lost') return { ...observation, wasAway: await wasAway() };
    if (observation.kind === 'absent')
      return { kind: 'lost', why: 'nothing is left of it in its container', wasAway: await wasAway() };
    wasUnreachable = observation.kind === 'unreachable';
    if (wasUnreachable) {
      await outages.over(signal);
      continue; // it may have ended long ago, and cannot be ended now
    }
    known = before;
    if (clock.now() - (outages.awayMs - awayBeforeMs) >= deadline)
      return { kind: 'timeout', afterMs: timeoutMs, left: false };
    const trouble = await health.look();
    if (trouble && !(await wasAway())) return trouble;
    await output.look();
  }
}

/** Copies what there is to copy of the output. Resolves also when the Engine or the disk does not let it. */
export async function copyRest(
  { execs, observer }: CampaignParts,
  { place, log, experiment }: Pick<Followed, 'place' | 'log' | 'experiment'>,
  signal: AbortSignal,
): Promise<number> {
  const from = log.position;
  while (!log.isFull) {
    const piece = await execs.output(place, log.position, signal);
    if (piece.length === 0) break;
    observer.output(experiment, piece);
    const isKept = await log.append(piece);
    if (!isKept) observer.note(`the output of ${experiment} cannot be written to its log`);
    if (!isKept || piece.length < SMALL_PIECE_BYTES) break;
  }
  return log.position - from;
}

function outputCopier(parts: CampaignParts, followed: Followed, signal: AbortSignal) {
  const { clock } = parts;
  let everyMs = OUTPUT_EVERY_MS;
  let next = after(clock.now(), everyMs);
  return {
    look: async () => {
      if (clock.now() < next) return;
      const copied = await copyRest(parts, followed, signal);
      everyMs = copied > 0 ? OUTPUT_EVERY_MS : Math.min(MAX_OUTPUT_EVERY_MS, everyMs * LOOK_FACTOR);
      next = after(clock.now(), everyMs);
    },
  };
}

/** How full the GPU is does not matter while an experiment uses it. What cannot be asked is no verdict. */
function healthWatch({ services, clock }: CampaignParts, { place, healthEveryMs }: Followed, signal: AbortSignal) {
  let next = after(clock.now(), healthEveryMs ?? 0);
  return {
    look: async (): Promise<Extract<AttemptEnd, { kind: 'unhealthy' }> | null> => {
      if (healthEveryMs === null || clock.now() < next) return null;
      const health = await services.health(place.service, { gpuMemoryThresholdPct: null }, signal);
      next = after(clock.now(), healthEveryMs);
      if (health.status !== 'unhealthy') return null;
      const why = `its service turned unhealthy: ${health.reason || 'no reason given'}`;
      return { kind: 'unhealthy', why, remedy: health.remedy, left: false };
    },
  };
}
