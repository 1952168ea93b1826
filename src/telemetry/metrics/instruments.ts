/** Every metric there is: name, unit, help, and where its value comes from. Values are looked up when somebody collects them. */

import type { BatchObservableCallback, Histogram, Meter, Observable } from '@opentelemetry/api';
import type { CheckObserver } from '../../checks/observer.ts';
import type { CheckStatus } from '../../checks/spec.ts';
import type { ComponentView, EventView } from '../../supervision/rules/views.ts';
import type { TelemetryNames } from '../ports.ts';

interface DaemonReadings {
  readonly loopDelayMs: number;
  readonly startedAt: number;
}

/** What is looked up. */
export interface Sources {
  readonly tallies: Tallies;
  components(): readonly ComponentView[];
  daemon(): DaemonReadings | null;
}

/** From a question to a loopback port to one that takes the longest timeout anybody sets. */
const PROBE_BUCKETS_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 30];

interface Instruments {
  /** The one that is told of each value. */
  readonly probes: Histogram;
  /** Nothing is looked up any more. */
  stop(): void;
}

/** Values that are looked up together. */
interface Observed {
  readonly look: BatchObservableCallback;
  readonly of: Observable[];
}

/** Observes everything from now on. */
export function instruments(meter: Meter, sources: Sources): Instruments {
  const observed = [components(meter, sources), checks(meter, sources), daemon(meter, sources)];
  for (const { look, of } of observed) meter.addBatchObservableCallback(look, of);
  return {
    probes: meter.createHistogram('keepwell_probe_duration_seconds', {
      description: 'How long the probes of a component took to answer.',
      unit: 's',
      advice: { explicitBucketBoundaries: PROBE_BUCKETS_SECONDS },
    }),
    stop: () => {
      for (const { look, of } of observed) meter.removeBatchObservableCallback(look, of);
    },
  };
}

function components(meter: Meter, { tallies, components: views }: Sources): Observed {
  const gauge = (name: string, description: string) => meter.createObservableGauge(name, { description });
  const up = gauge(
    'keepwell_component_up',
    'Whether the component runs; 0 also while its Docker Engine does not answer.',
  );
  const ready = gauge('keepwell_component_ready', 'Whether the component can be used by others.');
  const wanted = gauge('keepwell_component_wanted', 'Whether the component is wanted running; 0: stopped by hand.');
  const gaveUp = gauge('keepwell_component_gave_up', 'Whether the component gave up: it is no longer restarted.');
  const completed = gauge(
    'keepwell_component_completed',
    'Whether the component has done its work and ended well, as a job does.',
  );
  const backoff = meter.createObservableGauge('keepwell_component_backoff_seconds', {
    description: 'Until the next start of a component that is backing off; 0: it is not.',
    unit: 's',
  });
  const restarts = meter.createObservableCounter('keepwell_component_restarts_total', {
    description: 'Restarts that nobody asked for, since the daemon began.',
  });
  const crashes = meter.createObservableCounter('keepwell_component_crashes_total', {
    description: 'Ends of a run that were failures, since the daemon began.',
  });
  return {
    of: [up, ready, wanted, gaveUp, completed, backoff, restarts, crashes],
    look: (result) => {
      const now = Date.now();
      for (const view of views()) {
        const tally = tallies.components.get(view.name);
        if (!tally) continue; // the configuration no longer names it
        const labels = { component: view.name };
        const put = (metric: Observable, value: number) => result.observe(metric, value, labels);
        put(up, Number(view.state === 'running' && view.condition !== 'engine-unreachable'));
        put(ready, Number(view.ready));
        put(wanted, Number(view.desired === 'running'));
        put(gaveUp, Number(view.state === 'gave-up'));
        put(completed, Number(view.state === 'completed'));
        put(backoff, view.state === 'backing-off' ? secondsUntil(view.next_attempt_at, now) : 0);
        put(restarts, tally.restarts);
        put(crashes, tally.crashes);
      }
    },
  };
}

