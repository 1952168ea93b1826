/**
 * Telemetry that is on. Its folder is the only one that knows OpenTelemetry's packages; it is a bundle of its own, which is loaded
 * when something is asked for, and not before.
 */
import { hostname } from 'node:os';
import { context, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { ProtobufMetricsSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  InstrumentType,
  type PushMetricExporter,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import type { Log } from '../base/log.ts';
import { type CheckObserver, type FinishedCheck, type ReportObserver, together } from '../checks/observer.ts';
import { type Sources, Tallies, tallyChecks } from './metrics/instruments.ts';
import { openMeters, SCOPE } from './metrics/meters.ts';
import { createSender, type Outages, placeOf, type Sender, watchOutages } from './otlp/sender.ts';
import type { Telemetry, TelemetryNames } from './ports.ts';
import type { HostProviders, Receiver, Signal, TelemetrySettings } from './settings.ts';
import type { EndedEpisode } from './traces/episode.ts';
import { type EpisodeHistory, Episodes, traceEpisode } from './traces/episodes.ts';

export interface TelemetryParts extends Omit<Sources, 'tallies'> {
  readonly settings: TelemetrySettings;
  readonly log: Log;
  readonly project: string;
  /** Tells this project from all others on the machine: its state directory. */
  readonly instance: string;
  readonly names: TelemetryNames;
  /** What the program around us has set up: it gets what we have to say. */
  readonly host: HostProviders;
  /** Null: there are no components to tell of. */
  readonly history: EpisodeHistory | null;
  /** How long `close` may take to deliver what there is. Default: half a second. */
  readonly closeMs?: number;
}

/** What is not delivered by then is lost: nobody waits longer for telemetry. */
const CLOSE_MS = 500;

export function openTelemetry(parts: TelemetryParts): Telemetry {
  const { settings, log, history, host, components, daemon, closeMs = CLOSE_MS } = parts;
  const receivers = openReceivers(settings, log);
  const { outages } = receivers;
  const resource = resourceOf(parts);
  const tallies = new Tallies();
  tallies.name(parts.names);
  const meters = openMeters({
    resource,
    sources: { tallies, components, daemon },
    host: host.metrics,
    own: settings.prometheus || receivers.metrics !== null,
    push: receivers.metrics && {
      exporter: metricExporter(receivers.metrics, outages, settings.temporality),
      intervalMs: settings.intervalMs,
    },
  });
  const tracing = receivers.traces && openTracing(spanExporter(receivers.traces, outages), resource);
  const tracers = [
    ...(tracing ? [tracing.tracer] : []),
    ...(host.traces ? [trace.getTracer(SCOPE.name, SCOPE.version)] : []),
  ];
  const tell = (ended: EndedEpisode) => {
    for (const tracer of tracers) traceEpisode(tracer, ended);
  };
  const episodes = history && tracers.length > 0 ? new Episodes(history, tell) : null;
  return {
    told: (event) => {
      tallies.told(event);
      episodes?.told(event);
    },
    probed: (component, role, tookMs) => {
      if (tallies.components.has(component)) meters.measured(tookMs, { component, role });
    },
    checks: together([tallyChecks(tallies), ...tracers.map(traceChecks)]),
    named: (names) => {
      if (tallies.name(names)) meters.renew();
    },
    metrics: () => (settings.prometheus ? meters.text() : null),
    close: async () => {
      episodes?.close();
      await atMost(closeMs, Promise.allSettled([tracing?.close(), meters.close()]));
      receivers.close();
    },
  };
}

function resourceOf({ settings, project, instance }: TelemetryParts): Resource {
  const ours = {
    'service.name': SCOPE.name,
    'service.version': SCOPE.version,
    'service.instance.id': `${hostname()}:${instance}`,
    'host.name': hostname(),
    'keepwell.project': project,
  };
  return defaultResource().merge(resourceFromAttributes({ ...ours, ...settings.resource }));
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const enough = new Promise((done) => {
    timer = setTimeout(done, ms); // counts: until then this process has something to wait for
  });
  await Promise.race([work, enough]);
  clearTimeout(timer);
}

// The senders to the receivers of the settings. One that cannot be had is said and left out.

export interface Receivers {
  readonly traces: Sender | null;
  readonly metrics: Sender | null;
  readonly outages: Outages;
  close(): void;
}

export function openReceivers(settings: TelemetrySettings, log: Log): Receivers {
  const open = (signal: Signal): Sender | null => {
    const receiver = settings[signal];
    return receiver && senderOrNote(signal, receiver, log);
  };
  const place = (signal: Signal) => (settings[signal] ? placeOf(settings[signal].url) : '');
  const traces = open('traces');
  const metrics = open('metrics');
  return {
    traces,
    metrics,
    outages: watchOutages(log, { traces: place('traces'), metrics: place('metrics') }),
    close: () => {
      traces?.close();
      metrics?.close();
    },
  };
}

/** A certificate that cannot be read is no reason not to supervise. */
function senderOrNote(signal: Signal, receiver: Receiver, log: Log): Sender | null {
  try {
    return createSender(receiver);
  } catch (error) {
    log.warn(`${signal} are not sent: ${(error as Error).message}`);
    return null;
  }
}

// Our own provider of traces: spans are sent in batches, and thrown away when there are too many of them.

export interface Tracing {
  readonly tracer: Tracer;
  /** Sends what there is. */
  close(): Promise<void>;
}

export function openTracing(exporter: SpanExporter, resource: Resource): Tracing {
  const provider = new BasicTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] });
  return { tracer: provider.getTracer(SCOPE.name, SCOPE.version), close: () => provider.shutdown() };
}

