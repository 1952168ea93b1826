// Components and checks of a configuration object. Written from the schema by scripts/reference.mjs: run "npm run reference".

export interface ComponentConfig {
  /** The process to run. */
  readonly process?: ProcessConfig;
  /** The container to create and keep running, with the Docker Engine. */
  readonly container?: ContainerConfig;
  /** The service of a compose file to keep running. Docker Compose creates its container. */
  readonly compose?: ComposeConfig;
  /** Something that is started elsewhere: one of these says how to find it. It is watched, but neither started nor stopped. */
  readonly external?: ExternalConfig;
  /** Has it started? The other probes begin when this one passes; when it fails, the component is restarted. */
  readonly startup?: StartupConfig;
  /** Is it alive? When this one fails, the component is restarted. */
  readonly liveness?: LivenessConfig;
  /** Can others use it? When this one fails, the component is not `ready`, and nothing else happens. `startup` and `liveness` have the same keys; each needs exactly one question (`exec`, `http`, `tcp`, `unix`, `grpc`, `temporal`, `pid`, `log` or `all_of`). */
  readonly readiness?: ReadinessConfig;
  /** Texts or /regular expressions/: a line of the output that matches one counts as one failed answer of `liveness`. */
  readonly crash_patterns?: readonly string[];
  /** A sign of progress from the component: exactly one of `file`, `log_every` and `ping`. When it is missing for too long, the component is frozen. */
  readonly heartbeat?: HeartbeatConfig;
  /** How to end it. */
  readonly stop?: {
    /** The signal that asks it to end. */
    readonly signal?: string;
    /** How long it may take to end before the whole process tree gets SIGKILL. */
    readonly grace?: Duration;
  };
  /** What it needs before it starts: `started`, `ready`, or `completed` (ended with code 0; not possible for one whose restart policy is `always`). */
  readonly depends_on?: Readonly<Record<string, 'started' | 'ready' | 'completed'>>;
  /** A run that ends sooner is a failure, whatever its exit code. It does not delay `ready`. Not for `external`, except a container that is restarted. */
  readonly min_uptime?: Duration;
  /** When to start it again, how soon and how often. */
  readonly restart?: RestartConfig;
  /** What each run may use. Enforced with cgroups where possible; `keepwell status --verbose` says how. */
  readonly limits?: {
    /** What all its processes together may use. Beyond it the kernel kills the component (under cgroup v1 possibly only one of its processes), and that is recorded as out of memory. */
    readonly memory?: Size;
    /** When it uses more than this in 3 samples in a row, it is asked to end and started again. */
    readonly soft_memory?: Size;
    /** Only with `container`: how many processors it may keep busy; 1.5 is one and a half. */
    readonly cpus?: number;
    /** How many processes and threads it may have at a time. */
    readonly pids?: number;
    /** How many files and sockets each of its processes may have open. */
    readonly nofile?: number;
  };
  /** Only with `container`: what happens to the container when Keepwell gives up on it. */
  readonly cleanup?: 'keep' | 'remove';
  /** For this component; overrides the `logs` of the project. */
  readonly logs?: LogsConfig;
}

/** The process to run. */
export interface ProcessConfig {
  /** The program and its arguments, one list item each. Nothing is split, globbed or expanded by a shell. One text instead of a list only with `shell: true`. */
  readonly command: readonly string[] | string;
  /** Run the command, given as one text, with `/bin/sh -c`. Variables are put into the text before the shell reads it: pass untrusted values through `env` instead. */
  readonly shell?: boolean;
  /** The working directory, relative to the folder of the first configuration file. */
  readonly cwd?: string;
  /** Variables for the process; they override those of `env_file`. Values are text: put numbers in quotes. */
  readonly env?: Readonly<Record<string, string>>;
  /** A file of KEY=value lines, or a list of them (later ones win). Read again at each start; a start fails when one is missing. */
  readonly env_file?: readonly string[] | string;
  /** Run as this user, with its group and supplementary groups; `HOME`, `USER` and `LOGNAME` are set to fit unless `env` or a file sets them. Its exec probes run as the same user. Needs root. */
  readonly user?: string | number;
  /** Run with this as the main group. Needs root, also without `user`. */
  readonly group?: string | number;
  /** The permissions that new files do not get. */
  readonly umask?: string;
  /** Its priority for the processor, from -20 (first) to 19 (last). Below 0 needs root. */
  readonly nice?: number;
}

