/**
 * Telemetry that is on. Its folder is the only one that knows OpenTelemetry's packages; it is a bundle of its own, which is loaded
 * when something is asked for, and not before.
 */
import { hostname } from 'node:os';
import { trace } from '@opentelemetry/api';
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import type { Log } from '../base/log.ts';
import { together } from '../checks/observer.ts';
import type { HostProviders } from './host.ts';
import type { Sources } from './metrics/instruments.ts';
import { openMeters } from './metrics/meters.ts';
import { Tallies, tallyChecks } from './metrics/tallies.ts';
import { metricExporter, spanExporter } from './otlp/exporters.ts';
import type { Telemetry, TelemetryNames } from './ports.ts';
import { openReceivers } from './receivers.ts';
import { SCOPE } from './scope.ts';
import type { TelemetrySettings } from './settings.ts';
import type { EndedEpisode } from './traces/episode.ts';
import { type EpisodeHistory, Episodes, traceEpisode } from './traces/episodes.ts';
import { openTracing, traceChecks } from './traces/tracing.ts';

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
