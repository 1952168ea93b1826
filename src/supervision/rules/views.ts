/** The stable JSON shapes of design section 7: what the API returns and `-o json` prints. Additions are allowed, changes are not. */

import type { ExitView } from '../../base/pure/exit.ts';
import type { Amount, Count, IsoTime, WholeNumber } from '../../base/pure/json.ts';
import type { Outcome, Role } from './health/probe.ts';
import type { StateKind } from './lifecycle/state.ts';

export type Health = 'unknown' | 'starting' | 'healthy' | 'unhealthy';
export type Condition = 'engine-unreachable' | 'not-known' | 'daemonised' | 'unkillable' | 'frozen';

/** Whom it is about. */
export interface Subject {
  readonly kind: 'component' | 'check' | 'daemon' | 'session' | 'agent' | 'experiment';
  readonly name: string;
}

/** One component as it is now. */
export interface ComponentView {
  readonly name: string;
  readonly kind: 'process' | 'container' | 'compose' | 'external' | 'kubernetes';
  readonly state: StateKind;
  /** What is odd about it, beside its state. */
  readonly condition: Condition | null;
  readonly health: Health;
  readonly ready: boolean;
  /** Since when its health is not known although it has a run: its Docker Engine does not answer, it is paused. */
  readonly unknown_since: IsoTime | null;
  /** The run was started by an earlier daemon and taken over by this one. */
  readonly adopted: boolean;
  readonly run_id: string | null;
  readonly pid: Count | null;
  /** The name of its container, also of one that others run. */
  readonly container: string | null;
  /** Of what others started: how it is known, such as its address "localhost:7233"; null: it is ours. */
  readonly watched: { readonly kind: 'address' | 'pid-file' | 'container'; readonly target: string } | null;
  readonly started_at: IsoTime | null;
  readonly uptime_ms: Count | null;
  /** How long a run must live before it counts as up; null: a startup or readiness probe, or a health check of Docker, says that it is. */
  readonly trial_ms: Count | null;
  /** Unplanned ones since the last start by hand. */
  readonly restarts: Count;
  /** How many restarts count for its limit now, and how many are too many. Absent or null: nobody restarts it. */
  readonly restart_limit?: RestartLimitView | null | undefined;
  readonly last_restart: { readonly at: IsoTime; readonly reason: string } | null;
  /** When a component in backoff, or one that gave up, is tried again. */
  readonly next_attempt_at: IsoTime | null;
  readonly last_exit:
    | (ExitView & {
        readonly at: IsoTime;
        /** Nobody had asked for it, and it counted as a failure. */
        readonly crash: boolean;
      })
    | null;
  /** stopped: somebody stopped it by hand. */
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
  /** How its whole process tree is ended: "cgroup-v2" or "process-group + cookie". */
  readonly tree_mechanism: string | null;
  /** What stands between the daemon and its next run; null: it is no process of ours. */
  readonly shim: ShimView | null;
  readonly probes: readonly ProbeView[];
  /** Null: it has none, or does not run. */
  readonly heartbeat: HeartbeatView | null;
  /** The limits of its run and what holds it to them. */
  readonly limits: readonly LimitView[];
  /** Null: it has none of ours, or does not run. */
  readonly container_details: ContainerDetailsView | null;
  /** What its run used when it was last measured, every 15 s (every 5 s with soft_memory). */
  readonly resources: ResourcesView | null;
}

/** "4 of 10 in 10 min". */
export interface RestartLimitView {
  readonly used: Count;
  readonly max: Count;
  readonly within_ms: Count;
}

/** A container that Keepwell made, as it was last seen. */
export interface ContainerDetailsView {
  /** The full id. */
  readonly id: string;
  readonly image: string;
  /** The name of its image stands for another image now: "up" makes it anew from that. */
  readonly image_outdated: boolean;
  /** What Docker's own health check says; unknown: nothing that can be believed. */
  readonly health: 'healthy' | 'unhealthy' | 'starting' | 'none' | 'unknown';
  /** A sentence about it. */
  readonly health_reason: string | null;
  /** Published ports: "127.0.0.1:9000->9000/tcp". */
  readonly ports: readonly string[];
  readonly networks: readonly string[];
}

/** What all processes of a run use together. */
export interface ResourcesView {
  /** 100 is one core, since the look before; null: not known yet. */
  readonly cpu_percent: Amount | null;
  readonly memory_bytes: Count;
  /** Its limits.soft_memory. */
  readonly soft_memory_bytes: Count | null;
  /** Open files; null: they may not be counted. */
  readonly fds: Count | null;
  readonly threads: Count;
  readonly processes: Count;
  readonly at: IsoTime;
}