/** The container to create and keep running, with the Docker Engine. */
export interface ContainerConfig {
  /** The image. It must exist locally, unless `pull` says otherwise. */
  readonly image: string;
  /** Whether the image is fetched: `never`, when it is `missing`, or `always`: at each `up`, `start` and `restart`, and before a new container is created. */
  readonly pull?: 'never' | 'missing' | 'always';
  /** The name of the container, also for others in its network. */
  readonly name?: string;
  /** What is run in the container, one list item each: the arguments of `entrypoint`, if there is one. */
  readonly command?: readonly string[];
  /** The program that `command` is given to. With it, the command of the image is not used. */
  readonly entrypoint?: readonly string[];
  /** Variables for the container; they override those of `env_file` and of the image. No others are passed on. Values are text: put numbers in quotes. */
  readonly env?: Readonly<Record<string, string>>;
  /** A file of KEY=value lines on this machine, or a list of them (later ones win). Read again at each start; when their content has changed, the container is recreated. */
  readonly env_file?: readonly string[] | string;
  /** The user it runs as: a name or number inside the image, or `user:group`. */
  readonly user?: string | number;
  /** The working directory, inside the container. */
  readonly workdir?: string;
  /** Labels for other tools. Those that begin with `keepwell.` are set by Keepwell. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The network it is in, which must exist; or `host`, or `none`. */
  readonly network?: string;
  /** Published ports, as `address:port:port-inside`. Without an address, only this machine can connect (`127.0.0.1`); with one port alone, Docker chooses a free one here. `/udp` may follow. */
  readonly ports?: readonly string[];
  /** Files of this machine that it sees: `./data:/data`, relative to the folder of the first configuration file, or `name:/data` for a Docker volume; `:ro` makes it read-only. */
  readonly volumes?: readonly string[];
  /** Docker's own health check, run by Docker inside the container. When it fails, the component is restarted. `none` switches off that of the image. */
  readonly healthcheck?: HealthcheckConfig | 'none';
}

export interface HealthcheckConfig {
  /** The program and its arguments, one list item each. Docker runs it inside; code 0 is healthy. */
  readonly command: readonly string[];
  /** From the end of one check to the next, and before the first one. */
  readonly period?: Duration;
  /** A check that takes longer has failed. */
  readonly timeout?: Duration;
  /** So many failures in a row make it unhealthy. */
  readonly failure_threshold?: number;
  /** Failures in this time after the start do not count. */
  readonly start_period?: Duration;
}

/** The service of a compose file to keep running. Docker Compose creates its container. */
export interface ComposeConfig {
  /** The service, as it is called in the compose file. */
  readonly service: string;
  /** The compose file, relative to the folder of the first configuration file. */
  readonly file?: string;
  /** What paths in the compose file are relative to, and what the compose project is called after. */
  readonly project_dir?: string;
}

/** Something that is started elsewhere: one of these says how to find it. It is watched, but neither started nor stopped. */
export interface ExternalConfig {
  /** A file with its process id, relative to the folder of the first configuration file. */
  readonly pid_file?: string;
  /** It is there as long as this port lets us in. */
  readonly address?: string;
  /** A container that somebody else runs. */
  readonly container?: string;
}

/** Has it started? The other probes begin when this one passes; when it fails, the component is restarted. */
export interface StartupConfig extends QuestionConfig {
  /** Several questions, all of which must pass. Each is a map with one question of the above. */
  readonly all_of?: readonly QuestionConfig[];
  /** From one question to the next. Never two at once: a question that is due while another is still open is skipped. */
  readonly period?: Duration;
  /** No answer within this time is a failure. */
  readonly timeout?: Duration;
  /** From the start of the run to the first question. A `startup` probe is nearly always better. */
  readonly initial_delay?: Duration;
  /** How many failures in a row make it fail. */
  readonly failure_threshold?: number;
  /** How many passes in a row make it pass. Only 1 for `startup` and `liveness`. */
  readonly success_threshold?: 1;
}

export interface ExecConfig {
  /** The program and its arguments, one list item each; it passes when it exits with 0. One text instead of a list only with `shell: true`. */
  readonly command: readonly string[] | string;
  /** Run the command, given as one text, with `/bin/sh -c`. */
  readonly shell?: boolean;
  /** Its working directory, relative to the folder of the first configuration file. */
  readonly cwd?: string;
}

export interface HttpConfig extends TcpConfig {
  /** What to ask for, with the query if there is one. */
  readonly path?: string;
  /** With or without TLS. */
  readonly scheme?: 'http' | 'https';
  /** How to ask. `HEAD` gets no body. */
  readonly method?: 'GET' | 'HEAD';
  /** Headers to send. Values are text: put numbers in quotes. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The status that passes, or a list of them. Redirects are not followed. */
  readonly status?: readonly number[] | number;
  /** Text that must occur in the first 10 KiB of the answer. */
  readonly contains?: string;
  /** Accept a certificate that cannot be verified. Only with `scheme: https`. */
  readonly insecure?: boolean;
}

