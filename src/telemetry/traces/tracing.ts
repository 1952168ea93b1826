/** Our own provider of traces: spans are sent in batches, and thrown away when there are too many of them. */
import type { Tracer } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { SCOPE } from '../scope.ts';

export interface Tracing {
  readonly tracer: Tracer;
  /** Sends what there is. */
  close(): Promise<void>;
}

export function openTracing(exporter: SpanExporter, resource: Resource): Tracing {
  const provider = new BasicTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] });
  return { tracer: provider.getTracer(SCOPE.name, SCOPE.version), close: () => provider.shutdown() };
}