function checks(meter: Meter, { tallies }: Sources): Observed {
  const total = meter.createObservableCounter('orchestrator_health_checks_total', {
    description: 'How often the check was answered or skipped, since the daemon began.',
  });
  const status = meter.createObservableGauge('orchestrator_health_check_status', {
    description: 'What the check said last: 1 ok, 0 failed or skipped.',
  });
  return {
    of: [total, status],
    look: (result) => {
      for (const [check, tally] of tallies.checks) {
        result.observe(total, tally.runs, { check });
        if (tally.status !== null) result.observe(status, Number(tally.status === 'ok'), { check });
      }
    },
  };
}

function daemon(meter: Meter, { daemon: read }: Sources): Observed {
  const gauge = (name: string, unit: string, description: string) =>
    meter.createObservableGauge(name, { description, unit });
  const delay = gauge('keepwell_daemon_loop_delay_seconds', 's', 'The longest stall of the event loop of late.');
  const started = gauge('keepwell_daemon_start_time_seconds', 's', 'When the daemon began, in seconds since 1970.');
  const memory = gauge('keepwell_daemon_resident_memory_bytes', 'By', 'What the daemon uses of the memory.');
  const cpu = meter.createObservableCounter('keepwell_daemon_cpu_seconds_total', {
    description: 'Processor time the daemon has used.',
    unit: 's',
  });
  return {
    of: [delay, started, memory, cpu],
    look: (result) => {
      const readings = read();
      if (readings === null) return;
      const { user, system } = process.cpuUsage();
      result.observe(delay, readings.loopDelayMs / 1_000);
      result.observe(started, readings.startedAt / 1_000);
      result.observe(memory, process.memoryUsage.rss());
      result.observe(cpu, (user + system) / 1e6);
    },
  };
}

const secondsUntil = (at: string | null, now: number): number =>
  at === null ? 0 : Math.max(0, (Date.parse(at) - now) / 1_000);

// What is counted between two looks, for the names of the configuration only.

interface ComponentTally {
  restarts: number;
  crashes: number;
  /** Nothing is started for what is only watched. */
  isObserved: boolean;
}

interface CheckTally {
  runs: number;
  /** Null: it has not run yet. */
  status: CheckStatus | null;
}

export class Tallies {
  components: ReadonlyMap<string, ComponentTally> = new Map();
  checks: ReadonlyMap<string, CheckTally> = new Map();

  /** Names that stay keep what they have. True: some went away. */
  name({ components, checks }: TelemetryNames): boolean {
    const before = [this.components, this.checks];
    this.components = kept(this.components, components, () => ({ restarts: 0, crashes: 0, isObserved: false }));
    this.checks = kept(this.checks, checks, () => ({ runs: 0, status: null }));
    const now = [this.components, this.checks];
    return before.some((names, index) => [...names.keys()].some((name) => !now[index]!.has(name)));
  }

  told({ subject, type, data }: EventView): void {
    const tally = subject.kind === 'component' ? this.components.get(subject.name) : undefined;
    if (!tally) return;
    if (type === 'component.exited') {
      tally.isObserved = data['rule'] === 'observed';
      if (data['crash'] === true) tally.crashes += 1;
    }
    const isUnasked = data['attempt'] === 'restart' || data['attempt'] === 'quiet';
    if (type === 'component.starting' && isUnasked && !tally.isObserved) tally.restarts += 1;
  }

  checked(name: string, status: CheckStatus): void {
    const tally = this.checks.get(name);
    if (!tally) return;
    tally.runs += 1;
    tally.status = status;
  }
}

const kept = <T>(before: ReadonlyMap<string, T>, names: readonly string[], fresh: () => T): ReadonlyMap<string, T> =>
  new Map(names.map((name) => [name, before.get(name) ?? fresh()]));

// Counts the answers of the checks.

export const tallyChecks = (tallies: Tallies): CheckObserver => ({
  reportStarted: () => ({
    checkFinished: ({ name, result }) => tallies.checked(name, result.status),
    reportFinished: () => {},
  }),
});
