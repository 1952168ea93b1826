// All but the components of a configuration object. Written from the schema by scripts/reference.mjs: run "npm run reference".
import type { Duration, HealthcheckConfig, Size } from './config-components.ts';

/** Containers for users, one each, for a limited time: what they are made from. */
export interface SessionsConfig {
  /** What a session can be made from, by name. */
  readonly templates: Readonly<Record<string, SessionTemplateConfig>>;
  /** How many sessions there may be at a time, of all users and templates together. */
  readonly max?: number;
}

export interface SessionTemplateConfig {
  /** The image. It must exist locally: sessions do not wait for a download. */
  readonly image: string;
  /** The port inside; it is published on a free port of `127.0.0.1`. */
  readonly port?: number;
  /** How long a session lasts unless it is extended. */
  readonly ttl?: Duration;
  /** How long a session can last with all extensions. Not below `ttl`. */
  readonly max_ttl?: Duration;
  /** How many sessions of this template one user may have at a time. */
  readonly per_user?: number;
  /** What each session may use. */
  readonly limits?: {
    /** What all its processes together may use, files in `tmpfs` included. */
    readonly memory?: Size;
    /** How many processors it may keep busy. */
    readonly cpus?: number;
    /** How many processes and threads it may have at a time. */
    readonly pids?: number;
  };
  /** What is run in the container, one list item each: the arguments of `entrypoint`, if there is one. */
  readonly command?: readonly string[];
  /** The program that `command` is given to. With it, the command of the image is not used. */
  readonly entrypoint?: readonly string[];
  /** Variables for the container; they override those of `env_file` and of the image. No others are passed on. Values are text: put numbers in quotes. */
  readonly env?: Readonly<Record<string, string>>;
  /** A file of KEY=value lines, or a list of them (later ones win). Read again for each session. */
  readonly env_file?: readonly string[] | string;
  /** The user it runs as: a name or number inside the image, or `user:group`. */
  readonly user?: string | number;
  /** The working directory, inside the container. */
  readonly workdir?: string;
  /** Docker's own health check. When it fails, the session is restarted. `none` switches off that of the image. */
  readonly healthcheck?: HealthcheckConfig | 'none';
  /** Its files are read-only, except below `tmpfs`. */
  readonly read_only?: boolean;
  /** Folders in memory: writable, at most 64 MiB each, emptied at a restart. */
  readonly tmpfs?: readonly string[];
  /** Linux capabilities that it needs. All others are dropped. */
  readonly cap_add?: readonly string[];
  /** No program in it can gain privileges, such as by setuid. */
  readonly no_new_privileges?: boolean;
  /** `isolated`: it cannot reach other sessions and can be reached only by its port. `none`: no network at all. */
  readonly network?: 'isolated' | 'none';
  /** How it is restarted when it ends or is unhealthy. If that does not help, it is removed. */
  readonly restart?: {
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
      /** How many restarts are allowed within the window; then it is removed. */
      readonly max?: number;
      /** The window in which restarts are counted. */
      readonly within?: Duration;
    };
  };
  /** How long a spawn with `--wait` waits for a healthy session before it ends it. */
  readonly ready_timeout?: Duration;
}

/** Workers that are spawned for a task: their types, and how they are supervised. */
export interface AgentsConfig {
  /** How often all agents are checked. Each pass is one row of `health_checks`. */
  readonly every?: Duration;
  /** How often a crashed agent is respawned for the same task. */
  readonly max_respawns?: number;
  /** The component that spawns agents. Its `heartbeat` shows whether it makes progress. */
  readonly loop?: string;
  /** What `keepwell spawn TYPE` starts, by type. */
  readonly types?: Readonly<Record<string, AgentTypeConfig>>;
  /** A JSON file in which another program lists the agents that are alive: `{ "active_agents": { "2194": { "agent_type": "architect", "task_id": "SPEC-111", "started_at": "…" } } }`. */
  readonly state_file?:
    | string
    | {
        /** The file, relative to the folder of the first configuration file. */
        readonly path: string;
        /** The key of the map from process id to entry. Dots lead into inner objects. */
        readonly agents?: string;
        /** The key of the type in an entry. */
        readonly agent_type?: string;
        /** The key of the task in an entry. */
        readonly task_id?: string;
        /** The key of the time at which it was started. */
        readonly started_at?: string;
      };
}

