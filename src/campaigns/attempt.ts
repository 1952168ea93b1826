/** One attempt of an experiment, from its begin (or from finding it again) to its end, with its output and artifacts copied. */

import { after, type MonoMs } from '../base/pure/ids.ts';
import type { AttemptPlace } from '../compose/ports.ts';
import type { ArtifactLedger } from './artifact-ledger.ts';
import { copyArtifacts } from './artifacts.ts';
import { openAttemptLog } from './attempt-log.ts';
import { copyRest, type Followed, type FollowedEnd, follow } from './follow.ts';
import type { Outages } from './outages.ts';
import type { AttemptEnd, CampaignEvent, OpenAttempt } from './rules/state.ts';
import type { Campaign, CampaignParts, Interrupts } from './runner-parts.ts';

/** Nothing is known, and it is asked again. */
const ASK_AGAIN_MS = 1_000;

type Over = Extract<CampaignEvent, { kind: 'attempt-over' }>;

const over = (end: AttemptEnd, durationMs: number | null = null): Over => ({ kind: 'attempt-over', end, durationMs });
const INTERRUPTED = over({ kind: 'interrupted', why: 'interrupted' });

export interface AttemptOptions {
  /** It may have been begun already, by an earlier process. */
  readonly joining: boolean;
  readonly interrupts: Interrupts;
  readonly outages: Outages;
  readonly ledger: ArtifactLedger;
}

/** Rejects only when it was interrupted and nobody knows whether it has ended: then the attempt stays open in the book. */
export async function runAttempt(
  parts: CampaignParts,
  campaign: Campaign,
  open: OpenAttempt,
  options: AttemptOptions,
): Promise<Over> {
  const before = options.outages.count;
  const ended = await attempt(parts, campaign, open, options);
  return options.outages.count === before ? ended : { ...ended, wasAway: true };
}

async function attempt(
  parts: CampaignParts,
  { record, spec }: Campaign,
  open: OpenAttempt,
  options: AttemptOptions,
): Promise<Over> {
  const { clock } = parts;
  const { stop, rush } = options.interrupts;
  const { name, service, command, env, timeoutMs } = spec.experiments[open.position]!;
  const place: AttemptPlace = { service, container: open.container, attempt: open.attempt };
  const ranBefore = options.joining && record.openSince !== null ? Math.max(0, clock.wallNow() - record.openSince) : 0;
  const begunAt = (clock.now() - ranBefore) as MonoMs;
  const log = openAttemptLog(parts.logDir, name, open.number);
  const followed: Followed = {
    ...{ place, experiment: name, log, deadline: after(begunAt, timeoutMs), timeoutMs },
    healthEveryMs: spec.health.everyMs,
  };
  let end: FollowedEnd;
  try {
    // One that was begun by an earlier process has changed them already.
    if (!options.joining)
      await options.ledger.prepare({ container: open.container, experiment: name }, spec.artifacts, stop);
    const begun = await begin(parts, place, { command, env }, { ...options, timeoutMs });
    if (begun !== null) return begun;
    end = await follow(parts, followed, options.outages, stop);
  } catch (error) {
    if (!stop.aborted || rush.aborted) throw error;
    // Nothing can be ended in an Engine that is away, and nobody waits for it any more.
    if (options.outages.isAway) throw stop.reason;
    return await callOff(parts, followed, options.interrupts);
  }
  const durationMs = 'durationMs' in end && end.durationMs !== null ? end.durationMs : clock.now() - begunAt;
  if (end.kind === 'ended') {
    await copyOut(parts, spec.artifacts, followed, options);
    return over({ kind: 'exited', code: end.exitCode }, durationMs);
  }
  if (end.kind === 'lost') {
    // Nobody watched, or the Engine was away: that says nothing about the experiment.
    const isBlameless = options.joining || end.wasAway;
    return over({ kind: isBlameless ? 'interrupted' : 'lost', why: end.why }, durationMs);
  }
  const isGone = await parts.execs.end(place, rush);
  await copyRest(parts, followed, rush);
  return over({ ...end, left: !isGone }, durationMs);
}

/** Null: it runs, or has ended by now. The same id is never begun twice, so it may be asked for again without harm. */
async function begin(
  { execs, clock }: CampaignParts,
  place: AttemptPlace,
  command: Parameters<CampaignParts['execs']['begin']>[1],
  { joining, timeoutMs, interrupts: { stop }, outages }: AttemptOptions & { readonly timeoutMs: number },
): Promise<Over | null> {
  const before = outages.count;
  let giveUpAt = after(clock.now(), timeoutMs);
  // Lost while nobody watched, or with the Engine: that says nothing about the experiment.
  const lost = async (why: string) => {
    await outages.over(stop);
    return over({ kind: joining || outages.count !== before ? 'interrupted' : 'lost', why });
  };
  let mayBeThere = joining;
  for (;;) {
    stop.throwIfAborted();
    const sight = mayBeThere ? await execs.look(place, stop) : { kind: 'absent' as const };
    const now = sight.kind === 'absent' ? await execs.begin(place, command, stop) : sight;
    if (now.kind === 'lost') return lost(now.why);
    if (now.kind === 'refused') return over(now);
    if (now.kind !== 'unreachable') return null;
    mayBeThere = true;
    const awayBeforeMs = outages.awayMs;
    await outages.over(stop);
    giveUpAt = after(giveUpAt, outages.awayMs - awayBeforeMs);
    if (clock.now() >= giveUpAt) return lost('the Docker Engine could not be reached for too long');
    await clock.sleepUntil(after(clock.now(), ASK_AGAIN_MS), stop);
  }
}

/** Somebody interrupted: it is ended, unless it came to a good end by itself just before. */
async function callOff(parts: CampaignParts, followed: Followed, { stop, rush }: Interrupts): Promise<Over> {
  const { execs } = parts;
  const before = await execs.look(followed.place, rush);
  if (before.kind !== 'ended') await execs.end(followed.place, rush);
  const sight = before.kind === 'ended' ? before : await execs.look(followed.place, rush);
  // It may go on in there: were it closed, the next one would be begun beside it.
  if (sight.kind === 'unreachable' || sight.kind === 'running') throw stop.reason;
  await copyRest(parts, followed, rush);
  if (sight.kind === 'ended' && (sight.exitCode === 0 || before.kind === 'ended'))
    return over({ kind: 'exited', code: sight.exitCode }, sight.durationMs);
  return INTERRUPTED;
}

/** The rest of its output, and its artifacts; both again when the Engine was away meanwhile, unless nobody waits for that. */
async function copyOut(
  parts: CampaignParts,
  artifacts: Parameters<typeof copyArtifacts>[2],
  followed: Followed,
  { interrupts: { stop, rush }, outages, ledger }: AttemptOptions,
): Promise<void> {
  const from = { container: followed.place.container, experiment: followed.experiment };
  for (;;) {
    const before = outages.count;
    await copyRest(parts, followed, rush);
    const { troubles, listings } = await copyArtifacts({ archives: parts.archives, ledger }, from, artifacts, rush);
    if ((outages.count === before && !outages.isAway) || stop.aborted) {
      for (const trouble of troubles) parts.observer.note(trouble);
      for (const [source, listing] of listings) ledger.keep(from.container, source, listing);
      return;
    }
    await outages.over(stop).catch(() => {}); // then what cannot be copied is told
  }
}
