/** The stable JSON shapes of design section 7: what the API returns and `-o json` prints. Additions are allowed, changes are not. */
import type { ExitView } from '../../base/pure/exit.ts';
import type { Outcome, Role } from './health/probe.ts';
import type { StateKind } from './lifecycle/state.ts';

export type Health = 'unknown' | 'starting' | 'healthy' | 'unhealthy';
export type Condition = 'engine-unreachable' | 'not-known' | 'daemonised' | 'unkillable' | 'frozen';

export interface Subject {
  readonly kind: 'component' | 'check' | 'daemon' | 'session' | 'agent' | 'experiment';
  readonly name: string;
}

export interface ComponentView {
  readonly name: string;
  readonly kind: 'process' | 'container' | 'compose' | 'external';
  readonly state: StateKind;
  readonly condition: Condition | null;
  readonly health: Health;
  readonly ready: boolean;
  /** Since when its health is not known although it has a run: its Engine does not answer, it is paused; null: it is known. */
  readonly unknown_since: string | null;
  /** The run was started by an earlier daemon and taken over by this one. */
  readonly adopted: boolean;
  readonly run_id: string | null;
  readonly pid: number | null;
  /** The name of its container, also of one that others run. */
  readonly container: string | null;
  /** Of what others started: how it is known, "localhost:7233", "/run/legacy.pid" or the name of its container; null: it is ours. */
  readonly watched: { readonly kind: 'address' | 'pid-file' | 'container'; readonly target: string } | null;
  readonly started_at: string | null;
  readonly uptime_ms: number | null;
  /**
   * How long a run must live before a command that waits for it says "up"; null: a startup or readiness probe, or Docker's health check,
   * says that it is.
   */
  readonly trial_ms: number | null;
  readonly restarts: number;
  readonly last_restart: { readonly at: string; readonly reason: string } | null;
  /** When a component in backoff, or one that gave up, is tried again. */
  readonly next_attempt_at: string | null;
  /** `crash`: nobody had asked for it, and it counted as a failure. */
  readonly last_exit: (ExitView & { readonly at: string; readonly crash: boolean }) | null;
  /** running: Keepwell keeps it up; stopped: somebody stopped it by hand. */
  readonly desired: 'running' | 'stopped';
  /** Dependencies it is waiting for. */
  readonly waiting_for: readonly string[];
  readonly depends_on: Readonly<Record<string, string>>;
  /** A sentence about what is going on, when there is something to say. */
  readonly note: string | null;
  /** Processes of a stop that did not end: "1234 (sleep)". */
  readonly survivors: readonly string[];
  /** The configuration no longer names it; it is being ended and then forgotten. */
  readonly removed: boolean;
  /** Which mechanism ends the whole process tree: 'cgroup-v2' or 'process-group + cookie'. */
  readonly tree_mechanism: string | null;
  readonly probes: readonly ProbeView[];
  /** The heartbeat of its run; null: it has none, or does not run. */
  readonly heartbeat: HeartbeatView | null;
  /** The limits of its run and what holds it to them. */
  readonly limits: readonly LimitView[];
  /** The container of its run as it was last seen; null: it has none of ours, or does not run. */
  readonly container_details: ContainerDetailsView | null;
  /** What its run used when it was last looked at; null: it does not run, or was not looked at yet. */
  readonly resources: ResourcesView | null;
}

/** A container that Keepwell made. */
export interface ContainerDetailsView {
  /** The full id. */
  readonly id: string;
  readonly image: string;
  /** The name of its image stands for another image now: "keepwell up" makes it anew from that. */
  readonly image_outdated: boolean;
  /** What Docker's own health check says; unknown: nothing that can be believed. */
  readonly health: 'healthy' | 'unhealthy' | 'starting' | 'none' | 'unknown';
  /** A sentence about it; null: there is nothing to say. */
  readonly health_reason: string | null;
  /** "127.0.0.1:9000->9000/tcp" */
  readonly ports: readonly string[];
  readonly networks: readonly string[];
}

