/** Runs a campaign: asks the core what is next, writes it down, does it, and tells the core how it went. */

import { AppError } from '../base/pure/errors.ts';
import { type ExitView, exitView } from '../base/pure/exit.ts';
import { after, type MonoMs, type RunId, type WallMs } from '../base/pure/ids.ts';
import { redact, secretValues } from '../base/pure/redact.ts';
import type { AttemptPlace, Services } from '../compose/ports.ts';
import { dossierOf } from '../crashes/rules/explain.ts';
import { causeOfCode } from '../docker/rules/exit.ts';
import type { NewCrash } from '../supervision/ports/crash.ts';
import { FRESH } from '../supervision/rules/lifecycle/state.ts';
import { type ArtifactLedger, artifactLedger, copyArtifacts } from './artifacts.ts';
import { attemptTail, openAttemptLog } from './attempt-log.ts';
import { copyRest, type Followed, type FollowedEnd, follow } from './follow.ts';
import type { Outages } from './outages.ts';
import type { Campaign, CampaignParts, Interrupts } from './ports.ts';
import { next } from './rules/next.ts';
import {
  type AttemptEnd,
  type CampaignEvent,
  type Experiment,
  type FinalState,
  type OpenAttempt,
  type Request,
  stateFrom,
  type Write,
} from './rules/state.ts';
import type { ExperimentSpec } from './spec.ts';

/** The book cannot be written (a full disk): nothing is begun or forgotten meanwhile. */
const WRITE_AGAIN_MS = 2_000;

export interface Finished {
  readonly outcome: FinalState;
  readonly reason: string | null;
}

/** Rejects only when it is interrupted in a hurry, or while the Engine is away. Services are left as they are then, and also at the end. */
export async function runCampaign(
  parts: CampaignParts,
  campaign: Campaign,
  interrupts: Interrupts,
  outages: Outages,
): Promise<Finished> {
  const { record, spec } = campaign;
  const attemptId = (position: number, number: number) => `${record.uid}-${position}-${number}`;
  const forgotten: Promise<void>[] = [];
  const ledger = artifactLedger(parts.archives, parts.clock);
  let state = stateFrom(record.experiments);
  let event: CampaignEvent = { kind: 'began', open: record.open };
  for (;;) {
    const step = next(state, event, { spec, attemptId });
    await writeDown(parts, campaign, step.writes, interrupts.rush);
    forgotten.push(...forgetEnded(parts, campaign, step.writes, interrupts.rush));
    state = step.state;
    parts.observer.step(state, step.request);
    if (step.request.kind === 'finish') {
      await Promise.all(forgotten);
      return step.request;
    }
    event = await perform(parts, campaign, step.request, { interrupts, outages, ledger });
  }
}

async function perform(
  parts: CampaignParts,
  campaign: Campaign,
  request: Exclude<Request, { kind: 'finish' }>,
  course: { readonly interrupts: Interrupts; readonly outages: Outages; readonly ledger: ArtifactLedger },
): Promise<CampaignEvent> {
  const { interrupts, outages } = course;
  if (request.kind === 'run') {
    if (request.joining) parts.book.mark(campaign.record.id, { mayBeUp: true });
    return await runAttempt(parts, campaign, request.open, { joining: request.joining, ...course });
  }
  try {
    interrupts.stop.throwIfAborted();
    const before = outages.count;
    const event = await prepare(parts, campaign, request, interrupts.stop);
    if (isTrouble(event) || outages.isAway) await outages.over(interrupts.stop);
    if (outages.count !== before) return { kind: 'engine-was-away' };
    if (event.kind === 'services-failed' && event.mayPass) parts.observer.note(event.why);
    return event;
  } catch (error) {
    if (!interrupts.stop.aborted || interrupts.rush.aborted) throw error;
    return { kind: 'interrupted' };
  }
}

