/** Probes, complete: every default filled in, every path absolute, every command an argv. */
import type { Surroundings } from '../supervision/spec.ts';
import type { ProbeQuestion, ProbeSpec, ProbesSpec, RpcServer } from '../supervision/rules/health/probe.ts';
import { DEFAULTS } from './defaults.ts';
import type { QuestionConfig } from './questions.ts';
import type { ComponentConfig } from './shape.ts';
import { emptyRecord } from './walk.ts';

/** Where the commands of its exec probes run, unless they say otherwise. */
export interface ProbeHome extends Pick<Surroundings, 'cwd'> {
  /** An absolute path from one relative to the folder of the first file. */
  readonly absolute: (path: string) => string;
}

export function probesSpec(config: ComponentConfig, home: ProbeHome): ProbesSpec {
  const { startup, readiness, crash_patterns: patterns = [] } = config;
  // Hits are failed liveness answers, so somebody must ask about liveness, or a hit of last week would never be forgiven.
  const liveness = config.liveness ?? (patterns.length > 0 ? { pid: {} } : undefined);
  return {
    startup: startup ? probeSpec(startup, home) : null,
    liveness: liveness ? probeSpec(liveness, home) : null,
    readiness: readiness ? probeSpec(readiness, home) : null,
  };
}

type ProbeConfig = NonNullable<ComponentConfig['readiness'] | ComponentConfig['liveness']>;

function probeSpec(config: ProbeConfig, home: ProbeHome): ProbeSpec {
  const { periodMs, timeoutMs, initialDelayMs, failureThreshold, successThreshold } = DEFAULTS.probe;
  const items: readonly QuestionConfig[] | undefined = config.all_of;
  return {
    question: items
      ? { kind: 'all_of', all: items.map((item) => questionSpec(item, home)) }
      : questionSpec(config as QuestionConfig, home),
    periodMs: config.period ?? periodMs,
    timeoutMs: config.timeout ?? timeoutMs,
    initialDelayMs: config.initial_delay ?? initialDelayMs,
    failureThreshold: config.failure_threshold ?? failureThreshold,
    successThreshold: config.success_threshold ?? successThreshold,
  };
}

export function questionSpec(config: QuestionConfig, home: ProbeHome): ProbeQuestion {
  const { exec, http, tcp, grpc, temporal, log } = config;
  if (exec) {
    const { command, cwd } = exec;
    return {
      kind: 'exec',
      command: typeof command === 'string' ? ['/bin/sh', '-c', command] : command,
      cwd: cwd === undefined ? home.cwd : home.absolute(cwd),
    };
  }
  if (http) return httpQuestion(http);
  if (tcp) return { kind: 'tcp', host: tcp.host ?? DEFAULTS.probe.tcp.host, port: tcp.port };
  if (grpc) return grpcQuestion(grpc);
  if (temporal) return temporalQuestion(temporal);
  return log ? { kind: 'log', pattern: log.pattern } : { kind: 'pid' };
}

function httpQuestion(config: NonNullable<QuestionConfig['http']>): ProbeQuestion {
  const { scheme, host, path, method, insecure } = DEFAULTS.probe.http;
  const { status } = config;
  return {
    kind: 'http',
    scheme: config.scheme ?? scheme,
    host: config.host ?? host,
    port: config.port,
    path: config.path ?? path,
    method: config.method ?? method,
    headers: config.headers ?? emptyRecord<string>(),
    status: status === undefined ? null : typeof status === 'number' ? [status] : status,
    contains: config.contains ?? null,
    insecure: config.insecure ?? insecure,
  };
}

function grpcQuestion(config: NonNullable<QuestionConfig['grpc']>): ProbeQuestion {
  const { host = DEFAULTS.probe.rpc.host, port, service = DEFAULTS.probe.grpc.service } = config;
  return { kind: 'grpc', host, port, service, ...tlsOf(config) };
}

function temporalQuestion(config: NonNullable<QuestionConfig['temporal']>): ProbeQuestion {
  const { rpc, temporal } = DEFAULTS.probe;
  const { address = { host: rpc.host, port: temporal.port } } = config;
  return {
    kind: 'temporal',
    ...address,
    namespace: config.namespace ?? temporal.namespace,
    taskQueue: config.task_queue,
    queueKind: config.kind,
    maxAgeMs: config.max_age ?? temporal.maxAgeMs,
    ...tlsOf(config),
  };
}

type TlsConfig = Pick<NonNullable<QuestionConfig['grpc']>, 'tls' | 'insecure' | 'server_name'>;

function tlsOf(config: TlsConfig): Pick<RpcServer, 'tls' | 'insecure' | 'serverName'> {
  const { tls, insecure } = DEFAULTS.probe.rpc;
  return {
    tls: config.tls ?? tls,
    insecure: config.insecure ?? insecure,
    serverName: config.server_name ?? null,
  };
}
