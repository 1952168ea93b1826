/** The meters that everything is measured with: our own, and that of the program around us if it has one. */

import { type Meter, metrics } from '@opentelemetry/api';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import type { Resource } from '@opentelemetry/resources';
import {
  MeterProvider,
  MetricReader,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import { VERSION } from '../../version.ts';
import { instruments, type Sources } from './instruments.ts';

/** Who says so, in everything that is sent. */
export const SCOPE = { name: 'keepwell', version: VERSION } as const;

interface MetersOptions extends OwnMeterOptions {
  readonly sources: Sources;
  /** Somebody wants what our own one collects. */
  readonly own: boolean;
  /** The program around us has one. */
  readonly host: boolean;
}

interface Meters {
  measured(tookMs: number, labels: Readonly<Record<string, string>>): void;
  text(): Promise<string>;
  /** Names went away. The SDK reports for ever what it has seen once, so our own begins afresh. */
  renew(): void;
  close(): Promise<void>;
}

export function openMeters(options: MetersOptions): Meters {
  const { sources, own, host } = options;
  const begin = () => {
    const made = ownMeter(options);
    return { made, ...instruments(made.meter, sources) };
  };
  let mine = own ? begin() : null;
  const theirs = host ? instruments(hostMeter(), sources) : null;
  return {
    measured: (tookMs, labels) => {
      for (const each of [mine, theirs]) each?.probes.record(tookMs / 1_000, labels);
    },
    text: async () => (await mine?.made.text()) ?? '',
    renew: () => {
      if (mine === null) return;
      mine.made.close().catch(() => {}); // what could not be sent is said by those who send
      mine = begin();
    },
    close: async () => {
      theirs?.stop(); // that meter goes on, and would ask for ever
      await mine?.made.close();
    },
  };
}

const hostMeter = (): Meter => metrics.getMeter(SCOPE.name, SCOPE.version);

// Our own provider of metrics: collected when Prometheus asks, and sent from time to time.

/** Far more than anybody has components; without it the SDK begins to throw away at 2,000. */
const MAX_SERIES = 100_000;
const EVERY_KIND = {
  counter: MAX_SERIES,
  gauge: MAX_SERIES,
  histogram: MAX_SERIES,
  observableCounter: MAX_SERIES,
  observableGauge: MAX_SERIES,
};

/** Collects when it is told to. */
class OnDemand extends MetricReader {
  constructor() {
    super({ cardinalitySelector: () => MAX_SERIES });
  }

  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }

  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }
}

interface OwnMeter {
  readonly meter: Meter;
  /** As Prometheus text. */
  text(): Promise<string>;
  /** Sends once more what there is. */
  close(): Promise<void>;
}

interface OwnMeterOptions {
  readonly resource: Resource;
  /** Null: nobody to send to. */
  readonly push: { readonly exporter: PushMetricExporter; readonly intervalMs: number } | null;
}

function ownMeter({ resource, push }: OwnMeterOptions): OwnMeter {
  const pull = new OnDemand();
  const periodic =
    push &&
    new PeriodicExportingMetricReader({
      exporter: { ...push.exporter, shutdown: () => Promise.resolve() }, // it outlives this provider
      exportIntervalMillis: push.intervalMs,
      cardinalityLimits: EVERY_KIND,
    });
  const provider = new MeterProvider({ resource, readers: [pull, ...(periodic ? [periodic] : [])] });
  const serializer = new PrometheusSerializer('', false, undefined, false, true);
  return {
    meter: provider.getMeter(SCOPE.name, SCOPE.version),
    text: async () => serializer.serialize((await pull.collect()).resourceMetrics),
    close: () => provider.shutdown(),
  };
}