/** A limit of the current run. */
export interface LimitView {
  readonly name: 'memory' | 'pids' | 'nofile' | 'cpus';
  /** Bytes of memory; how many of the others. */
  readonly max: Amount;
  /** What holds it to that; null: it is not in force. */
  readonly mechanism: 'cgroup-v2' | 'cgroup-v1' | 'rlimit' | 'docker' | null;
  /** How it differs from what one would expect. */
  readonly note: string | null;
}

/** The small program between the daemon and a run. The native one sees the exact exit status and what the run used. */
export interface ShimView {
  readonly kind: 'native' | 'sh';
  /** Why it is not the native one. */
  readonly why: string | null;
}

/** How a probe of the current run stands. */
export interface ProbeView {
  readonly role: Role;
  /** In a few words: "http :8080/healthz". */
  readonly question: string;
  /** What its answers come to; null: too few to say. */
  readonly verdict: 'pass' | 'fail' | null;
  /** Failures in a row. */
  readonly failures: Count;
  /** How many of them are too many. */
  readonly failure_threshold: Count;
  /** Questions that were due while the one before was still open. */
  readonly skipped: Count;
  /** The newest answer. */
  readonly last: {
    readonly outcome: Outcome;
    readonly message: string;
    readonly at: IsoTime;
    readonly duration_ms: Amount;
  } | null;
}

/** The sign of progress that a component is expected to give. */
export interface HeartbeatView {
  /** In a few words: "log", "ping", "file state.json, field last_update". */
  readonly source: string;
  /** Null: not in this run, as far as is known. */
  readonly last_beat_at: IsoTime | null;
  /** Without the time in which nobody could have heard it. */
  readonly silent_ms: Count;
  /** It is frozen when it is silent for this long. */
  readonly limit_ms: Count;
  /** Why it cannot be heard. */
  readonly problem: string | null;
}

/** How a run that was frozen, or ran too long, was dealt with, and what it was doing. */
export interface FreezeView {
  /** It was not silent: it ran longer than its timeout. Absent: its heartbeat was overdue. */
  readonly timeout?: boolean | undefined;
  /** In a few words: "frozen: no heartbeat for 5 min". */
  readonly reason: string;
  /** Since when nothing was heard; with `timeout`: since when its time was up. */
  readonly silent_since: IsoTime;
  /** What was done, oldest first. */
  readonly steps: readonly { readonly at: IsoTime; readonly text: string }[];
  /** Its processes when it was examined, and what it wrote at the dump signal; secrets are taken out. */
  readonly evidence: readonly string[];
}

/** One incarnation of a component, from its start to its end. */
export interface RunView {
  readonly run_id: string;
  readonly component: string;
  readonly started_at: IsoTime;
  /** Null: it goes on, or nobody saw its end. */
  readonly ended_at: IsoTime | null;
  readonly pid: Count | null;
  /** Null: it has not ended. */
  readonly exit: ExitView | null;
  /** Somebody had asked for its end; null: it has not ended. */
  readonly planned: boolean | null;
  /** Its end counted as a failure; null: it has not ended. */
  readonly crashed: boolean | null;
  /** What its end led to: "restart in 2 s", and the rule that said so. */
  readonly decision: string | null;
  readonly rule: string | null;
}

/** Runs, newest first. */
export interface RunsView {
  readonly schema_version: 1;
  readonly runs: readonly RunView[];
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
  readonly first_at: IsoTime;
  readonly last_at: IsoTime;
  readonly count: Count;
  readonly last_ms: Amount;
  readonly max_ms: Amount;
}

/** Answers of probes, newest first. */
export interface ProbesView {
  readonly schema_version: 1;
  readonly probes: readonly ProbeStretchView[];
}

/** What a run used over a minute, or over up to an hour in which its use hardly changed. */
export interface SampleView {
  readonly component: string;
  readonly run_id: string;
  readonly first_at: IsoTime;
  readonly last_at: IsoTime;
  /** Samples in it. */
  readonly count: Count;
  /** On average; 100 is one core. Null: not known. */
  readonly cpu_percent: Amount | null;
  /** At its end. */
  readonly memory_bytes: Count;
  readonly memory_max_bytes: Count;
  /** Open files at its end; null: they may not be counted. */
  readonly fds: Count | null;
  /** At its end. */
  readonly threads: Count;
  /** At its end. */
  readonly processes: Count;
}

/** What a component used, newest first. */
export interface SamplesView {
  readonly schema_version: 1;
  readonly samples: readonly SampleView[];
}

