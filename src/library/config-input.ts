/** A configuration as an object: the keys of `keepwell.yaml` (docs/reference/config.md). It is checked like a file. */

export interface KeepwellConfig {
  readonly version?: 1;
  readonly name?: string;
  readonly logs?: LogsConfig & { readonly max_total?: Size; readonly min_free?: Size };
  /** May be left out where there are checks. */
  readonly components?: Readonly<Record<string, ComponentConfig>>;
  readonly checks?: Readonly<Record<string, CheckConfig>>;
  readonly health?: { readonly every?: Duration };
  readonly sessions?: SessionsConfig;
  readonly agents?: AgentsConfig;
  readonly tickets?: TicketsConfig;
  readonly alerts?: AlertsConfig;
  readonly store?: StoreConfig;
  /** `otlp`: the base URL of a receiver. */
  readonly telemetry?: { readonly otlp?: string; readonly prometheus?: boolean };
}

/** One question, and what it needs. */
export interface CheckConfig extends Omit<QuestionConfig, 'pid' | 'log'> {
  readonly container_running?: string;
  readonly file_exists?: string | { readonly in?: string; readonly any_of: string | readonly string[] };
  readonly env_set?: string | { readonly in?: string; readonly name: string };
  readonly state_file?:
    | string
    | {
        readonly path: string;
        readonly idle_when_missing?: boolean;
        readonly status_field?: string;
        readonly task_field?: string;
      };
  readonly component?: string;
  readonly all_of?: readonly Omit<QuestionConfig, 'pid' | 'log'>[];
  readonly needs?: readonly string[];
  readonly hint?: string;
  readonly timeout?: Duration;
}

export interface ComponentConfig {
  /** Exactly one of `process`, `container` and `external`. */
  readonly process?: ProcessConfig;
  readonly container?: ContainerConfig;
  /** One of the three. */
  readonly external?: { readonly pid_file?: string; readonly address?: string; readonly container?: string };
  readonly depends_on?: Readonly<Record<string, 'started' | 'ready' | 'completed'>>;
  readonly startup?: ProbeConfig;
  readonly liveness?: ProbeConfig;
  readonly readiness?: ProbeConfig;
  readonly crash_patterns?: readonly string[];
  readonly heartbeat?: HeartbeatConfig;
  readonly stop?: { readonly signal?: string; readonly grace?: Duration };
  readonly min_uptime?: Duration;
  readonly restart?: RestartConfig;
  readonly limits?: {
    readonly memory?: Size;
    readonly soft_memory?: Size;
    readonly pids?: number;
    readonly nofile?: number;
    /** Only with `container`. */
    readonly cpus?: number;
  };
  /** Only with `container`. */
  readonly cleanup?: 'keep' | 'remove';
  readonly logs?: LogsConfig;
}

/** Exactly one of `file`, `log_every` and `ping`. */
export interface HeartbeatConfig {
  readonly file?: string;
  /** Only with `file`. */
  readonly field?: string;
  readonly log_every?: Duration;
  /** Only with `log_every`. */
  readonly log_pattern?: string;
  readonly ping?: true;
  readonly freeze_after?: Duration;
  readonly dump_signal?: string;
}

export interface LogsConfig {
  readonly max_size?: Size;
  readonly keep?: number;
  readonly compress?: boolean;
}

export interface ProcessConfig extends SurroundingsConfig {
  /** One text only with `shell: true`. */
  readonly command: readonly string[] | string;
  readonly shell?: boolean;
}

/** A container to make and keep. */
export interface ContainerConfig {
  readonly image: string;
  readonly pull?: 'never' | 'missing' | 'always';
  readonly name?: string;
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly env_file?: string | readonly string[];
  /** Of the image: "app", 1000, "1000:1000". */
  readonly user?: string | number;
  readonly workdir?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly network?: string;
  /** "127.0.0.1:9000:9000", "9000:9000", "9000", each with "/udp" if it is. */
  readonly ports?: readonly string[];
  /** "./data:/data", "./data:/data:ro", "name:/data". */
  readonly volumes?: readonly string[];
  readonly healthcheck?: 'none' | HealthcheckConfig;
}

/** Docker's own health check. */
export interface HealthcheckConfig {
  readonly command: readonly string[];
  readonly period?: Duration;
  readonly timeout?: Duration;
  readonly failure_threshold?: number;
  readonly start_period?: Duration;
}

/** One of the questions, and when it is asked. */
export interface ProbeConfig extends QuestionConfig {
  readonly all_of?: readonly QuestionConfig[];
  readonly period?: Duration;
  readonly timeout?: Duration;
  readonly initial_delay?: Duration;
  readonly failure_threshold?: number;
  readonly success_threshold?: number;
}

export interface QuestionConfig {
  readonly http?: number | string | HttpConfig;
  readonly tcp?: number | string | { readonly port: number; readonly host?: string };
  readonly grpc?: number | string | GrpcConfig;
  readonly temporal?: TemporalConfig;
  readonly exec?: { readonly command: readonly string[] | string; readonly shell?: boolean; readonly cwd?: string };
  readonly pid?: Readonly<Record<never, never>>;
  readonly log?: string | { readonly pattern: string };
}

export interface HttpConfig {
  readonly port: number;
  readonly path?: string;
  readonly host?: string;
  readonly scheme?: 'http' | 'https';
  readonly method?: 'GET' | 'HEAD';
  readonly headers?: Readonly<Record<string, string>>;
  readonly status?: number | readonly number[];
  readonly contains?: string;
  readonly insecure?: boolean;
}

