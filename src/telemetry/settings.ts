/**
 * What is sent where: the configuration first, then the standard variables (OTEL_*). Knows nothing of OpenTelemetry's packages, so
 * that a daemon without telemetry loads none of them.
 */

import type { TelemetrySpec } from './spec.ts';

type Variables = Readonly<Record<string, string | undefined>>;
export type Signal = 'traces' | 'metrics';

/** A receiver of one signal. */
export interface Receiver {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly gzip: boolean;
  /** Files in PEM form; null: none was named. */
  readonly caFile: string | null;
  readonly certFile: string | null;
  readonly keyFile: string | null;
}

export interface TelemetrySettings {
  readonly traces: Receiver | null;
  readonly metrics: Receiver | null;
  readonly prometheus: boolean;
  /** How often metrics are sent. */
  readonly intervalMs: number;
  readonly temporality: 'cumulative' | 'delta' | 'lowmemory';
  /** Attributes of everything that is sent, over ours. */
  readonly resource: Readonly<Record<string, string>>;
  /** What was asked for and cannot be done, for the log. */
  readonly notes: readonly string[];
}

const DEFAULT_ENDPOINT = 'http://localhost:4318';
const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_INTERVAL_MS = 60_000;
/** More often would only be load. */
const MIN_INTERVAL_MS = 100;
/** A longer Node timer fires at once: metrics that were to be sent once a year would be sent a thousand times a second. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const PROTOCOL = 'http/protobuf';

export function telemetrySettings({ otlp, prometheus }: TelemetrySpec, env: Variables): TelemetrySettings {
  const notes: string[] = [];
  const isDisabled = variable(env, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  const receiver = (signal: Signal) => (isDisabled ? null : receiverOf(signal, otlp, env, notes));
  const traces = receiver('traces');
  const metrics = receiver('metrics');
  const service = variable(env, 'OTEL_SERVICE_NAME');
  return {
    traces,
    metrics,
    prometheus,
    intervalMs: Math.max(MIN_INTERVAL_MS, positive(env, 'OTEL_METRIC_EXPORT_INTERVAL') ?? DEFAULT_INTERVAL_MS),
    temporality: temporality(env),
    resource: {
      ...pairs(variable(env, 'OTEL_RESOURCE_ATTRIBUTES') ?? ''),
      ...(service === undefined ? {} : { 'service.name': service }),
    },
    notes,
  };
}

/** Somebody is to get something. */
export const isOn = ({ traces, metrics, prometheus }: TelemetrySettings): boolean =>
  traces !== null || metrics !== null || prometheus;

function receiverOf(signal: Signal, otlp: string | null, env: Variables, notes: string[]): Receiver | null {
  const of = (name: string) =>
    variable(env, `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${name}`) ?? variable(env, `OTEL_EXPORTER_OTLP_${name}`);
  const chosen = variable(env, `OTEL_${signal.toUpperCase()}_EXPORTER`);
  if (chosen !== undefined && !chosen.split(',').some((one) => one.trim() === 'otlp')) return null;
  const url = otlp === null ? fromVariables(signal, env, chosen !== undefined) : below(otlp, signal);
  if (url === null) return null;
  const protocol = of('PROTOCOL');
  if (otlp === null && protocol !== undefined && protocol !== PROTOCOL) {
    notes.push(`${signal} are not sent: OTEL_EXPORTER_OTLP_PROTOCOL is ${protocol}, and only ${PROTOCOL} is spoken`);
    return null;
  }
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    notes.push(`${signal} are not sent: the endpoint in OTEL_EXPORTER_OTLP_… is not an http or https URL`);
    return null;
  }
  return {
    url,
    headers: {
      ...pairs(variable(env, 'OTEL_EXPORTER_OTLP_HEADERS') ?? ''),
      ...pairs(variable(env, `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_HEADERS`) ?? ''),
    },
    timeoutMs:
      positive(env, `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_TIMEOUT`) ??
      positive(env, 'OTEL_EXPORTER_OTLP_TIMEOUT') ??
      DEFAULT_TIMEOUT_MS,
    gzip: of('COMPRESSION') === 'gzip',
    caFile: of('CERTIFICATE') ?? null,
    certFile: of('CLIENT_CERTIFICATE') ?? null,
    keyFile: of('CLIENT_KEY') ?? null,
  };
}

/** An endpoint for one signal is taken as it is, one for all is a base. `isChosen`: it was asked for, wherever it goes. */
function fromVariables(signal: Signal, env: Variables, isChosen: boolean): string | null {
  const own = variable(env, `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`);
  if (own !== undefined) return own;
  const base = variable(env, 'OTEL_EXPORTER_OTLP_ENDPOINT') ?? (isChosen ? DEFAULT_ENDPOINT : undefined);
  return base === undefined ? null : below(base, signal);
}

const below = (base: string, signal: Signal): string => `${base.replace(/\/+$/, '')}/v1/${signal}`;

/** Empty counts as not set: the standard says so. */
function variable(env: Variables, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === '' ? undefined : value;
}

/** Milliseconds. */
function positive(env: Variables, name: string): number | undefined {
  const value = Number(variable(env, name));
  return Number.isFinite(value) && value > 0 ? Math.min(value, MAX_TIMER_MS) : undefined;
}

function temporality(env: Variables): TelemetrySettings['temporality'] {
  const wanted = variable(env, 'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE')?.toLowerCase();
  return wanted === 'delta' || wanted === 'lowmemory' ? wanted : 'cumulative';
}

/** `key=value,key=value`, values percent-encoded: the form of OTEL_RESOURCE_ATTRIBUTES and OTEL_EXPORTER_OTLP_HEADERS. */
export function pairs(text: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=');
    const key = pair.slice(0, at).trim();
    if (at > 0 && key !== '') found[key] = decoded(pair.slice(at + 1).trim());
  }
  return found;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a lone % that was meant as it stands
  }
}

// Whether the program that this runs in has set up OpenTelemetry itself. Asked without loading any of it.

/** Where OpenTelemetry's API keeps what was registered: one place for all its copies of one major version. */
const KEY = Symbol.for('opentelemetry.js.api.1');

export interface HostProviders {
  readonly traces: boolean;
  readonly metrics: boolean;
}

export const NO_HOST: HostProviders = { traces: false, metrics: false };

export function hostProviders(): HostProviders {
  const registered = (globalThis as { [KEY]?: { readonly trace?: unknown; readonly metrics?: unknown } })[KEY];
  return { traces: registered?.trace !== undefined, metrics: registered?.metrics !== undefined };
}
