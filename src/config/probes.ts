/** Probes, complete: every default filled in, every path absolute, every command an argv. */
import type { Surroundings } from '../core/component.ts';
import type { ProbeQuestion, ProbeSpec, ProbesSpec } from '../core/health/probe.ts';
import { DEFAULTS } from './defaults.ts';
import type { QuestionConfig } from './shape/questions.ts';
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
      ? { kind: 'all_of', all: items.map((item) => question(item, home)) }
      : question(config as QuestionConfig, home),
    periodMs: config.period ?? periodMs,
    timeoutMs: config.timeout ?? timeoutMs,
    initialDelayMs: config.initial_delay ?? initialDelayMs,
    failureThreshold: config.failure_threshold ?? failureThreshold,
    successThreshold: config.success_threshold ?? successThreshold,
  };
}

function question({ exec, http, tcp, log }: QuestionConfig, home: ProbeHome): ProbeQuestion {
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