/** How a server that speaks gRPC is reached securely. */
export interface RpcTlsConfig {
  readonly tls?: boolean;
  readonly insecure?: boolean;
  readonly server_name?: string;
}

export interface GrpcConfig extends RpcTlsConfig {
  readonly port: number;
  readonly host?: string;
  readonly service?: string;
}

export interface TemporalConfig extends RpcTlsConfig {
  readonly task_queue: string;
  readonly kind: 'workflow' | 'activity';
  readonly address?: string;
  readonly namespace?: string;
  readonly max_age?: Duration;
}

export interface RestartConfig {
  readonly policy?: 'always' | 'on-failure' | 'never';
  readonly backoff?: {
    readonly initial?: Duration;
    readonly factor?: number;
    readonly max?: Duration;
    readonly jitter?: number;
    readonly reset_after?: Duration;
  };
  readonly limit?: { readonly max?: number; readonly within?: Duration; readonly retry?: Duration | 'never' };
  readonly never_on?: readonly (number | string)[];
  readonly dependents?: boolean;
  /** Only with `external`. */
  readonly command?: readonly string[];
}

export interface SessionsConfig {
  readonly templates: Readonly<Record<string, SessionTemplateConfig>>;
  /** Of all users and templates together. */
  readonly max?: number;
}

/** What a user's container is made from. */
export interface SessionTemplateConfig {
  readonly image: string;
  readonly port?: number;
  readonly ttl?: Duration;
  readonly max_ttl?: Duration;
  readonly per_user?: number;
  readonly limits?: { readonly memory?: Size; readonly cpus?: number; readonly pids?: number };
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly env_file?: string | readonly string[];
  readonly user?: string | number;
  readonly workdir?: string;
  readonly healthcheck?:
    | 'none'
    | {
        readonly command: readonly string[];
        readonly period?: Duration;
        readonly timeout?: Duration;
        readonly failure_threshold?: number;
        readonly start_period?: Duration;
      };
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly no_new_privileges?: boolean;
  readonly network?: 'isolated' | 'none';
  readonly restart?: {
    readonly backoff?: NonNullable<RestartConfig['backoff']>;
    readonly limit?: { readonly max?: number; readonly within?: Duration };
  };
  readonly ready_timeout?: Duration;
}

// The keys of `agents` in a configuration object.

export interface AgentsConfig {
  readonly every?: Duration;
  readonly max_respawns?: number;
  /** The component that spawns them. */
  readonly loop?: string;
  readonly types?: Readonly<Record<string, AgentTypeConfig>>;
  readonly state_file?:
    | string
    | {
        readonly path: string;
        readonly agents?: string;
        readonly agent_type?: string;
        readonly task_id?: string;
        readonly started_at?: string;
      };
}

/** What an agent of this type is started with; `{task}` in the command stands for its task. */
export interface AgentTypeConfig extends SurroundingsConfig {
  readonly command: readonly string[];
  readonly assigned_to?: string;
  readonly min_uptime?: Duration;
  readonly stop?: { readonly signal?: string; readonly grace?: Duration };
  readonly backoff?: {
    readonly initial?: Duration;
    readonly factor?: number;
    readonly max?: Duration;
    readonly jitter?: number;
  };
  readonly limits?: { readonly memory?: Size; readonly pids?: number; readonly nofile?: number };
}

// The keys of `alerts` and `store` in a configuration object.

export interface AlertsConfig {
  /** Default: all of them. */
  readonly on?: readonly ('gave-up' | 'freeze' | 'crash-rate')[];
  readonly channels: readonly AlertChannelConfig[];
  readonly remind?: Duration | 'never';
}

export type AlertChannelConfig =
  | { readonly webhook: { readonly url: string; readonly headers?: Readonly<Record<string, string>> } }
  | { readonly slack: { readonly url: string } }
  | { readonly command: { readonly command: readonly string[] } };

export interface StoreConfig {
  /** The file of the database; default: `keepwell.db` in the state directory. */
  readonly path?: string;
  readonly retention?: Duration;
}

// The keys of `tickets` in a configuration object.

export type TicketPriority = 'low' | 'medium' | 'high' | 'critical';

/** When a crash becomes a ticket, and where tickets are written. */
export interface TicketsConfig {
  readonly after_crashes?: number;
  readonly rate_limit?: { readonly per?: Duration; readonly max?: number; readonly by?: 'fingerprint' | 'type' };
  /** By type of error. */
  readonly priorities?: Readonly<Record<string, TicketPriority>>;
  readonly trackers?: readonly TrackerConfig[];
}

/** Exactly one of these. */
export interface TrackerConfig {
  readonly local?: { readonly dir?: string };
  readonly github?: {
    readonly repo: string;
    readonly token: string;
    /** Of GitHub Enterprise: `https://HOST/api/v3`. */
    readonly url?: string;
    readonly labels?: readonly string[];
    readonly timeout?: Duration;
  };
  readonly webhook?: {
    readonly url: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly timeout?: Duration;
  };
  readonly command?: { readonly command: readonly string[]; readonly timeout?: Duration };
}

/** What a command is started in and as whom: for components and for agents. */
export interface SurroundingsConfig {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly env_file?: string | readonly string[];
  readonly user?: string | number;
  readonly group?: string | number;
  /** Octal, in quotes: "027". */
  readonly umask?: string;
  readonly nice?: number;
}

// How times and sizes are written in a configuration.

/** "500ms", "10s", "1m30s" */
export type Duration = string;

/** "512MiB", "50MB" */
export type Size = string;
