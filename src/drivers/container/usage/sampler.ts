/** What containers use: read from the kernel where they run on this machine, else asked of the Engine. */

import type { Clock } from '../../../base/clock.ts';
import { after, type MonoMs, type RunId } from '../../../base/pure/ids.ts';
import type { ContainerStats, EngineClient } from '../../../docker/ports.ts';
import type { Sampler } from '../../../supervision/ports/sampler.ts';
import type { ContainerFacts } from '../../../supervision/rules/container-health.ts';
import type { Usage } from '../../../supervision/rules/usage/usage.ts';
import { readNumber, sumOfWords } from '../../process/proc-file.ts';
import { type CgroupKind, cgroupOf } from '../../process/tree/cgroup.ts';
import { members, memoryCounter } from '../../process/usage/members.ts';

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

interface SampledContainer {
  readonly pid: number;
  /** Null: the Engine is asked. */
  readonly counters: Counters | null;
  last: Usage | null;
  isAsked: boolean;
}

export function createContainerSampler({ engine, clock, factsOf, others }: ContainerSamplerParts): Sampler {
  const runs = new Map<RunId, SampledContainer>();
  let restUntil = 0 as MonoMs;
  let asked = 0;

  /** Nobody waits for it: what it says is told the next time. */
  async function ask(id: string, known: SampledContainer): Promise<void> {
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

  function look(run: RunId, { id, pid }: ContainerFacts): SampledContainer | null {
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

// Where the kernel counts what a container uses. To read three small files takes a moment, to ask the Engine, which reads the same ones, up
// to a second. Only when the process the Engine names is one of this machine: the path has the container's id in it.

export interface Counters {
  /** Since it was started; null: it is gone. */
  cpuMs(): number | null;
  memoryBytes(): number | null;
  tasks(): number | null;
  processes(): number;
}

const US_PER_MS = 1e3;
const NS_PER_MS = 1e6;

/** Null: the Engine has to be asked. */
export function countersOf(id: string, pid: number): Counters | null {
  const own = (kind: CgroupKind) => cut(cgroupOf(pid, kind), id);
  const unified = own(2);
  const memory = [unified, own('memory')].find((path) => path !== null && memoryCounter(path) !== null) ?? null;
  const accounts = own('cpuacct');
  const tasks = own('pids') ?? unified;
  if (memory === null || tasks === null) return null;
  const cpuMs = accounts === null ? (unified === null ? null : ofUnified(unified)) : ofAccounts(accounts);
  if (cpuMs === null || cpuMs() === null) return null;
  return {
    cpuMs,
    memoryBytes: memoryCounter(memory)!,
    tasks: () => readNumber(`${tasks}/pids.current`),
    processes: () => members(tasks).length,
  };
}

const ofUnified = (path: string) => (): number | null => {
  const us = sumOfWords(`${path}/cpu.stat`, ['usage_usec']);
  return us === null ? null : us / US_PER_MS;
};

const ofAccounts = (path: string) => (): number | null => {
  const ns = readNumber(`${path}/cpuacct.usage`);
  return ns === null ? null : ns / NS_PER_MS;
};

/** The cgroup of the whole container; that of its main process may be one inside. */
function cut(path: string | null, id: string): string | null {
  const parts = path?.split('/') ?? [];
  const at = parts.findIndex((part) => part.includes(id));
  return at < 0 ? null : parts.slice(0, at + 1).join('/');
}
