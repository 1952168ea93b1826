/** What the configuration says about telemetry. Without either it is off, unless the environment asks for it (OTEL_*). */
export interface TelemetrySpec {
  /** The base URL of an OTLP receiver; null: as the environment says. */
  readonly otlp: string | null;
  /** Serve Prometheus text at `/metrics`. */
  readonly prometheus: boolean;
}
