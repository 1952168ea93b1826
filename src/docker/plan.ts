/** A plan for a container in the Engine's words: the body of POST /containers/create. */
import type { ContainerPlan } from './container-plan.ts';
import { nanoseconds } from './health.ts';
import { exposedPorts, portBindings } from './published-ports.ts';

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