/** All processes of a run together. */
export interface ResourcesView {
  /** 100 is one core, since the look before; null: not known yet. */
  readonly cpu_percent: number | null;
  readonly memory_bytes: number;
  /** Its `limits.soft_memory`. */
  readonly soft_memory_bytes: number | null;
  /** Open files; null: we may not look. */
  readonly fds: number | null;
  readonly threads: number;
  readonly processes: number;
  readonly at: string;
}

export interface LimitView {
  readonly name: 'memory' | 'pids' | 'nofile' | 'cpus';
  /** Bytes of memory; how many of the others. */
  readonly max: number;
  /** Null: it is not in force, and the note says why. */
  readonly mechanism: 'cgroup-v2' | 'cgroup-v1' | 'rlimit' | 'docker' | null;
  /** How it differs from what one would expect. */
  readonly note: string | null;
}

/** How a probe of the current run stands. */
export interface ProbeView {
  readonly role: Role;
  /** "http :8080/healthz" */
  readonly question: string;
  /** What its answers come to so far; null: too few to say. */
  readonly verdict: 'pass' | 'fail' | null;
  /** Failures in a row, and how many of them are too many. */
  readonly failures: number;
  readonly failure_threshold: number;
  /** Questions that were due while the one before was still open. */
  readonly skipped: number;
  readonly last: {
    readonly outcome: Outcome;
    readonly message: string;
    readonly at: string;
    readonly duration_ms: number;
  } | null;
}

/** The sign of progress that a component is expected to give. */
export interface HeartbeatView {
  /** "ping", "log", 'log lines with "tick"', "file state.json, field last_update" */
  readonly source: string;
  /** Null: not in this run, as far as is known. */
  readonly last_beat_at: string | null;
  /** Without the time in which nobody could have heard it. */
  readonly silent_ms: number;
  /** It is frozen when it is silent for this long. */
  readonly limit_ms: number;
  /** Why it cannot be heard: "state.json has no field last_update". */
  readonly problem: string | null;
}

/** How a frozen run was dealt with, and what it was doing. */
export interface FreezeView {
  readonly reason: string;
  readonly silent_since: string;
  readonly steps: readonly { readonly at: string; readonly text: string }[];
  /** Its processes when it was looked at, and what it said to the dump signal. */
  readonly evidence: readonly string[];
}

/** A stretch of equal answers to one probe. */
export interface ProbeStretchView {
  readonly component: string;
  readonly run_id: string;
  readonly role: Role;
  readonly question: string;
  readonly outcome: Outcome;
  /** Of the last answer. */
  readonly message: string;
  readonly first_at: string;
  readonly last_at: string;
  readonly count: number;
  readonly last_ms: number;
  readonly max_ms: number;
}

export interface ProbesView {
  readonly schema_version: 1;
  /** Newest first. */
  readonly probes: readonly ProbeStretchView[];
}

/** What a run used over a minute, or over up to an hour in which that hardly changed. */
export interface SampleView {
  readonly component: string;
  readonly run_id: string;
  readonly first_at: string;
  readonly last_at: string;
  /** Samples in it. */
  readonly count: number;
  /** On average; 100 is one core. */
  readonly cpu_percent: number | null;
  /** At its end, as the rest below, and at most. */
  readonly memory_bytes: number;
  readonly memory_max_bytes: number;
  readonly fds: number | null;
  readonly threads: number;
  readonly processes: number;
}

export interface SamplesView {
  readonly schema_version: 1;
  /** Newest first. */
  readonly samples: readonly SampleView[];
}