export interface AgentTypeConfig {
  /** The program and its arguments, one list item each. `{task}` stands for the task and stays inside its item, whatever the task contains. */
  readonly command: readonly string[] | string;
  /** The working directory, relative to the folder of the first configuration file. */
  readonly cwd?: string;
  /** Variables for the agent; they override those of `env_file`; `{task}` in a value stands for the task. Values are text: put numbers in quotes. */
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
  /** Who gets the tickets about its crashes. */
  readonly assigned_to?: string;
  /** A respawn that lives longer than this counts as a success. Exit code 0 is a success at any time. */
  readonly min_uptime?: Duration;
  /** How to end it. */
  readonly stop?: {
    /** The signal that asks it to end. */
    readonly signal?: string;
    /** How long it may take to end before the whole process tree gets SIGKILL. */
    readonly grace?: Duration;
  };
  /** How long to wait before a respawn. */
  readonly backoff?: {
    /** The wait before the first restart. */
    readonly initial?: Duration;
    /** Each further wait is this many times longer. */
    readonly factor?: number;
    /** No wait is longer than this. Not below `initial`. */
    readonly max?: Duration;
    /** Each wait is shortened by a random part of up to this ratio, so that not everything restarts at once. */
    readonly jitter?: number;
  };
  /** Exit codes and signals after which it is not respawned: another try would end the same way. */
  readonly never_on?: readonly (number | string)[];
  /** A sign of progress that each agent gives by itself. One that stops beating is frozen: it is examined, ended and respawned. `{task}` in `file` stands for the task. */
  readonly heartbeat?: {
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
  };
  /** How long one run may take. One that takes longer is examined and ended, which counts as a crash, and respawned. */
  readonly timeout?: Duration;
  /** What each agent may use. */
  readonly limits?: {
    /** What all its processes together may use. Beyond it the kernel kills the component (under cgroup v1 possibly only one of its processes), and that is recorded as out of memory. */
    readonly memory?: Size;
    /** When it uses more than this in 3 samples in a row, it is asked to end and started again. */
    readonly soft_memory?: Size;
    /** How many processes and threads it may have at a time. */
    readonly pids?: number;
    /** How many files and sockets each of its processes may have open. */
    readonly nofile?: number;
  };
}

/** Who is told when something needs attention. */
export interface AlertsConfig {
  /** What is worth an alert: `crash` (something crashed, also when its restart helped), `unhealthy` (restarted because a probe failed, or not well for a minute), `gave-up` (restarting did not help), `freeze` (not even a restart helped), `crash-rate` (more than 10 crashes in an hour), `host-silent` (with `store.fleet`: a host was not heard of for 90 s), `recovered` (what was told is over). */
  readonly on?: readonly string[];
  /** Where alerts are sent. */
  readonly channels: readonly AlertChannelConfig[];
  /** How often an alert is repeated while the problem lasts; `never`: only once. */
  readonly remind?: Duration | 'never';
  /** At this time of each day one message tells what happened since the last one, and what is not over. */
  readonly digest?: string;
  /** Hours of each day in which alerts are held back. All of them are told in one message when they end. */
  readonly quiet_hours?: {
    /** When they begin. */
    readonly from: string;
    /** When they end. */
    readonly to: string;
    /** The time zone of both. */
    readonly time_zone?: string;
    /** What is told all the same, and that it is over. */
    readonly except?: readonly ('crash' | 'unhealthy' | 'gave-up' | 'freeze' | 'crash-rate' | 'host-silent')[];
  };
  /** The time zone of `digest` and `quiet_hours`. */
  readonly time_zone?: string;
}

export interface AlertChannelConfig {
  /** An address that takes JSON. */
  readonly webhook?: {
    /** Where the alert is posted, as JSON. */
    readonly url: string;
    /** Headers of the request, such as `Authorization`. */
    readonly headers?: Readonly<Record<string, string>>;
  };
  /** A channel of Slack. */
  readonly slack?: {
    /** The address of an incoming webhook of Slack, or of something that understands the same. */
    readonly url: string;
  };
  /** A channel of Discord. */
  readonly discord?: {
    /** The address of a webhook of Discord (Server Settings, Integrations). */
    readonly url: string;
  };
  /** A channel of Microsoft Teams. */
  readonly teams?: {
    /** The address of a workflow "Post to a channel when a webhook request is received". */
    readonly url: string;
  };
  /** A topic of ntfy: a message on every phone that subscribed to it. */
  readonly ntfy?: {
    /** The topic. On a public server whoever knows its name can read it: choose one that nobody guesses. */
    readonly topic: string;
    /** The server. */
    readonly url?: string;
    /** An access token, where the topic needs one. Take it from a variable. */
    readonly token?: string;
  };
  /** A mail. */
  readonly email?: {
    /** The mail server: `smtp://` (port 587, encrypted as soon as the server offers it) or `smtps://` (port 465, encrypted from the start). */
    readonly server: string;
    /** Who logs in. */
    readonly user?: string;
    /** The password of `user`. Take it from a variable. */
    readonly password?: string;
    /** The sender. */
    readonly from: string;
    /** Who gets it. */
    readonly to: readonly string[];
  };
  /** A program on this machine. No shell is involved. */
  readonly command?: {
    /** A program and its arguments, one list item each. It reads the alert as JSON from its input. */
    readonly command: readonly string[];
  };
  /** What this channel is told of, instead of `alerts.on`; `digest` for the daily digest. */
  readonly on?: readonly string[];
}