/** The daemon itself. */
export interface DaemonView {
  readonly running: boolean;
  /** False with `running`: its process is there, but the records had to be asked (it is just starting, or hangs). */
  readonly answers: boolean;
  readonly pid: Count | null;
  readonly version: string | null;
  readonly started_at: IsoTime | null;
  /** "ok", or what is wrong with the history while supervision continues. */
  readonly store: string | null;
  /** Longest recent stall of its event loop. */
  readonly loop_delay_ms: number | null;
  readonly guardian_pid: Count | null;
  /** Without a daemon: when the guardian starts one again. Absent or null: nobody does, or one is there. */
  readonly next_start_at?: IsoTime | null | undefined;
  /** After a daemon died: what keeps the next one from coming up, until it is mended. Absent or null: nothing. */
  readonly waits_for?: string | null | undefined;
  /** How what components write is kept; null: nobody is there to do it. */
  readonly logs: LogKeepingView | null;
  /** Containers of users; null: there are none, and no template for any. */
  readonly sessions: SessionsSummary | null;
  /** Which channel did not take which messages, until it takes one again; null: nothing was lost. */
  readonly alerts: string | null;
  /** "ok", or what is wrong with the memory that hosts share; absent or null: this one shares with nobody. */
  readonly fleet?: string | null | undefined;
  /** The page over the network; absent or null: nobody asked for it. */
  readonly page?: PageStatus | null | undefined;
}

/** Where the page is, or why it cannot be served right now. */
export interface PageStatus {
  readonly address: string | null;
  readonly problem: string | null;
}

export interface LogKeepingView {
  /** How a log is shortened while its component writes to it. */
  readonly mechanism: 'collapse-range' | 'copy-truncate';
  /** All logs together, with the parts that were put aside. */
  readonly bytes: Count;
  /** Not kept, since this daemon began: a flood, a full disk, the bound of all logs together. */
  readonly dropped_bytes: Count;
  /** Written while a log was cut back, and seen by nobody; only with copy-truncate. */
  readonly lost_bytes: Count;
  /** How often lines of a container are missing, since this daemon began, because Docker did not pass them on. Its log says where. */
  readonly gaps: Count;
  /** A sentence when the disk is nearly full. */
  readonly condition: string | null;
}

/** Everything as it is now. */
export interface StatusView {
  readonly schema_version: 1;
  readonly project: string;
  readonly daemon: DaemonView;
  readonly components: readonly ComponentView[];
}

/** An unplanned end of a run. */
export interface CrashView {
  readonly id: Count;
  readonly subject: Subject;
  readonly run_id: string;
  readonly at: IsoTime;
  readonly uptime_ms: Count;
  readonly exit: ExitView;
  readonly error_type: string | null;
  readonly error_message: string | null;
  readonly root_cause: string | null;
  readonly fingerprint: string | null;
  readonly agent_type: string | null;
  readonly task_id: string | null;
  /** Of the agent; null: it is none, or had no process. */
  readonly agent_pid: WholeNumber | null;
  /** What was decided: "restart in 1 s (1 of 10 in 10 min)". */
  readonly decision: string;
  readonly incident: Count | null;
  readonly ticket: string | null;
}

/** Crashes, newest first. */
export interface CrashesView {
  readonly schema_version: 1;
  readonly crashes: readonly CrashView[];
}

/** One crash, with all that is known about it. */
export interface WhyView extends CrashView {
  readonly schema_version: 1;
  /** The last lines it wrote, with secrets taken out. */
  readonly log_tail: readonly string[];
  readonly stack: readonly string[];
  readonly related_files: readonly string[];
  /** Null: none, or the cause is known. */
  readonly earlier_error: EarlierError | null;
  /** The answers of its probes before the end, oldest first. */
  readonly probes: readonly ProbeStretchView[];
  /** Null: its heartbeat was not overdue, and it did not run too long. */
  readonly freeze: FreezeView | null;
  readonly dependencies: readonly {
    readonly name: string;
    readonly condition: string;
    readonly state: string;
    readonly ready: boolean;
  }[];
  /** Names only, never values. Null: there is no good run to compare with. */
  readonly changed_since_good: readonly string[] | null;
  readonly rule: {
    readonly name: string;
    readonly counters: {
      readonly restarts_in_window: Count;
      readonly failures: Count;
      readonly spawn_errors: Count;
      readonly total: Count;
    };
  };
}

/** Events, oldest first. */
export interface EventsView {
  readonly schema_version: 1;
  /** How far the whole history goes, whatever was asked for. */
  readonly last_seq: Count;
  readonly events: readonly EventView[];
}

/** Something that happened. */
export interface EventView {
  /** Rises by one or more; never used twice. */
  readonly seq: Count;
  readonly at: IsoTime;
  readonly subject: Subject;
  readonly type: string;
  readonly run_id: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An error that a program had written before it died of something else. */
export interface EarlierError {
  readonly type: string | null;
  readonly message: string | null;
  /** One sentence. */
  readonly summary: string;
  /** How long before the end it was written. Null: not known. */
  readonly age_ms: Count | null;
  /** Lines that were written after it, blank ones not counted. */
  readonly lines_after: Count;
  readonly stack: readonly string[];
  readonly related_files: readonly string[];
}

/** For the status of the whole. */
export interface SessionsSummary {
  readonly total: Count;
  readonly unhealthy: Count;
}
