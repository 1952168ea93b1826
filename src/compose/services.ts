/** The services of one compose file: started, looked at, brought back, removed. Compose only brings them up; the Engine tells the rest. */

import { AppError } from '../base/pure/errors.ts';
import type { EngineClient } from '../docker/ports.ts';
import type { CliParts } from './cli/call.ts';
import { type ComposePlace, composeProject, noSuchService, type Project } from './cli/project.ts';
import { containersOf, unreachable } from './containers.ts';
import { createGpuAsker } from './gpu.ts';
import { healthOf, unknownHealth } from './health.ts';
import type { Services } from './ports.ts';
import { teardown } from './teardown.ts';
import { timeLimit } from './time-limit.ts';
import { waitReady } from './wait-ready.ts';

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
    const deeds = await Promise.all(containers.map(({ state }) => engine.restart(state.id, RESTART_GRACE_MS, signal)));
    if (deeds.length === 0 || deeds.some(({ kind }) => kind !== 'done')) return false;
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

const NEVER = new AbortController().signal;