/** That may be the Engine's fault. */
const isTrouble = (event: CampaignEvent): boolean =>
  event.kind === 'services-failed' ||
  (event.kind === 'checked' && !(event.health.healthy && event.container !== null)) ||
  (event.kind === 'recovered' && !event.isBack);

async function prepare(
  { services, book, clock }: CampaignParts,
  { record, spec }: Campaign,
  request: Exclude<Request, { kind: 'finish' | 'run' }>,
  signal: AbortSignal,
): Promise<CampaignEvent> {
  switch (request.kind) {
    case 'start-services':
      book.mark(record.id, { mayBeUp: true });
      return await startServices(services, request.services, { mayBeUp: record.mayBeUp || request.again }, signal);
    case 'check-health': {
      const { gpuMemoryThresholdPct } = spec.health;
      const [health, container] = await Promise.all([
        services.health(request.service, { gpuMemoryThresholdPct }, signal),
        services.containerOf(request.service, signal),
      ]);
      return { kind: 'checked', health, container };
    }
    case 'recover':
      return { kind: 'recovered', isBack: await services.recover(request.service, request.remedy, signal) };
    case 'wait':
      await clock.sleepUntil(after(clock.now(), request.ms), signal);
      return { kind: 'waited' };
  }
}

/** `mayBeUp`: an earlier process, or an earlier start, may have left them, and one that hangs would not get ready by being started. */
async function startServices(
  services: Services,
  wanted: readonly string[],
  { mayBeUp }: { readonly mayBeUp: boolean },
  signal: AbortSignal,
): Promise<CampaignEvent> {
  try {
    for (const service of mayBeUp ? wanted : []) await reviveLeft(services, service, signal);
    await services.start(wanted, signal).catch(async (error: unknown) => {
      if (!mayBeUp || !isPassing(error)) throw error;
      for (const service of wanted) await replaceDead(services, service, signal);
      await services.start(wanted, signal);
    });
    return { kind: 'services-started' };
  } catch (error) {
    signal.throwIfAborted();
    if (!isKnown(error)) throw error;
    return { kind: 'services-failed', why: error.message, mayPass: isPassing(error) };
  }
}

async function reviveLeft(services: Services, service: string, signal: AbortSignal): Promise<void> {
  if ((await services.containerOf(service, signal)) === null) return;
  const { status, remedy, isLasting } = await services.health(service, { gpuMemoryThresholdPct: null }, signal);
  if ((status === 'unhealthy' || isLasting) && remedy !== 'none') await services.recover(service, remedy, signal);
}

/** An Engine that was killed while it started a container never starts that one again ("id already in use"). */
async function replaceDead(services: Services, service: string, signal: AbortSignal): Promise<void> {
  if ((await services.containerOf(service, signal)) === null) await services.recover(service, 'recreate', signal);
}

const isPassing = (error: unknown): boolean => isKnown(error) && error.code === 'SERVICE_START_FAILED';

const isKnown = (error: unknown): error is AppError => error instanceof AppError;

/** A result that cannot be written is kept until it can: what comes after it would be begun without a memory of it. */
async function writeDown(
  parts: CampaignParts,
  campaign: Campaign,
  writes: readonly Write[],
  rush: AbortSignal,
): Promise<void> {
  const { book, clock, observer } = parts;
  const crash = crashIn(writes, campaign, parts, clock.wallNow());
  let said = '';
  for (;;) {
    try {
      if (writes.length > 0) book.write(campaign.record.id, writes, clock.wallNow(), crash);
      return;
    } catch (error) {
      if (!isKnown(error)) throw error;
      if (error.message !== said) observer.note(`${error.message} Trying again.`);
      said = error.message;
      await clock.sleepUntil(after(clock.now(), WRITE_AGAIN_MS), rush);
    }
  }
}

/** Its files in the container are of no use once its result is written. Nobody waits for that; none of these promises rejects. */
const forgetEnded = ({ execs }: CampaignParts, { spec }: Campaign, writes: readonly Write[], signal: AbortSignal) =>
  writes
    .filter((write) => write.kind === 'attempt-over')
    .filter(({ outcome }) => outcome === 'exited')
    .map(({ open }) => execs.forget(placeOf(spec, open), signal).catch(() => {}));

