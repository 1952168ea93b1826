/** What is done with containers. Each returns what came of it; after `unreachable` it may have been done all the same. */
import type { SignalName } from '../base/pure/exit.ts';
import { actionResult, type Caller, creation } from './caller.ts';
import { exposedPorts, inspect, nanoseconds, portBindings } from './container.ts';
import type { ActionResult, ContainerPlan, Creation, RestartPolicy } from './ports.ts';

/** Storage, network and the runtime have a part in it; on a busy machine that is some seconds. */
const START_WITHIN_MS = 60_000;
/** A kill that the kernel holds up, and a file system to be taken away. */
const REMOVE_WITHIN_MS = 60_000;
/** What the Engine needs to kill what did not end by itself, beside the time it was given. */
const STOP_SLACK_MS = 10_000;

const path = (id: string, action: string): string => `/containers/${encodeURIComponent(id)}/${action}`;

export async function create(
  caller: Caller,
  name: string | null,
  plan: ContainerPlan,
  signal: AbortSignal,
): Promise<Creation> {
  const query = name === null ? '' : `?name=${encodeURIComponent(name)}`;
  const body = createBody(plan);
  const call = { method: 'POST', path: `/containers/create${query}`, body, turn: 'start' } as const;
  return creation(await caller({ ...call, timeoutMs: START_WITHIN_MS }, signal));
}

export async function start(caller: Caller, id: string, signal: AbortSignal): Promise<ActionResult> {
  const call = { method: 'POST', path: path(id, 'start'), turn: 'start', timeoutMs: START_WITHIN_MS } as const;
  return actionResult(await caller(call, signal), { of: id });
}

/** The Engine goes on stopping it when we have stopped waiting: then it is looked at, and never asked twice. */
export async function stop(caller: Caller, id: string, graceMs: number, signal: AbortSignal): Promise<ActionResult> {
  const stopped = actionResult(await caller(waiting(id, 'stop', graceMs), signal), { of: id });
  if (stopped.kind !== 'unreachable') return stopped;
  const now = await inspect(caller, id, signal);
  if (now.kind === 'missing') return now;
  return now.kind === 'found' && !now.state.running ? { kind: 'done' } : stopped;
}

export async function restart(caller: Caller, id: string, graceMs: number, signal: AbortSignal): Promise<ActionResult> {
  const { timeoutMs, ...call } = waiting(id, 'restart', graceMs);
  return actionResult(await caller({ ...call, timeoutMs: timeoutMs + START_WITHIN_MS }, signal), { of: id });
}

/** It costs the Engine nothing to wait for the end of a container: a slow one must not hold up the others. */
function waiting(id: string, action: string, graceMs: number) {
  const seconds = Math.ceil(graceMs / 1_000);
  const timeoutMs = seconds * 1_000 + STOP_SLACK_MS;
  return { method: 'POST', path: path(id, `${action}?t=${seconds}`), turn: 'none', timeoutMs } as const;
}

export async function kill(
  caller: Caller,
  id: string,
  unixSignal: SignalName,
  signal: AbortSignal,
): Promise<ActionResult> {
  const call = { method: 'POST', path: path(id, `kill?signal=${unixSignal}`) } as const;
  // Podman: "can only kill running containers".
  return actionResult(await caller(call, signal), { of: id, done: /is not running|only kill running/i });
}

export async function unpause(caller: Caller, id: string, signal: AbortSignal): Promise<ActionResult> {
  return actionResult(await caller({ method: 'POST', path: path(id, 'unpause') }, signal), {
    of: id,
    done: /is not paused/i,
  });
}

export const remove = (caller: Caller, id: string, signal: AbortSignal): Promise<ActionResult> =>
  removal(caller, id, 'force=1&v=1', signal);

export const removeStopped = (caller: Caller, id: string, signal: AbortSignal): Promise<ActionResult> =>
  removal(caller, id, 'force=0&v=0', signal);

async function removal(caller: Caller, id: string, how: string, signal: AbortSignal): Promise<ActionResult> {
  const address = `/containers/${encodeURIComponent(id)}?${how}`;
  const call = { method: 'DELETE', path: address, timeoutMs: REMOVE_WITHIN_MS } as const;
  return actionResult(await caller(call, signal), { of: id, done: /removal of container .* is already in progress/i });
}

export async function setRestartPolicy(
  caller: Caller,
  id: string,
  { name, maxRetries }: RestartPolicy,
  signal: AbortSignal,
): Promise<ActionResult> {
  const body = { RestartPolicy: { Name: name, MaximumRetryCount: maxRetries } };
  return actionResult(await caller({ method: 'POST', path: path(id, 'update'), body }, signal), { of: id });
}

// A plan for a container in the Engine's words: the body of POST /containers/create.

const NANO_CPUS = 1e9;
/**
 * What a container writes is read as it comes; what the Engine keeps of it besides must not fill the disk, and has to be enough for a
 * burst: the Engine itself reads it more slowly than a container can write.
 */
const LOG_KEEPING = { Type: 'json-file', Config: { 'max-size': '20m', 'max-file': '5' } };

export function createBody(plan: ContainerPlan): unknown {
  return {
    Image: plan.image,
    Cmd: plan.command ?? undefined,
    Entrypoint: plan.entrypoint ?? undefined,
    Env: Object.entries(plan.env).map(([name, value]) => `${name}=${value}`),
    Labels: plan.labels,
    User: plan.user ?? undefined,
    WorkingDir: plan.workdir ?? undefined,
    StopSignal: plan.stopSignal ?? undefined,
    Healthcheck: healthCheck(plan.healthCheck),
    ExposedPorts: exposedPorts(plan.ports),
    HostConfig: {
      Init: plan.init,
      NetworkMode: plan.network ?? undefined,
      PortBindings: portBindings(plan.ports),
      Binds: plan.binds,
      Tmpfs: plan.tmpfs,
      ReadonlyRootfs: plan.readOnly,
      CapDrop: plan.dropCapabilities,
      CapAdd: plan.addCapabilities,
      SecurityOpt: plan.noNewPrivileges ? ['no-new-privileges'] : [],
      ...memory(plan.memoryBytes),
      NanoCpus: plan.cpus === null ? undefined : Math.round(plan.cpus * NANO_CPUS),
      PidsLimit: plan.pids ?? undefined,
      Ulimits: plan.nofile === null ? undefined : [{ Name: 'nofile', Soft: plan.nofile, Hard: plan.nofile }],
      // Two that restart it would work against each other.
      RestartPolicy: { Name: 'no' },
      LogConfig: LOG_KEEPING,
    },
  };
}

/** Without the second, the Engine allows as much swap again on top. */
const memory = (bytes: number | null) => (bytes === null ? {} : { Memory: bytes, MemorySwap: bytes });

function healthCheck(check: ContainerPlan['healthCheck']): unknown {
  if (check === null) return undefined;
  if (check === 'none') return { Test: ['NONE'] };
  const { intervalMs, timeoutMs, startPeriodMs, retries } = check.times;
  return {
    Test: ['CMD', ...check.command],
    Interval: nanoseconds(intervalMs),
    Timeout: nanoseconds(timeoutMs),
    StartPeriod: nanoseconds(startPeriodMs),
    Retries: retries,
  };
}