// A report of `keepwell health` as a trace: `orchestrator.health`, and one child for each check.

const ROOT = 'orchestrator.health';

export const traceChecks = (tracer: Tracer): CheckObserver => ({
  reportStarted: (beganAt): ReportObserver => {
    // In somebody else's program it belongs to what that is doing.
    const root = tracer.startSpan(ROOT, { startTime: beganAt }, context.active());
    const within = trace.setSpan(context.active(), root);
    return {
      checkFinished: ({ name, result, beganAt: startTime, tookMs }: FinishedCheck) => {
        const { status, message } = result;
        const attributes = { 'check.name': name, 'check.status': status, 'check.message': message };
        const span = tracer.startSpan(`${ROOT}.${name}`, { startTime, attributes }, within);
        if (status === 'failed') span.setStatus({ code: SpanStatusCode.ERROR, message });
        span.end(startTime + tookMs);
      },
      reportFinished: (report, tookMs) => {
        root.setAttribute('health.status', report?.status ?? 'called off');
        if (report?.status === 'unhealthy') root.setStatus({ code: SpanStatusCode.ERROR });
        root.end(beganAt + tookMs);
      },
    };
  },
});

// What OpenTelemetry's SDK hands spans and metrics to: made protobuf by its own serializers, and sent.

/** As the SDK wants to hear it: 0 is success, 1 is failure. */
const SUCCESS = { code: 0 };
type ExportCallback = Parameters<SpanExporter['export']>[1];

function deliver(
  body: Uint8Array | undefined,
  signal: Signal,
  sender: Sender,
  outages: Outages,
  told: ExportCallback,
): void {
  if (body === undefined) {
    told({ code: 1, error: new Error('it could not be written as protobuf') });
    return;
  }
  sender.send(body).then(
    () => {
      outages.delivered(signal);
      told(SUCCESS);
    },
    (error: Error) => {
      outages.failed(signal, error.message);
      told({ code: 1, error });
    },
  );
}

export const spanExporter = (sender: Sender, outages: Outages): SpanExporter => ({
  export: (spans: ReadableSpan[], told) =>
    deliver(ProtobufTraceSerializer.serializeRequest(spans), 'traces', sender, outages, told),
  shutdown: () => Promise.resolve(sender.close()),
});

export const metricExporter = (
  sender: Sender,
  outages: Outages,
  temporality: TelemetrySettings['temporality'],
): PushMetricExporter => ({
  export: (metrics: ResourceMetrics, told) =>
    deliver(ProtobufMetricsSerializer.serializeRequest(metrics), 'metrics', sender, outages, told),
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(sender.close()),
  selectAggregationTemporality: (type) =>
    isDelta(type, temporality) ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE,
});

/** The table of the standard. */
function isDelta(type: InstrumentType, temporality: TelemetrySettings['temporality']): boolean {
  switch (type) {
    case InstrumentType.COUNTER:
    case InstrumentType.HISTOGRAM:
      return temporality !== 'cumulative';
    case InstrumentType.OBSERVABLE_COUNTER:
      return temporality === 'delta';
    default:
      return false;
  }
}
