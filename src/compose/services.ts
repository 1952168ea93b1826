/** The services of one compose file: started, looked at, brought back, removed. Compose only brings them up; the Engine tells the rest. */

import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/pure/errors.ts';
import { after, type WallMs } from '../base/pure/ids.ts';
import type { ActionResult, ContainerSummary, EngineClient } from '../docker/ports.ts';
import { judgeHealth } from '../docker/rules/judge.ts';
import type { CliParts } from './cli/call.ts';
import { type ComposePlace, composeProject, noSuchService, type Project } from './cli/project.ts';
import { containersOf, type Inspected, unreachable, waitReady } from './containers.ts';
import { createGpuAsker, type GpuAsker } from './gpu.ts';
import type { Services } from './ports.ts';
import { judgeGpus } from './rules/gpu.ts';
import { COMPOSE } from './rules/project.ts';
import { endOf, type ServiceHealth, unhealthyBecause } from './rules/readiness.ts';
import { timeLimit } from './time-limit.ts';

const NEVER = new AbortController().signal;

export interface ServicesParts extends CliParts {
  readonly engine: EngineClient;
}

export interface ServicesOptions extends ComposePlace {
  /** A command in the container that tells of its GPUs as JSON; null: nvidia-smi, or the Python bindings. */
  readonly gpuCommand: readonly string[] | null;
}

/** A service that is brought back has this long to end by itself first. */
const RESTART_GRACE_MS = 10_000;
/** The part of the time for a teardown in which Compose may say what belongs to the project. */
const OPEN_SHARE = 0.3;

export interface ComposeServices extends Services {
  /** As `start`, but does not wait until they are ready. */
  begin(services: readonly string[], signal: AbortSignal): Promise<void>;
}

export function createServices(parts: ServicesParts, options: ServicesOptions): ComposeServices {
  const { engine, clock } = parts;
  const { file } = options;
  const compose = composeProject(parts, options);
  const gpus = createGpuAsker({ engine, clock, command: options.gpuCommand });
  const firstSeen = new Map<string, number>();

  /** Before anything is done: without an Engine, nothing is begun. */
  async function askEngine(signal: AbortSignal): Promise<void> {
    const answer = await engine.ping(signal);
    if (answer.kind === 'unreachable') throw unreachable(answer.why);
  }

  async function find(service: string, signal: AbortSignal) {
    return containersOf(engine, (await compose.open(signal)).name, service, signal);
  }

  const ready = async (services: readonly string[], signal: AbortSignal) =>
    waitReady({ engine, clock, file }, (await compose.open(signal)).name, services, signal);

  async function begin(services: readonly string[], signal: AbortSignal): Promise<void> {
    await askEngine(signal);
    if (services.length > 0) await compose.up(services, { anew: false, alone: false }, signal);
  }

  /** Null: a file that is broken by now, or a Compose that is gone or hangs, must not keep anything alive. */
  async function openSoon(limitMs: number): Promise<Project | null> {
    using time = timeLimit(clock, limitMs, NEVER);
    return compose.open(time.signal).catch(() => null);
  }

  /** False: only a new container helps. */
  async function restart(service: string, signal: AbortSignal): Promise<boolean> {
    const containers = await find(service, signal);
    const restarts = await Promise.all(
      containers.map(({ state }) => engine.restart(state.id, RESTART_GRACE_MS, signal)),
    );
    if (restarts.length === 0 || restarts.some(({ kind }) => kind !== 'done')) return false;
    return ready([service], signal).then(
      () => true,
      (error: unknown) => {
        signal.throwIfAborted();
        if (error instanceof AppError) return false;
        throw error;
      },
    );
  }

  return {
    begin,
    start: async (services, signal) => {
      await begin(services, signal);
      await ready(services, signal);
    },
    health: async (service, { gpuMemoryThresholdPct }, signal) => {
      try {
        const containers = await find(service, signal);
        if (containers.length === 0) {
          const project = await compose.open(signal);
          if (!project.services.includes(service)) return unknownHealth(noSuchService(service, file, project).message);
        }
        return await healthOf({ gpus, firstSeen, clock }, service, containers, gpuMemoryThresholdPct, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof AppError) return unknownHealth(error.message);
        throw error;
      }
    },
    recover: async (service, remedy, signal) => {
      try {
        if (remedy === 'restart' && (await restart(service, signal))) return true;
        await askEngine(signal);
        await compose.up([service], { anew: true, alone: true }, signal);
        await ready([service], signal);
        return true;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof AppError) return false;
        throw error;
      }
    },
    containerOf: async (service, signal) => {
      try {
        const containers = await find(service, signal);
        return containers.find(({ state }) => state.running)?.state.id ?? null;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof AppError) return null;
        throw error;
      }
    },
    teardown: async ({ timeoutMs }) => {
      const beganAt = clock.now();
      const project = await openSoon(timeoutMs * OPEN_SHARE);
      const spentMs = clock.now() - beganAt;
      const { name, services } = project ?? { name: compose.usualName, services: null };
      return teardown({ engine, clock }, { project: name, services, file, timeoutMs: timeoutMs - spentMs });
    },
  };
}

