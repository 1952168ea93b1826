/** The containers of a project: found by the labels that Compose writes, and waited for until they are up. */

import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/pure/errors.ts';
import { formatDuration } from '../base/pure/format.ts';
import { after } from '../base/pure/ids.ts';
import type { ContainerSetup, ContainerState, ContainerSummary, EngineClient } from '../docker/ports.ts';
import { lastLines } from './cli/call.ts';
import { COMPOSE } from './rules/project.ts';
import { type Readiness, readinessOf } from './rules/readiness.ts';
import { timeLimit } from './time-limit.ts';

export interface Inspected {
  readonly state: ContainerState;
  readonly setup: ContainerSetup;
}

/** In the order of their numbers. Throws ENGINE_UNREACHABLE. */
export async function containersOf(
  engine: EngineClient,
  project: string,
  service: string,
  signal: AbortSignal,
): Promise<readonly Inspected[]> {
  const labels = [`${COMPOSE.project}=${project}`, `${COMPOSE.service}=${service}`, `${COMPOSE.oneOff}=False`];
  const rows = await listed(engine, labels, signal);
  const inOrder = [...rows].sort((a, b) => numberOf(a) - numberOf(b));
  const all = await Promise.all(inOrder.map(({ id }) => engine.inspect(id, signal)));
  return all.flatMap((one) => {
    if (one.kind === 'unreachable') throw unreachable(one.why);
    return one.kind === 'found' ? [one] : [];
  });
}

/** Throws ENGINE_UNREACHABLE. */
async function listed(
  engine: EngineClient,
  labels: readonly string[],
  signal: AbortSignal,
): Promise<readonly ContainerSummary[]> {
  const listing = await engine.list(labels, signal);
  if (listing.kind === 'unreachable') throw unreachable(listing.why);
  return listing.items;
}

export const unreachable = (problem: string): AppError =>
  new AppError('ENGINE_UNREACHABLE', { problem: `${problem}.` });

const numberOf = ({ labels }: ContainerSummary): number => Number(labels[COMPOSE.number] ?? 0);

// Waits until services are up: healthy where they have a health check, running otherwise. Asked of the Engine and not of Compose,
// whose old version cannot wait and whose new one takes a service that does its work once for a failure.

/** Large models take minutes to load. */
const READY_WITHIN_MS = 15 * 60_000;
const LOOK_EVERY_MS = 200;
/** One without a health check is taken for up when it has not ended by then. */
const SETTLE_MS = 500;
/** An Engine that is restarted, or has too much to do, is away for so long at most. */
const ENGINE_AWAY_MS = 60_000;
/** The Engine restarts some by itself: after so many starts in vain it is not waited for any longer. */
const MAX_STARTS = 4;

interface WaitParts {
  readonly engine: EngineClient;
  readonly clock: Clock;
  /** For messages. */
  readonly file: string;
}

/** Throws SERVICE_START_FAILED with the last words of the one that failed, ENGINE_UNREACHABLE, and the signal's reason. */
export async function waitReady(
  parts: WaitParts,
  project: string,
  services: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  using time = timeLimit(parts.clock, READY_WITHIN_MS, signal);
  await Promise.all(services.map((service) => waitForOne(parts, project, service, time.signal, signal)));
}

async function waitForOne(
  { engine, clock, file }: WaitParts,
  project: string,
  service: string,
  time: AbortSignal,
  signal: AbortSignal,
): Promise<void> {
  const starts = new Map<string, number>();
  let why = '';
  const fail = async (problem: string, container: Inspected | null) => {
    const words = container === null ? '' : await lastWords({ engine, clock }, container, signal);
    const quoted = words === '' ? '' : `\nIts last lines:\n${words.replace(/^/gm, '  ')}`;
    return new AppError('SERVICE_START_FAILED', { file, problem: `"${service}": ${problem}${quoted}` });
  };
  let last: Inspected | null = null;
  let seenAt = clock.now();
  const look = async (): Promise<readonly Inspected[] | null> => {
    try {
      const containers = await containersOf(engine, project, service, time);
      seenAt = clock.now();
      return containers;
    } catch (error) {
      if (clock.now() - seenAt > ENGINE_AWAY_MS || !isUnreachable(error)) throw error;
      return null;
    }
  };
  try {
    for (;;) {
      const containers = await look();
      if (containers === null) {
        await clock.sleepUntil(after(clock.now(), LOOK_EVERY_MS), time);
        continue;
      }
      if (containers.length === 0) throw await fail('Docker Compose made no container for it', null);
      let isUp = true;
      for (const container of containers) {
        last = container;
        const { startedAt } = container.state;
        const since = starts.get(startedAt) ?? clock.now();
        starts.set(startedAt, since);
        const now = judge(container, since + SETTLE_MS <= clock.now());
        if (now.kind === 'failed') throw await fail(now.why, container);
        if (now.kind === 'starting') {
          isUp = false;
          why = now.why;
          if (starts.size > MAX_STARTS * containers.length)
            throw await fail(`it was started ${starts.size} times in vain, ${why}`, container);
        }
      }
      if (isUp) return;
      await clock.sleepUntil(after(clock.now(), LOOK_EVERY_MS), time);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!time.aborted) throw error;
    throw await fail(`it was not up within ${formatDuration(READY_WITHIN_MS)}, ${why}`, last);
  }
}

const isUnreachable = (error: unknown): boolean => error instanceof AppError && error.code === 'ENGINE_UNREACHABLE';

function judge({ state, setup }: Inspected, hasSettled: boolean): Readiness {
  const now = readinessOf({ ...state, restartPolicy: setup.restartPolicy.name });
  return now.kind === 'running' && !hasSettled ? { kind: 'starting', why: 'it has just been started' } : now;
}

// The last lines that a container wrote since it was started, for a message about its failure.

const LINES = 20;
const MAX_BYTES = 2 ** 16;
const WITHIN_MS = 5_000;
/** The Engine writes down that a container was started after it has, and sometimes after it has said its last words. */
const EARLIER_MS = 5_000;

/** Empty when there are none, or they cannot be had. Rejects only when `signal` aborts. */
async function lastWords(
  { engine, clock }: { readonly engine: EngineClient; readonly clock: Clock },
  { state }: Inspected,
  signal: AbortSignal,
): Promise<string> {
  using time = timeLimit(clock, WITHIN_MS, signal);
  let kept = Buffer.alloc(0);
  const onPiece = (piece: Buffer) => {
    kept = Buffer.concat([kept, piece]).subarray(-MAX_BYTES);
  };
  try {
    await engine.logs(state.id, { after: earlier(state.startedAt), follow: false, onPiece }, time.signal);
  } catch (error) {
    if (!time.isOver) throw error;
  }
  return lastLines(kept.toString('utf8'), LINES);
}

/** Null for what is no time: then all of it is read. */
function earlier(time: string): string | null {
  const at = Date.parse(time) - EARLIER_MS;
  return Number.isFinite(at) && at > 0 ? new Date(at).toISOString() : null;
}
