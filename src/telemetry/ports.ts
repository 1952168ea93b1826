import type { CheckObserver } from '../checks/observer.ts';
import type { Role } from '../supervision/rules/health/probe.ts';
import type { EventView } from '../supervision/rules/views.ts';

/** What telemetry is made of. Nothing here ever throws, waits for a network or holds the process. */
export interface Telemetry {
  /** Every event, in order, after it was written. */
  told(event: EventView): void;
  /** A probe was asked and has answered, whatever it said. */
  probed(component: string, role: Role, tookMs: number): void;
  readonly checks: CheckObserver;
  /** Only these have metrics of their own; what is said about a name that is not among them is not kept. */
  named(names: TelemetryNames): void;
  /** The metrics as Prometheus text; null: nobody asked for that. */
  metrics(): Promise<string> | null;
  /** Sends what there is, for a moment at most, and ends. */
  close(): Promise<void>;
}

/** What the configuration names. */
export interface TelemetryNames {
  readonly components: readonly string[];
  readonly checks: readonly string[];
}

const unobserved = { checkFinished: () => {}, reportFinished: () => {} };

/** When telemetry is off. */
export const noTelemetry: Telemetry = {
  told: () => {},
  probed: () => {},
  checks: { reportStarted: () => unobserved },
  named: () => {},
  metrics: () => null,
  close: () => Promise.resolve(),
};
