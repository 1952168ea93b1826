/** Runs a campaign: asks the core what is next, writes it down, does it, and tells the core how it went. */

import { AppError } from '../base/pure/errors.ts';
import { after } from '../base/pure/ids.ts';
import type { Services } from '../compose/ports.ts';
import { type ArtifactLedger, artifactLedger } from './artifact-ledger.ts';
import { runAttempt } from './attempt.ts';
import { crashIn } from './crash.ts';
import type { Outages } from './outages.ts';
import { next } from './rules/next.ts';
import {
  type CampaignEvent,
  type OpenAttempt,
  type Outcome,
  type Request,
  stateFrom,
  type Write,
} from './rules/state.ts';
import type { Campaign, CampaignParts, Interrupts } from './runner-parts.ts';

/** The book cannot be written (a full disk): nothing is begun or forgotten meanwhile. */
const WRITE_AGAIN_MS = 2_000;

export interface Finished {
  readonly outcome: Outcome;
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