const placeOf = (spec: Campaign['spec'], { position, container, attempt }: OpenAttempt) => ({
  service: spec.experiments[position]!.service,
  container,
  attempt,
});

// One attempt of an experiment, from its begin (or from finding it again) to its end, with its output and artifacts copied.

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
    const observation = mayBeThere ? await execs.look(place, stop) : { kind: 'absent' as const };
    const now = observation.kind === 'absent' ? await execs.begin(place, command, stop) : observation;
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
  const observation = before.kind === 'ended' ? before : await execs.look(followed.place, rush);
  // It may go on in there: were it closed, the next one would be begun beside it.
  if (observation.kind === 'unreachable' || observation.kind === 'running') throw stop.reason;
  await copyRest(parts, followed, rush);
  if (observation.kind === 'ended' && (observation.exitCode === 0 || before.kind === 'ended'))
    return over({ kind: 'exited', code: observation.exitCode }, observation.durationMs);
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

// The dossier of an attempt that failed, written together with its end by whoever runs the campaign. There are no incidents here, and there
// may be no daemon: it belongs to no incident.

type CrashedAttempt = Extract<Write, { kind: 'attempt-over' }>;

/** Null: none of these writes is the end of an attempt that failed. One that was interrupted has not. */
export function crashIn(
  writes: readonly Write[],
  { record, spec }: Campaign,
  { logDir, secrets }: Pick<CampaignParts, 'logDir' | 'secrets'>,
  at: WallMs,
): NewCrash | null {
  const over = writes.find((write) => write.kind === 'attempt-over');
  if (over === undefined || !hasFailed(over)) return null;
  const { position, number, attempt } = over.open;
  const after = writes.find((write) => write.kind === 'experiment' && write.position === position) as
    | Extract<Write, { kind: 'experiment' }>
    | undefined;
  const asked = spec.experiments[position]!;
  const known = [...secrets, ...secretValues(asked.env)];
  const name = `${record.name}/${asked.name}`;
  const exit = exitOf(over, known);
  const dossier = dossierOf(attemptTail(logDir, asked.name, number, known), exit, { whose: `experiment ${name}` });
  return {
    ...{ subject: { kind: 'experiment', name }, run: attempt as RunId, at, uptimeMs: over.durationMs ?? 0, exit },
    ...{ decision: decisionOf(after?.experiment, asked), rule: 'retries', restartsInWindow: 0 },
    counters: { ...FRESH, failures: after?.experiment.failures ?? 1, total: number - 1 },
    ...{ dependencies: [], changedSinceGood: null, probes: [] },
    ...dossier,
    rootCause: dossier.rootCause ?? exit.unknown,
  };
}

const hasFailed = ({ outcome, exitCode }: CrashedAttempt): boolean =>
  outcome !== 'interrupted' && !(outcome === 'exited' && exitCode === 0);

const decisionOf = (experiment: Experiment | undefined, { retries }: ExperimentSpec): string =>
  experiment?.state === 'pending' ? `tried again (${experiment.failures} of ${retries})` : 'failed for good';

/** Services and the Engine quote what containers say. */
function exitOf({ outcome, exitCode, reason }: CrashedAttempt, known: readonly string[]): ExitView {
  if (exitCode !== null) return exitView(causeOfCode(exitCode));
  const why = redact(reason ?? 'the reason is not known', known, { end: true });
  if (outcome === 'refused')
    return exitView({ kind: 'spawn-failed', problem: { code: 'refused', message: why, heals: false } });
  if (outcome === 'lost') return exitView({ kind: 'unknown', why });
  return exitView({ kind: 'unknown', why: 'it was ended by us' }, outcome === 'timeout' ? `it ${why}` : why);
}