export interface TcpConfig {
  /** The port to connect to. */
  readonly port: number;
  /** The machine to ask. */
  readonly host?: string;
}

export interface GrpcConfig extends TcpConfig {
  /** The service to ask about, by its full name; empty: the server as a whole. */
  readonly service?: string;
  /** Ask with TLS. */
  readonly tls?: boolean;
  /** Accept a certificate that cannot be verified. Only with `tls: true`. */
  readonly insecure?: boolean;
  /** Whose certificate is expected. Only with `tls: true`. */
  readonly server_name?: string;
}

export interface TemporalConfig {
  /** The frontend of Temporal. */
  readonly address?: string;
  /** The namespace the queue is in. */
  readonly namespace?: string;
  /** The task queue that a worker should poll. */
  readonly task_queue: string;
  /** Which kind of tasks: a worker polls for workflows and for activities separately. */
  readonly kind: 'workflow' | 'activity';
  /** A worker that polled longer ago does not count: Temporal lists workers for minutes after their death. */
  readonly max_age?: Duration;
  /** Ask with TLS. */
  readonly tls?: boolean;
  /** Accept a certificate that cannot be verified. Only with `tls: true`. */
  readonly insecure?: boolean;
  /** Whose certificate is expected. Only with `tls: true`. */
  readonly server_name?: string;
}

export interface QuestionConfig extends LivenessQuestionConfig {
  /** Passes for good once a line of the output contains this text or matches this /regular expression/. Not for `liveness`, see `crash_patterns`. */
  readonly log?:
    | {
        /** The text that a line must contain, or the /regular expression/ that it must match. */
        readonly pattern: string;
      }
    | string;
}

/** Is it alive? When this one fails, the component is restarted. */
export interface LivenessConfig extends LivenessQuestionConfig {
  /** Several questions, all of which must pass. Each is a map with one question of the above. */
  readonly all_of?: readonly LivenessQuestionConfig[];
  /** From one question to the next. Never two at once: a question that is due while another is still open is skipped. */
  readonly period?: Duration;
  /** No answer within this time is a failure. */
  readonly timeout?: Duration;
  /** From the start of the run to the first question. A `startup` probe is nearly always better. */
  readonly initial_delay?: Duration;
  /** How many failures in a row make it fail. */
  readonly failure_threshold?: number;
  /** How many passes in a row make it pass. Only 1 for `startup` and `liveness`. */
  readonly success_threshold?: 1;
}

export interface LivenessQuestionConfig extends CheckQuestionConfig {
  /** Passes as long as the main process exists. */
  readonly pid?: Readonly<Record<string, never>>;
}

/** Can others use it? When this one fails, the component is not `ready`, and nothing else happens. `startup` and `liveness` have the same keys; each needs exactly one question (`exec`, `http`, `tcp`, `unix`, `grpc`, `temporal`, `pid`, `log` or `all_of`). */
export interface ReadinessConfig extends QuestionConfig {
  /** Several questions, all of which must pass. Each is a map with one question of the above. */
  readonly all_of?: readonly QuestionConfig[];
  /** From one question to the next. Never two at once: a question that is due while another is still open is skipped. */
  readonly period?: Duration;
  /** No answer within this time is a failure. */
  readonly timeout?: Duration;
  /** From the start of the run to the first question. A `startup` probe is nearly always better. */
  readonly initial_delay?: Duration;
  /** How many failures in a row make it fail. */
  readonly failure_threshold?: number;
  /** How many passes in a row make it pass. Only 1 for `startup` and `liveness`. */
  readonly success_threshold?: number;
}

/** A sign of progress from the component: exactly one of `file`, `log_every` and `ping`. When it is missing for too long, the component is frozen. */
export interface HeartbeatConfig {
  /** A file that it writes regularly, relative to the folder of the first configuration file. Every change is a beat. */
  readonly file?: string;
  /** Only with `file`: the file is a JSON document, and a beat is a new value of this field, a time (seconds or milliseconds since 1970, or ISO 8601). Dots lead into inner objects. */
  readonly field?: string;
  /** It writes a line at least this often. Every line is a beat, whichever of its processes writes it. */
  readonly log_every?: Duration;
  /** Only with `log_every`: a text or /regular expression/; only matching lines are beats. For a component that writes other lines all the time. */
  readonly log_pattern?: string;
  /** It sends its heartbeat itself: `keepwell beat NAME`, or `POST /v1/beat/NAME`. */
  readonly ping?: true;
  /** After this time without a beat (with `log_every`: counted from when the next was due) it is frozen: examined, then ended and restarted according to the policy. */
  readonly freeze_after?: Duration;
  /** Sent to the main process when it is frozen, so that it writes a stack dump. What it writes is kept with the crash. */
  readonly dump_signal?: string;
}