/** Where the history is kept, and for how long. */
export interface StoreConfig {
  /** The file of the database, relative to the folder of the first configuration file. A database at the old place is moved when the daemon starts. */
  readonly path?: string;
  /** How long crashes, runs, events, resolved incidents, closed tickets and ended sessions are kept. What is open is kept in any case. */
  readonly retention?: Duration;
  /** A PostgreSQL database that several hosts share, as `postgres://user:password@host/database`: one open incident and one ticket for each problem over all of them, one host that alerts, and `--fleet` answers from it. The password may be a variable. See docs/guide/several-machines.md. */
  readonly fleet?: string;
}

/** When a crash becomes a ticket, and where tickets are written. */
export interface TicketsConfig {
  /** How many crashes with the same cause within 24 hours open a ticket. Giving up on a component opens one at once. */
  readonly after_crashes?: number;
  /** How often trackers are updated. */
  readonly rate_limit?: {
    /** The time that `max` is for. */
    readonly per?: Duration;
    /** How many updates about crashes trackers get in that time: a new ticket, or a comment with the new count. */
    readonly max?: number;
    /** Counted for each cause (`fingerprint`), or for all causes with the same type of error together (`type`). */
    readonly by?: 'fingerprint' | 'type';
  };
  /** By type of error; overrides the defaults. Others are `medium`; more than 10 crashes within 24 hours are `critical`, whatever the error. */
  readonly priorities?: Readonly<Record<string, TicketPriority>>;
  /** Where tickets are written, besides the history. Each is a map with one of `local`, `github`, `webhook` and `command`. */
  readonly trackers?: readonly TrackerConfig[];
}

export type TicketPriority = 'low' | 'medium' | 'high' | 'critical';

export interface TrackerConfig {
  /** Markdown files, `BUG-003-….md`. */
  readonly local?: {
    /** Where the files are written, relative to the folder of the first configuration file. It is created if needed. */
    readonly dir?: string;
  };
  /** Issues of a GitHub repository. */
  readonly github?: {
    /** The repository whose issues are used. */
    readonly repo: string;
    /** A token that may write issues there. Take it from a variable, as in the example. */
    readonly token: string;
    /** Where the API is. GitHub Enterprise: `https://HOST/api/v3`. */
    readonly url?: string;
    /** Labels of new issues, beside the one for the priority. */
    readonly labels?: readonly string[];
    /** Without an answer within this time, it is tried again later. */
    readonly timeout?: Duration;
  };
  /** Any HTTP server. */
  readonly webhook?: {
    /** It gets each ticket as JSON by POST. */
    readonly url: string;
    /** Headers to send. */
    readonly headers?: Readonly<Record<string, string>>;
    /** Without an answer within this time, it is tried again later. */
    readonly timeout?: Duration;
  };
  /** Any program. */
  readonly command?: {
    /** The program and its arguments, one list item each. It gets each ticket as JSON on its standard input. */
    readonly command: readonly string[] | string;
    /** Without an answer within this time, it is tried again later. */
    readonly timeout?: Duration;
  };
}

/** The page in the browser, and the API, over TCP. Off unless given. */
export interface DashboardConfig {
  /** Where the page and the API are served. A port alone is one of 127.0.0.1. */
  readonly listen?: number | string;
  /** Also on an address that other machines can reach. Needs `tls` or `reverse_proxy` as well. */
  readonly allow_remote?: boolean;
  /** Serve it by HTTPS. A renewed certificate is noticed within seconds. */
  readonly tls?: {
    /** The certificate with its chain, as PEM, relative to the folder of the first configuration file. */
    readonly cert: string;
    /** Its private key, as PEM. */
    readonly key: string;
  };
  /** The origin under which a reverse proxy shows it, or a list of them. The proxy must pass on the Host header. */
  readonly reverse_proxy?: readonly string[] | string;
  /** Further names under which this machine is reached. Requests by any other name are refused. */
  readonly hosts?: readonly string[];
  /** Who may read `/metrics` there: `token` whoever sends a token (there is one for this alone), `open` everybody, `off` nobody. `telemetry.prometheus` must be on. */
  readonly metrics?: 'token' | 'open' | 'off';
}
