/** Probes, one to one where Kubernetes has the same question. */

import {
  describeQuestion,
  type ProbeQuestion,
  type ProbeSpec,
  type Role,
} from '../../supervision/rules/health/probe.ts';
import type { ContainerSpec } from '../../supervision/spec.ts';
import type { Notes, Path } from './given.ts';
import { compact, type Plain } from './object.ts';
import { holdsSecret, literally } from './secret.ts';

export type ProbeObject = { readonly [key: string]: Plain };

export interface Asked {
  readonly notes: Notes;
  readonly secrets: readonly string[];
  /** The port inside, of one that is asked on this machine. */
  readonly inside: (port: number) => number;
}

const LOOPBACK: readonly string[] = ['127.0.0.1', 'localhost', '::1', '0.0.0.0', '::'];
const MS = 1_000;
/** Kubernetes counts in whole seconds, and refuses less than one. */
const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / MS));

export const isOwn = (host: string): boolean => LOOPBACK.includes(host);

export function probeObject(role: Role, spec: ProbeSpec, asked: Asked): ProbeObject | null {
  const { notes } = asked;
  const question = questionObject(spec.question, [role], asked);
  if (question === null) return null;
  for (const [key, ms] of TIMES.map(([key, field]) => [key, spec[field]] as const)) {
    if (ms % MS !== 0) notes.lose([role, key], `Kubernetes counts whole seconds: ${seconds(ms)} s instead of ${ms} ms`);
  }
  return {
    ...question,
    ...compact({ initialDelaySeconds: spec.initialDelayMs > 0 ? seconds(spec.initialDelayMs) : null }),
    periodSeconds: seconds(spec.periodMs),
    timeoutSeconds: seconds(spec.timeoutMs),
    ...compact({ successThreshold: spec.successThreshold > 1 ? spec.successThreshold : null }),
    failureThreshold: spec.failureThreshold,
  };
}

const TIMES = [
  ['period', 'periodMs'],
  ['timeout', 'timeoutMs'],
  ['initial_delay', 'initialDelayMs'],
] as const;

function questionObject(question: ProbeQuestion, at: Path, asked: Asked): ProbeObject | null {
  const { notes } = asked;
  switch (question.kind) {
    case 'http':
      return httpObject(question, [...at, 'http'], asked);
    case 'tcp':
      return {
        tcpSocket: compact({ host: isOwn(question.host) ? null : question.host, port: portOf(question, asked) }),
      };
    case 'grpc':
      return grpcObject(question, [...at, 'grpc'], asked);
    case 'exec':
      return execObject(question, [...at, 'exec'], asked);
    case 'pid':
      // The kubelet sees for itself that a process has ended.
      return null;
    case 'all_of':
      return firstOf(question.all, [...at, 'all_of'], asked);
    default:
      notes.lose([...at, question.kind], `Kubernetes has no probe that asks this (${describeQuestion(question)})`);
      return null;
  }
}

/** Of several questions that must all pass, a probe of Kubernetes asks one. */
function firstOf(all: readonly ProbeQuestion[], at: Path, asked: Asked): ProbeObject | null {
  let found: ProbeObject | null = null;
  for (const [index, question] of all.entries()) {
    if (found === null) found = questionObject(question, [...at, index], asked);
    else if (question.kind !== 'pid')
      asked.notes.lose(
        [...at, index],
        `a probe of Kubernetes asks one question; this one is left out (${describeQuestion(question)})`,
      );
  }
  return found;
}

const portOf = ({ host, port }: { readonly host: string; readonly port: number }, { inside }: Asked): number =>
  isOwn(host) ? inside(port) : port;

type Question<K extends ProbeQuestion['kind']> = Extract<ProbeQuestion, { readonly kind: K }>;

function httpObject(question: Question<'http'>, at: Path, asked: Asked): ProbeObject | null {
  const { notes, secrets } = asked;
  const { scheme, host, path, method, headers, status, contains, insecure } = question;
  if (holdsSecret(path, secrets)) {
    notes.lose(at, 'its path holds a secret, which would be read in the manifest: the probe is left out');
    return null;
  }
  if (contains !== null) notes.lose([...at, 'contains'], 'the kubelet does not look at the body of an answer');
  if (status !== null) notes.lose([...at, 'status'], 'for the kubelet every status from 200 to 399 passes');
  if (method !== 'GET') notes.lose([...at, 'method'], 'the kubelet asks with GET');
  if (scheme === 'https' && !insecure) notes.lose(at, 'the kubelet does not verify the certificate');
  const sent = Object.entries(headers).filter(([name, value]) => {
    const isSecret = /^(?:authorization|cookie|x-api-key)$/i.test(name) || holdsSecret(value, secrets);
    if (isSecret)
      notes.lose(
        [...at, 'headers', name],
        'a secret in a header would be read in the manifest: the header is left out',
      );
    return !isSecret;
  });
  return {
    httpGet: compact({
      host: isOwn(host) ? null : host,
      path,
      port: portOf(question, asked),
      scheme: scheme === 'https' ? 'HTTPS' : null,
      httpHeaders: sent.length === 0 ? null : sent.map(([name, value]) => ({ name, value })),
    }),
  };
}

function grpcObject(question: Question<'grpc'>, at: Path, { notes, inside }: Asked): ProbeObject | null {
  if (!isOwn(question.host) || question.tls) {
    const what = question.tls ? 'TLS' : 'another host';
    notes.lose(at, `the kubelet asks gRPC without ${what}: the probe is left out`);
    return null;
  }
  return { grpc: compact({ port: inside(question.port), service: question.service === '' ? null : question.service }) };
}

function execObject({ command }: Question<'exec'>, at: Path, { notes, secrets }: Asked): ProbeObject | null {
  if (command.some((part) => holdsSecret(part, secrets))) {
    notes.lose(
      [...at, 'command'],
      'its command holds a secret, which would be read in the manifest: the probe is left out',
    );
    return null;
  }
  notes.loseWritten([...at, 'cwd'], 'the kubelet runs it in the working directory of the image');
  return { exec: { command: command.map(literally) } };
}

/** Docker's own check, as the probes that do the same: it restarts, and nothing is ready before it passes. */
export function healthcheckProbes(
  { healthcheck }: ContainerSpec,
  asked: Asked,
): Partial<Record<Role, ProbeObject>> | null {
  if (healthcheck === null || healthcheck === 'none') return null;
  const { command, times } = healthcheck;
  const at = ['container', 'healthcheck'];
  const exec = execObject({ kind: 'exec', command, cwd: '' }, at, asked);
  if (exec === null) return null;
  const counted = (failureThreshold: number): ProbeObject => ({
    ...exec,
    periodSeconds: seconds(times.intervalMs),
    timeoutSeconds: seconds(times.timeoutMs),
    failureThreshold,
  });
  // Failures in the first time do not count: a startup probe with patience for them.
  const patience = Math.ceil(times.startPeriodMs / times.intervalMs) + times.retries;
  return {
    ...(times.startPeriodMs > 0 ? { startup: counted(patience) } : {}),
    liveness: counted(times.retries),
    readiness: counted(times.retries),
  };
}
