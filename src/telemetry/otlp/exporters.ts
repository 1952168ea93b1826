/** What OpenTelemetry's SDK hands spans and metrics to: made protobuf by its own serializers, and sent. */
import { ProtobufMetricsSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import {
  AggregationTemporality,
  InstrumentType,
  type PushMetricExporter,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Signal, TelemetrySettings } from '../settings.ts';
import type { Outages, Sender } from './sender.ts';

/** As the SDK wants to hear it: 0 is success, 1 is failure. */
const SUCCESS = { code: 0 };
type Told = Parameters<SpanExporter['export']>[1];

function deliver(body: Uint8Array | undefined, signal: Signal, sender: Sender, outages: Outages, told: Told): void {
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
