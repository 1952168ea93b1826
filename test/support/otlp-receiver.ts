/** A receiver of OTLP over HTTP that knows nothing of what sends to it: it decodes with the official definitions. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import protobuf from 'protobufjs';

const DEFINITIONS = resolve('node_modules/otlp-protos/build/protos');
const COLLECTOR = 'opentelemetry.proto.collector';

export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: it has none. */
  readonly parentSpanId: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code: string; readonly message: string };
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface ReceivedPoint {
  readonly metric: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Of a histogram: how many values there were. */
  readonly value: number;
}

// biome-ignore lint/suspicious/noExplicitAny: whatever came in
type Json = any;

export class OtlpReceiver implements AsyncDisposable {
  readonly spans: ReceivedSpan[] = [];
  readonly points: ReceivedPoint[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  /** What every request is answered with; 'never' leaves it without an answer. */
  status: number | 'never' = 200;
  readonly #server: Server;
  readonly #root: protobuf.Root;
  readonly #problems: string[] = [];

  private constructor() {
    this.#root = new protobuf.Root();
    this.#root.resolvePath = (_, target) => resolve(DEFINITIONS, target);
    for (const signal of ['trace', 'metrics'])
      this.#root.loadSync(`opentelemetry/proto/collector/${signal}/v1/${signal}_service.proto`);
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (this.status === 'never') return;
        if (this.status === 200) this.#take(request.url ?? '', request.headers, Buffer.concat(chunks));
        response.writeHead(this.status, { 'Content-Type': 'application/x-protobuf' }).end();
      });
    });
  }

  static async open(port = 0): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    receiver.#server.listen(port, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What came and was not as the definitions say. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  traceOf(root: ReceivedSpan): readonly ReceivedSpan[] {
    return this.spans.filter(({ traceId }) => traceId === root.traceId).sort((a, b) => a.fromMs - b.fromMs);
  }

  /** The newest value. */
  value(metric: string, attributes: Readonly<Record<string, unknown>>): number | undefined {
    const wanted = JSON.stringify(attributes);
    return this.points.findLast((point) => point.metric === metric && JSON.stringify(point.attributes) === wanted)
      ?.value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #take(url: string, headers: IncomingHttpHeaders, raw: Buffer): void {
    this.headers.push(headers);
    const body = headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
    try {
      if (headers['content-type'] !== 'application/x-protobuf') throw new Error(`a ${headers['content-type']}`);
      if (url === '/v1/traces') this.#takeSpans(this.#decode('trace.v1.ExportTraceServiceRequest', body));
      else if (url === '/v1/metrics') this.#takeMetrics(this.#decode('metrics.v1.ExportMetricsServiceRequest', body));
      else throw new Error(`nothing is received at ${url}`);
    } catch (error) {
      this.#problems.push(String(error));
    }
  }

  #decode(type: string, body: Buffer): Json {
    const message = this.#root.lookupType(`${COLLECTOR}.${type}`);
    return message.toObject(message.decode(body), { longs: Number, enums: String, defaults: true }) as Json;
  }

  #takeSpans({ resourceSpans = [] }: Json): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      for (const span of scopeSpans.flatMap((scope: Json) => scope.spans)) {
        this.spans.push({
          name: String(span.name),
          traceId: hex(span.traceId),
          spanId: hex(span.spanId),
          parentSpanId: hex(span.parentSpanId),
          fromMs: Number(span.startTimeUnixNano) / 1e6,
          toMs: Number(span.endTimeUnixNano) / 1e6,
          attributes: attributesOf(span.attributes),
          status: { code: String(span.status?.code), message: String(span.status?.message ?? '') },
          resource: attributesOf(resource?.attributes),
        });
      }
    }
  }

  #takeMetrics({ resourceMetrics = [] }: Json): void {
    const scopes = resourceMetrics.flatMap((each: Json) => each.scopeMetrics);
    for (const metric of scopes.flatMap((each: Json) => each.metrics)) {
      const { dataPoints = [] } = metric.gauge ?? metric.sum ?? metric.histogram ?? {};
      for (const point of dataPoints) {
        const value = Number(point.asDouble ?? point.asInt ?? point.count);
        this.points.push({ metric: String(metric.name), attributes: attributesOf(point.attributes), value });
      }
    }
  }
}

const hex = (bytes: unknown): string => Buffer.from((bytes ?? []) as Uint8Array).toString('hex');

function attributesOf(attributes: unknown): Readonly<Record<string, unknown>> {
  const pairs = (attributes ?? []) as { key: string; value: Record<string, unknown> }[];
  return Object.fromEntries(pairs.map(({ key, value }) => [key, plain(value)]));
}

function plain(value: Record<string, unknown>): unknown {
  const list = value['arrayValue'] as { values: Record<string, unknown>[] } | null | undefined;
  if (list) return list.values.map(plain);
  return value['stringValue'] ?? value['intValue'] ?? value['doubleValue'] ?? value['boolValue'];
}
