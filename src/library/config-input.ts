// A configuration as an object. Written from the schema by scripts/reference.mjs: run "npm run reference".
import type { CheckConfig, ComponentConfig, Duration, Size } from './config-components.ts';
import type {
  AgentsConfig,
  AlertsConfig,
  DashboardConfig,
  SessionsConfig,
  StoreConfig,
  TicketsConfig,
} from './config-features.ts';

/** The keys of `keepwell.yaml` (docs/reference/config.md). An object is checked like a file. */
export interface KeepwellConfig {
  /** The version of this format. */
  readonly version?: 1;
  /** The name of the project, for people. */
  readonly name?: string;
  /** Where components run: on this machine, or on a Kubernetes cluster that this daemon watches. */
  readonly engine?: 'local' | 'kubernetes';
  /** How much of the output of components is kept. */
  readonly logs?: {
    /** When the log of a component is larger than this, it is rotated. */
    readonly max_size?: Size;
    /** How many rotated parts are kept; the oldest is removed first. */
    readonly keep?: number;
    /** Compress rotated parts (gzip). */
    readonly compress?: boolean;
    /** Limit for all logs of the project together. Beyond it, the oldest parts are removed first. */
    readonly max_total?: Size;
    /** Logs are cut, the largest first, to keep at least this much of their disk free: a full disk would stop the components. `0B` switches it off. */
    readonly min_free?: Size;
  };
  /** What to keep running, by name. May be left out where there are only checks. */
  readonly components?: Readonly<Record<string, ComponentConfig>>;
  /** Questions that `keepwell health` asks, by name. Without them it asks about each component. */
  readonly checks?: Readonly<Record<string, CheckConfig>>;
  /** Containers for users, one each, for a limited time: what they are made from. */
  readonly sessions?: SessionsConfig;
  /** Workers that are spawned for a task: their types, and how they are supervised. */
  readonly agents?: AgentsConfig;
  /** Who is told when something needs attention. */
  readonly alerts?: AlertsConfig;
  /** Where the history is kept, and for how long. */
  readonly store?: StoreConfig;
  /** When a crash becomes a ticket, and where tickets are written. */
  readonly tickets?: TicketsConfig;
  /** When the daemon runs the checks by itself. */
  readonly health?: {
    /** The daemon runs all checks this often, keeps their results and reports each change. */
    readonly every?: Duration;
  };
  /** Traces and metrics (OpenTelemetry). Off by default. */
  readonly telemetry?: {
    /** The base URL of an OTLP receiver: traces and metrics are sent there by HTTP as protobuf. Empty text means none. */
    readonly otlp?: string;
    /** Serve the metrics as Prometheus text at `/metrics`. */
    readonly prometheus?: boolean;
  };
  /** The page in the browser, and the API, over TCP. Off unless given. */
  readonly dashboard?: DashboardConfig;
  /** For `keepwell render --engine kubernetes` and `engine: kubernetes`. */
  readonly kubernetes?: {
    /** The image in which components run that are a `process` at home. It must contain their programs. */
    readonly image?: string;
    /** Images of single components that are a `process`, by name. They override `image`. */
    readonly images?: Readonly<Record<string, string>>;
    /** The namespace that is written into every object; `--namespace` overrides it. */
    readonly namespace?: string;
    /** The context of the kubeconfig that is used with `engine: kubernetes`. */
    readonly context?: string;
  };
}