// How a service stands: what Docker says of its containers, and what the GPUs in them say.

const NO_GPU = { gpuMemoryUsedBytes: null, gpuMemoryTotalBytes: null };

export const unknownHealth = (reason: string): ServiceHealth => ({
  status: 'unknown',
  healthy: false,
  reason,
  remedy: 'restart',
  ...NO_GPU,
});

const unhealthy = (reason: string, remedy: ServiceHealth['remedy']): ServiceHealth => ({
  status: 'unhealthy',
  healthy: false,
  reason,
  remedy,
  ...NO_GPU,
});

export interface HealthParts {
  readonly gpus: GpuAsker;
  /** How many GPUs each service had when they were first seen. */
  readonly firstSeen: Map<string, number>;
  readonly clock: Pick<Clock, 'wallNow'>;
}

/** The worst of its containers. */
export async function healthOf(
  { gpus, firstSeen, clock }: HealthParts,
  service: string,
  containers: readonly Inspected[],
  gpuMemoryThresholdPct: number | null,
  signal: AbortSignal,
): Promise<ServiceHealth> {
  if (containers.length === 0) return unhealthy('there is no container of it', 'recreate');
  const verdicts = containers.map((one) => byDocker(one, clock.wallNow()));
  const sick = verdicts.find(({ healthy }) => !healthy);
  if (sick) return sick;
  const [{ state }] = containers as [Inspected];
  const reading = await gpus.ask(state, signal);
  if (reading.kind === 'read' && reading.gpus.length > 0 && !firstSeen.has(service))
    firstSeen.set(service, reading.gpus.length);
  const expected = firstSeen.get(service) ?? null;
  const verdict = judgeGpus(reading, { thresholdPct: gpuMemoryThresholdPct, expected });
  const [docker] = verdicts as [ServiceHealth];
  if (verdict === null) return docker;
  const memory = { gpuMemoryUsedBytes: verdict.usedBytes, gpuMemoryTotalBytes: verdict.totalBytes };
  if (verdict.status === 'healthy') return { ...docker, ...memory, status: 'healthy', reason: verdict.reason };
  return { status: verdict.status, healthy: false, reason: verdict.reason, remedy: verdict.remedy, ...memory };
}

function byDocker({ state, setup }: Inspected, now: WallMs): ServiceHealth {
  const { running, paused, restarting, health, error, status } = state;
  if (paused) return unhealthy('it is paused', 'restart');
  if (restarting)
    return unhealthy(`the Engine restarts it again and again, it ended with code ${state.exitCode}`, 'restart');
  if (!running) {
    const ended = endOf({ ...state, restartPolicy: setup.restartPolicy.name });
    return error === '' && status === 'exited' ? unhealthy(ended, 'restart') : unhealthy(error || ended, 'recreate');
  }
  if (health === null) return { ...unhealthy('', 'none'), status: 'none', healthy: true };
  const believed = judgeHealth(state, setup.healthCheck, now);
  // A restart makes it run again.
  if (believed.status === 'unknown') return { ...unknownHealth(believed.reason), isLasting: true };
  if (health.status === 'healthy') return { ...unhealthy('', 'none'), status: 'healthy', healthy: true };
  if (health.status === 'starting')
    return { ...unhealthy('its health check has not passed yet', 'restart'), status: 'starting' };
  return unhealthy(unhealthyBecause(health), 'restart');
}

// Removes what belongs to a project: its containers, their anonymous volumes, its networks. Named volumes hold data and stay. Found by
// labels and not by what this process remembers, so it also clears away after a process that was killed, and after half a start.

/** What does not end by itself by then is killed: the time for all of it is bounded. */
const MAX_GRACE_MS = 10_000;
/** The part of the whole time in which containers may end by themselves. */
const GRACE_SHARE = 0.4;
const AGAIN_AFTER_MS = 250;
/** For saying what is left when the time is over. */
const LIST_WITHIN_MS = 2_000;