/** When to start it again, how soon and how often. */
export interface RestartConfig {
  /** When to start it again: `always` after any end, `on-failure` after a failure, `never` not at all. What is stopped by hand stays stopped. */
  readonly policy?: 'always' | 'on-failure' | 'never';
  /** How long to wait before a restart. */
  readonly backoff?: {
    /** The wait before the first restart. */
    readonly initial?: Duration;
    /** Each further wait is this many times longer. */
    readonly factor?: number;
    /** No wait is longer than this. Not below `initial`. */
    readonly max?: Duration;
    /** Each wait is shortened by a random part of up to this ratio, so that not everything restarts at once. */
    readonly jitter?: number;
    /** After running well for this long, the next wait starts at `initial` again. */
    readonly reset_after?: Duration;
  };
  /** How many restarts are allowed. */
  readonly limit?: {
    /** How many restarts are allowed within the window before Keepwell gives up (so at most one run more than this). */
    readonly max?: number;
    /** The window in which restarts are counted. */
    readonly within?: Duration;
    /** After giving up: one quiet retry each time this has passed, or `never`. */
    readonly retry?: Duration | 'never';
  };
  /** Only with `external`: the command that brings it back, one list item each. Without it, something external is only watched. */
  readonly command?: readonly string[];
  /** Exit codes that are a success, beside 0. `never_on` is stronger, except that under another policy than `always` the component has completed. */
  readonly success_codes?: readonly number[];
  /** Exit codes and signals after which it is not started again, whatever the policy. */
  readonly never_on?: readonly (number | string)[];
  /** Restart the components that depend on this one after it has recovered. */
  readonly dependents?: boolean;
}

/** For this component; overrides the `logs` of the project. */
export interface LogsConfig {
  /** When the log of a component is larger than this, it is rotated. */
  readonly max_size?: Size;
  /** How many rotated parts are kept; the oldest is removed first. */
  readonly keep?: number;
  /** Compress rotated parts (gzip). */
  readonly compress?: boolean;
}

export interface CheckConfig extends CheckQuestionConfig {
  /** This container is running. */
  readonly container_running?: string;
  /** A file or folder exists, on this machine or inside a container. Short form: a path. */
  readonly file_exists?:
    | {
        /** Look inside this container. */
        readonly in?: string;
        /** One of these must exist. Relative to the folder of the first configuration file; inside a container, absolute. */
        readonly any_of: readonly string[] | string;
      }
    | string;
  /** A variable is set, on this machine or inside a container. Short form: its name. */
  readonly env_set?:
    | {
        /** Look inside this container. */
        readonly in?: string;
        /** It must be set, and not empty. Its value is never shown. */
        readonly name: string;
      }
    | string;
  /** What an orchestrator reports about itself in a file. Short form: its path. */
  readonly state_file?:
    | {
        /** A JSON file in which a program reports what it does, relative to the folder of the first file. */
        readonly path: string;
        /** Without the file it is idle, and that is fine. */
        readonly idle_when_missing?: boolean;
        /** The field that says what it does, such as `working` or `paused`. */
        readonly status_field?: string;
        /** The field that names the task. */
        readonly task_field?: string;
      }
    | string;
  /** This component runs, is healthy and ready. */
  readonly component?: string;
  /** Several questions, all of which must pass. Each is a map with one question of a probe. */
  readonly all_of?: readonly CheckQuestionConfig[];
  /** Checks that must be ok first; otherwise this one is skipped. */
  readonly needs?: readonly string[];
  /** What to do when it fails; part of the message. */
  readonly hint?: string;
  /** No answer within this time is a failure. */
  readonly timeout?: Duration;
}

export interface CheckQuestionConfig {
  /** Run a command; code 0 passes. */
  readonly exec?: ExecConfig;
  /** Ask an HTTP server on this or another machine. Short form: a port or a URL. */
  readonly http?: HttpConfig | number | string;
  /** Connect to a port; an accepted connection passes. Short form: a port or `host:port`. */
  readonly tcp?: TcpConfig | number | string;
  /** Connect to the Unix socket at this path, relative to the folder of the first configuration file; an accepted connection passes. */
  readonly unix?: string;
  /** Ask a gRPC server about its health (`grpc.health.v1`); only `SERVING` passes. Short form: a port or `host:port`. */
  readonly grpc?: GrpcConfig | number | string;
  /** Ask Temporal whether a worker polls a task queue. */
  readonly temporal?: TemporalConfig;
}

/** One of the questions, and when it is asked. */
export type ProbeConfig = StartupConfig | LivenessConfig | ReadinessConfig;

/** "500ms", "10s", "1m30s" */
export type Duration = string;

/** "512MiB", "50MB" */
export type Size = string;
