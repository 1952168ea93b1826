/** Our own provider of traces: spans are sent in batches, and thrown away when there are too many of them. */
import { context, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { CheckObserver, FinishedCheck, ReportObserver } from '../../checks/observer.ts';
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