export interface TeardownParts {
  readonly engine: EngineClient;
  readonly clock: Clock;
}

export interface TeardownOptions {
  readonly project: string;
  /** Of the file; null: it cannot be read now, and `project` is a guess. */
  readonly services: readonly string[] | null;
  /** Absolute. */
  readonly file: string;
  readonly timeoutMs: number;
}

/** Never rejects. Resolves with what is still there, as sentences; empty: nothing. */
export async function teardown(parts: TeardownParts, options: TeardownOptions): Promise<readonly string[]> {
  const { engine, clock } = parts;
  using time = timeLimit(clock, options.timeoutMs, NEVER);
  const graceMs = Math.min(MAX_GRACE_MS, options.timeoutMs * GRACE_SHARE);
  const projects = new Set([options.project]);
  try {
    // Again and again: what is being started or removed by somebody else just now is seen in the next round.
    for (;;) {
      const found = await find(engine, options, projects, time.signal);
      if (typeof found === 'string') return [unseen(options, found)];
      const held = await Promise.all(found.containers.map((one) => end(engine, one, graceMs, time.signal)));
      const networks = await Promise.all(
        found.networks.map((one) => removeNetwork(engine, one, found.hasOthers, time.signal)),
      );
      if ([...held, ...networks].every((isGone) => isGone)) return [];
      await clock.sleepUntil(after(clock.now(), AGAIN_AFTER_MS), time.signal);
    }
  } catch {
    return whatIsLeft(parts, options, projects);
  }
}

interface ProjectLeftovers {
  readonly containers: readonly ContainerSummary[];
  readonly networks: readonly { readonly id: string; readonly name: string }[];
  /** There are containers of the project that are not ours, and a network may be theirs. */
  readonly hasOthers: boolean;
}

/**
 * Others may have services under the same project name, from other files: those are left alone. `projects` gets the names that ours
 * turn out to have. A sentence when the Engine cannot be asked.
 */
async function find(
  engine: EngineClient,
  { project, services, file }: TeardownOptions,
  projects: Set<string>,
  signal: AbortSignal,
): Promise<ProjectLeftovers | string> {
  const label = services === null ? COMPOSE.project : `${COMPOSE.project}=${project}`;
  const listing = await engine.list([label], signal);
  if (listing.kind === 'unreachable') return listing.why;
  const isOurs = ({ labels }: ContainerSummary) =>
    labels[COMPOSE.oneOff] !== 'True' &&
    (services?.includes(labels[COMPOSE.service] ?? '') || (labels[COMPOSE.files] ?? '').split(',').includes(file));
  const containers = listing.items.filter(isOurs);
  for (const { labels } of containers) projects.add(labels[COMPOSE.project] ?? project);
  const networks: ProjectLeftovers['networks'][number][] = [];
  for (const name of projects) {
    const listed = await engine.networks([`${COMPOSE.project}=${name}`], signal);
    if (listed.kind === 'unreachable') return listed.why;
    networks.push(...listed.items);
  }
  const hasOthers = listing.items.some((one) => projects.has(one.labels[COMPOSE.project] ?? '') && !isOurs(one));
  return { containers, networks, hasOthers };
}

async function end(
  engine: EngineClient,
  { id }: ContainerSummary,
  graceMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  // Not waited for much longer than the grace: one whose process hangs in the kernel does not end at all.
  await engine.stop(id, graceMs, signal);
  return isGone(await engine.remove(id, signal));
}

async function removeNetwork(
  engine: EngineClient,
  { id }: { readonly id: string },
  hasOthers: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const removed = await engine.removeNetwork(id, signal);
  return isGone(removed) || (removed.kind === 'refused' && hasOthers);
}

async function whatIsLeft(
  { engine, clock }: TeardownParts,
  options: TeardownOptions,
  projects: Set<string>,
): Promise<readonly string[]> {
  using time = timeLimit(clock, LIST_WITHIN_MS, NEVER);
  try {
    const found = await find(engine, options, projects, time.signal);
    if (typeof found === 'string') return [unseen(options, found)];
    const containers = found.containers.map(({ id, names }) => `container ${names[0] ?? id}`);
    return [...containers, ...(found.hasOthers ? [] : found.networks.map(({ name }) => `network ${name}`))];
  } catch {
    return [unseen(options, 'the Docker Engine does not answer')];
  }
}

const unseen = ({ project }: TeardownOptions, why: string): string =>
  `what there is of the compose project ${project}, because ${why}`;

const isGone = ({ kind }: ActionResult): boolean => kind === 'done' || kind === 'missing';
