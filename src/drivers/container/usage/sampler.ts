/** What containers use: read from the kernel where they run on this machine, else asked of the Engine. */
import type { ContainerFacts } from '../../../supervision/rules/container-facts.ts';
import { after, type MonoMs, type RunId } from '../../../base/pure/ids.ts';
import type { Usage } from '../../../supervision/rules/usage/usage.ts';
import type { Clock } from '../../../base/clock.ts';
import type { ContainerStats, EngineClient } from '../../../docker/ports.ts';
import type { Sampler } from '../../../supervision/ports/sampler.ts';
import { type Counters, countersOf } from './place.ts';

export interface ContainerSamplerParts {
  readonly engine: Pick<EngineClient, 'stats'>;
  readonly clock: Clock;
  /** The container of a run as it was last seen; null: it has none. */
  factsOf(run: RunId): ContainerFacts | null;
  /** For all other runs. */
  readonly others: Sampler;
}

/** Engines up to 20.10 take a second for it, whatever they are asked. */
const ANSWER_WITHIN_MS = 5_000;
/** An Engine that did not answer is left alone for so long. */
const REST_MS = 60_000;
/** So many are asked for at once. */
const MAX_ASKED = 4;

interface Known {
  readonly pid: number;
  /** Null: the Engine is asked. */
  readonly counters: Counters | null;
  last: Usage | null;
  isAsked: boolean;
}

export function createContainerSampler({ engine, clock, factsOf, others }: ContainerSamplerParts): Sampler {
  const runs = new Map<RunId, Known>();
  let restUntil = 0 as MonoMs;
  let asked = 0;

  /** Nobody waits for it: what it says is told the next time. */
  async function ask(id: string, known: Known): Promise<void> {
    if (known.isAsked || asked >= MAX_ASKED || clock.now() < restUntil) return;
    asked++;
    known.isAsked = true;
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), ANSWER_WITHIN_MS);
    timer.unref();
    const result = await engine.stats(id, over.signal).catch(() => ({ kind: 'unreachable' }) as const);
    clearTimeout(timer);
    asked--;
    known.isAsked = false;
    known.last = result.kind === 'read' ? usageOf(result.stats) : null;
    if (result.kind === 'unreachable') restUntil = after(clock.now(), REST_MS);
  }

  function look(run: RunId, { id, pid }: ContainerFacts): Known | null {
    const known = runs.get(run);
    if (pid === null) return null;
    if (known?.pid === pid) return known;
    const fresh = { pid, counters: countersOf(id, pid), last: null, isAsked: false };
    runs.set(run, fresh);
    return fresh;
  }

  return {
    sample: async (run, isExact) => {
      const facts = factsOf(run);
      if (facts === null) return others.sample(run, isExact);
      const known = look(run, facts);
      if (known === null) return null;
      if (known.counters === null) void ask(facts.id, known);
      else known.last = read(known.counters, known.last);
      return known.last;
    },
    forget: (run) => {
      runs.delete(run);
      others.forget(run);
    },
  };
}

const usageOf = ({ cpuMs, memoryBytes, processes }: ContainerStats): Usage => ({
  ...{ cpuMs, memoryBytes, processes },
  fds: null,
  threads: processes,
});

function read(counters: Counters, last: Usage | null): Usage | null {
  const cpuMs = counters.cpuMs();
  if (cpuMs === null) return null;
  // Counted to the microsecond: what has not run at all is as it was.
  if (last?.cpuMs === cpuMs) return last;
  const memoryBytes = counters.memoryBytes();
  const processes = counters.processes();
  if (memoryBytes === null || processes === 0) return null;
  return { cpuMs, memoryBytes, fds: null, threads: counters.tasks() ?? processes, processes };
}
