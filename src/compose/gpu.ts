/**
 * Asks for the GPUs of a container, by a command in it: one's own, nvidia-smi, or the Python bindings where there is neither. Which
 * of them works is found out once per container. At most one is under way per container: nvidia-smi may hang in the kernel, where
 * nothing ends it, and each further one would hang beside it.
 */

import type { Clock } from '../base/clock.ts';
import { formatDuration } from '../base/pure/format.ts';
import type { ContainerState, EngineClient } from '../docker/ports.ts';
import {
  BAD_ARGUMENT,
  type GpuReading,
  NVIDIA_SMI,
  OLD_NVIDIA_SMI,
  PYNVML,
  readGpuJson,
  readNvidiaSmi,
} from './rules/gpu.ts';
import { timeLimit } from './time-limit.ts';

/** It answers within a second; with many GPUs and without its persistence mode within some more. */
const ANSWER_WITHIN_MS = 15_000;

export interface GpuParts {
  readonly engine: EngineClient;
  readonly clock: Clock;
  /** Prints JSON; null: as usual. */
  readonly command: readonly string[] | null;
}

type Read = (code: number, output: string) => GpuReading;
type Way = readonly [command: readonly string[], read: Read];

const USUAL_WAYS: readonly Way[] = [
  [NVIDIA_SMI, readNvidiaSmi],
  [PYNVML, readGpuJson],
];

export interface GpuAsker {
  /** Rejects only when `signal` aborts. */
  ask(container: ContainerState, signal: AbortSignal): Promise<GpuReading>;
}

export function createGpuAsker({ engine, clock, command }: GpuParts): GpuAsker {
  const ways: readonly Way[] = command === null ? USUAL_WAYS : [[command, readGpuJson]];
  /** By container and start: what works in it. Empty: nothing does. */
  const known = new Map<string, readonly Way[]>();
  const underWay = new Map<string, Promise<GpuReading>>();
  /** Why it is not asked again: one that hangs is still in there. */
  const stuck = new Map<string, string>();

  async function put([program, read]: Way, key: string, container: string, signal: AbortSignal): Promise<GpuReading> {
    using time = timeLimit(clock, ANSWER_WITHIN_MS, signal);
    const result = await engine.exec(container, program, time.signal);
    switch (result.kind) {
      case 'exited':
        if (result.code === BAD_ARGUMENT && program === NVIDIA_SMI)
          return put([OLD_NVIDIA_SMI, readNvidiaSmi], key, container, signal);
        return read(result.code, result.output);
      case 'unreachable':
        return { kind: 'unknown', why: result.why };
      case 'not-started':
        if (/executable file not found|no such file/i.test(result.why)) return { kind: 'none' };
        return { kind: 'unknown', why: result.why };
      case 'called-off': {
        signal.throwIfAborted();
        const why = `${program[0]} did not answer within ${formatDuration(ANSWER_WITHIN_MS)}`;
        if (result.left !== null) stuck.set(key, `${why}, and could not be ended: ${result.left}`);
        return { kind: 'fault', why, remedy: 'restart' };
      }
    }
  }

  async function askAll(key: string, container: string, signal: AbortSignal): Promise<GpuReading> {
    for (const way of known.get(key) ?? ways) {
      const reading = await put(way, key, container, signal);
      if (reading.kind === 'none') continue;
      known.set(key, [way]);
      return reading;
    }
    known.set(key, []);
    return { kind: 'none' };
  }

  return {
    ask: ({ id, startedAt }, signal) => {
      const key = `${id} ${startedAt}`;
      const why = stuck.get(key);
      if (why !== undefined) return Promise.resolve({ kind: 'fault', why, remedy: 'restart' });
      const asked = underWay.get(key) ?? askAll(key, id, signal).finally(() => underWay.delete(key));
      underWay.set(key, asked);
      return asked;
    },
  };
}
