/** Probes, complete: every default filled in, every path absolute, every command an argv. */

import { z } from 'zod';
import type { ProbeQuestion, ProbeSpec, ProbesSpec, RpcServer } from '../supervision/rules/health/probe.ts';
import type { Surroundings } from '../supervision/spec.ts';
import { DEFAULTS } from './defaults.ts';
import { durationText } from './duration.ts';
import { duration, exactlyOne, type Help, leaf, number, optional, positiveDuration } from './leaves.ts';
import { item, LOG, QUESTIONS, type QuestionConfig, silentItem } from './questions.ts';
import { type Reader, refuse, scalarReader } from './readers.ts';
import { printable, shorten } from './text.ts';
import { emptyRecord } from './tree.ts';

/** Where the commands of its exec probes run, unless they say otherwise. */
export interface ProbeHome extends Pick<Surroundings, 'cwd'> {
  /** An absolute path from one relative to the folder of the first file. */
  readonly absolute: (path: string) => string;
}

export function probesSpec(config: ProbesConfig, home: ProbeHome): ProbesSpec {
  const { startup, readiness, crash_patterns: patterns = [] } = config;
  // Hits are failed liveness answers, so somebody must ask about liveness, or a hit of last week would never be forgiven.
  const liveness = config.liveness ?? (patterns.length > 0 ? { pid: {} } : undefined);
  return {
    startup: startup ? probeSpec(startup, home) : null,
    liveness: liveness ? probeSpec(liveness, home) : null,
    readiness: readiness ? probeSpec(readiness, home) : null,
  };
}

/** What a component says about its probes. */
interface ProbesConfig {
  readonly startup?: z.output<typeof startupSchema> | undefined;
  readonly liveness?: z.output<typeof livenessSchema> | undefined;
  readonly readiness?: z.output<typeof readinessSchema> | undefined;
  readonly crash_patterns?: readonly string[] | undefined;
}

type OneProbeConfig = z.output<typeof readinessSchema> | z.output<typeof livenessSchema>;

function probeSpec(config: OneProbeConfig, home: ProbeHome): ProbeSpec {
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

// The three probes as a schema: what is asked, how often, and how many answers count.

const DEFAULT = DEFAULTS.probe;

const allOf = <S extends z.ZodType>(item: S) =>
  optional(z.array(item).meta({ minItems: 1 }), {
    description: 'Several questions, all of which must pass. Each is a map with one question of the above.',
    defaultNote: 'none',
    example: [{ tcp: 7233 }, { http: { port: 8080 } }],
  });

const THRESHOLD = { min: 1, max: 1_000_000, whole: true } as const;

const timing = {
  period: optional(positiveDuration, {
    description:
      'From one question to the next. Never two at once: a question that is due while another is still open is skipped.',
    defaultsTo: durationText(DEFAULT.periodMs),
    example: '2s',
  }),
  timeout: optional(positiveDuration, {
    description: 'No answer within this time is a failure.',
    defaultsTo: durationText(DEFAULT.timeoutMs),
    example: '500ms',
  }),
  initial_delay: optional(duration, {
    description: 'From the start of the run to the first question. A `startup` probe is nearly always better.',
    defaultsTo: durationText(DEFAULT.initialDelayMs),
    example: '5s',
  }),
  failure_threshold: optional(number(THRESHOLD), {
    description: 'How many failures in a row make it fail.',
    defaultsTo: DEFAULT.failureThreshold,
    example: 5,
  }),
};

const successHelp: Help = {
  description: 'How many passes in a row make it pass. Only 1 for `startup` and `liveness`.',
  defaultsTo: DEFAULT.successThreshold,
  example: 2,
};

/** As in Kubernetes: one pass says that it has started, and one that it lives. */
const readOne: Reader<number> = scalarReader('1', ({ value, source }) =>
  value === 1
    ? { value }
    : refuse(
        `must be 1 for startup and liveness, not ${printable(shorten(source))}`,
        'Remove it; only readiness can ask for several passes in a row.',
      ),
);
const onePass = { success_threshold: optional(leaf(readOne, '`1`', { const: 1 }), { ...successHelp, example: 1 }) };
const anyPasses = { success_threshold: optional(number(THRESHOLD), successHelp) };

const kind = { kind: 'probe' };

export const startupSchema = exactlyOne(
  z.strictObject({ ...QUESTIONS, ...LOG, all_of: allOf(item), ...timing, ...onePass }),
  ['exec', 'http', 'tcp', 'grpc', 'temporal', 'pid', 'log', 'all_of'],
).meta(kind);

/** Without `log`: a line that once was written says nothing about being alive now. */
export const livenessSchema = exactlyOne(
  z.strictObject({ ...QUESTIONS, all_of: allOf(silentItem), ...timing, ...onePass }),
  ['exec', 'http', 'tcp', 'grpc', 'temporal', 'pid', 'all_of'],
).meta(kind);

export const readinessSchema = exactlyOne(
  z.strictObject({ ...QUESTIONS, ...LOG, all_of: allOf(item), ...timing, ...anyPasses }),
  ['exec', 'http', 'tcp', 'grpc', 'temporal', 'pid', 'log', 'all_of'],
).meta(kind);

export type ProbeConfig = z.output<typeof readinessSchema>;