export interface DaemonView {
  readonly running: boolean;
  /** False with `running`: its process is there, but the records had to be asked (it is just starting, or hangs). */
  readonly answers: boolean;
  readonly pid: number | null;
  readonly version: string | null;
  readonly started_at: string | null;
  /** ok, or what is wrong with the history while supervision goes on: "cannot write (disk full), 12 records kept in memory". */
  readonly store: string | null;
  /** Longest recent stall of the event loop. */
  readonly loop_delay_ms: number | null;
  readonly guardian_pid: number | null;
  /** Without a daemon: when the guardian starts one again. Absent or null: nobody does, or one is there. */
  readonly next_start_at?: string | null | undefined;
  /** After a daemon died: what keeps the next one from coming up, until it is mended. Absent or null: nothing. */
  readonly waits_for?: string | null | undefined;
  /** How what components write is kept; null: nobody is there to do it. */
  readonly logs: LogKeepingView | null;
  /** Containers of users; null: there are none, and no template for any. */
  readonly sessions: SessionsSummary | null;
  /** Which channel did not take which messages, until it takes one again; null: nothing was lost. */
  readonly alerts: string | null;
}

export interface LogKeepingView {
  /** How a log is shortened while its component writes to it. */
  readonly mechanism: 'collapse-range' | 'copy-truncate';
  /** All logs together, with the parts that were put aside. */
  readonly bytes: number;
  /** Not kept, since this daemon began: a flood, a full disk, the bound of all logs together. */
  readonly dropped_bytes: number;
  /** Written while a log was cut back, and seen by nobody; only with copy-truncate. */
  readonly lost_bytes: number;
  /** A sentence when the disk is nearly full. */
  readonly condition: string | null;
}

export interface StatusView {
  readonly schema_version: 1;
  readonly project: string;
  readonly daemon: DaemonView;
  readonly components: readonly ComponentView[];
}

export interface CrashView {
  readonly id: number;
  readonly subject: Subject;
  readonly run_id: string;
  readonly at: string;
  readonly uptime_ms: number;
  readonly exit: ExitView;
  readonly error_type: string | null;
  readonly error_message: string | null;
  readonly root_cause: string | null;
  readonly fingerprint: string | null;
  readonly agent_type: string | null;
  readonly task_id: string | null;
  /** Of the agent; null: it is none, or had no process. */
  readonly agent_pid: number | null;
  readonly decision: string;
  readonly incident: number | null;
  readonly ticket: string | null;
}

export interface CrashesView {
  readonly schema_version: 1;
  readonly crashes: readonly CrashView[];
}

/** One crash, with all that is known about it. */
export interface WhyView extends CrashView {
  readonly schema_version: 1;
  readonly log_tail: readonly string[];
  readonly stack: readonly string[];
  readonly related_files: readonly string[];
  /** An error that it had written before it died of something else; null: none, or the cause is known. */
  readonly earlier_error: EarlierError | null;
  /** Its probes' answers before the end, oldest first; equal answers in a row are folded into one. */
  readonly probes: readonly ProbeStretchView[];
  /** Null: its heartbeat was not overdue. */
  readonly freeze: FreezeView | null;
  readonly dependencies: readonly {
    readonly name: string;
    readonly condition: string;
    readonly state: string;
    readonly ready: boolean;
  }[];
  /** Names only, never values: "env LOG_LEVEL", "command", "env_file .env". Null: there is no good run to compare with. */
  readonly changed_since_good: readonly string[] | null;
  readonly rule: {
    readonly name: string;
    readonly counters: {
      readonly restarts_in_window: number;
      readonly failures: number;
      readonly spawn_errors: number;
      readonly total: number;
    };
  };
}

/** A list of events, oldest first. */
export interface EventsView {
  readonly schema_version: 1;
  /** How far the whole history goes, whatever was asked for. */
  readonly last_seq: number;
  readonly events: readonly EventView[];
}

export interface EventView {
  readonly seq: number;
  readonly at: string;
  readonly subject: Subject;
  readonly type: string;
  readonly run_id: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An error that it had written before it died of something else. */
export interface EarlierError {
  readonly type: string | null;
  readonly message: string | null;
  /** In one sentence, as the root cause would be. */
  readonly summary: string;
  /** How long before the end; null: the log does not tell. */
  readonly age_ms: number | null;
  /** Lines written after it, blank ones not counted. */
  readonly lines_after: number;
  readonly stack: readonly string[];
  readonly related_files: readonly string[];
}

/** For the status of the whole. */
export interface SessionsSummary {
  readonly total: number;
  readonly unhealthy: number;
}
