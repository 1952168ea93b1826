/** What the methods of the library take. */
import type { KeepwellConfig } from './config-input.ts';

export interface ConnectOptions {
  /** Where the project is looked for, upwards. Default: the working directory. */
  readonly cwd?: string;
  /** The configuration files, as with `-f`. Default: the `keepwell.yaml` that is found. */
  readonly files?: readonly string[];
  /** The state directory. Default: `.keepwell` beside the first file, or KEEPWELL_HOME. */
  readonly home?: string;
  /** The socket itself, when it is known; nothing is looked for then. */
  readonly socket?: string;
  /** A project on another machine, reached by ssh: "ssh://user@host/path/to/project", or a name from the user's list of hosts. */
  readonly host?: string;
}

export interface OpenOptions {
  /** The folder that relative paths of a configuration object are relative to. Default: the working directory. */
  readonly cwd?: string;
  /** The state directory. Default: `.keepwell` beside the first file, or in `cwd` for a configuration object. */
  readonly home?: string;
}

export interface WaitOptions {
  /** Default: two minutes. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface CheckOptions {
  /** Only these checks, by name. Default: all. */
  readonly checks?: readonly string[];
  /** With `checks`: ask what these need as well, and skip them if that fails. */
  readonly withDeps?: boolean;
  /** No check may take longer. Default: as long as the configuration allows each, which is 5 s unless it says otherwise. */
  readonly timeoutMs?: number;
}

export interface HealthOptions extends CheckOptions {
  /** A file, a list of files, or a configuration object. Default: the `keepwell.yaml` that is found from `cwd` upwards. */
  readonly config?: string | readonly string[] | KeepwellConfig;
  /** Default: the working directory. */
  readonly cwd?: string;
  /** The state directory. Default: `.keepwell` beside the first file, or KEEPWELL_HOME. */
  readonly home?: string;
  /** Ask from this process, also when there is a daemon. */
  readonly local?: boolean;
  /** Calls the asking off. */
  readonly signal?: AbortSignal;
}

export interface EventOptions {
  /** Begin after this sequence number. Default: with what happens from now on. */
  readonly after?: number;
  readonly component?: string;
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
}

export interface IncidentOptions {
  /** Default: those that are open. */
  readonly state?: 'open' | 'resolved' | 'all';
  readonly limit?: number;
}

export interface CrashOptions {
  readonly component?: string;
  /** Only of agents of this type. */
  readonly agent?: string;
  /** Only of agents with this task. */
  readonly task?: string;
  /** Only with this type of error: `ImportError`. */
  readonly type?: string;
  readonly incident?: number;
  /** Only crashes at or after this moment. */
  readonly since?: Date;
  readonly limit?: number;
}

export interface SampleOptions {
  /** Only what goes on at or after this moment. */
  readonly since?: Date;
  /** Default: 100 stretches. */
  readonly limit?: number;
}

export interface LogOptions {
  /** The last lines of each. Default: 100; 10,000, which is also the most, with `since` or `previous`. */
  readonly tail?: number;
  /** Only what was written at this moment or later. */
  readonly since?: Date;
  /** Only what was written until then. */
  readonly until?: Date;
  /** Only lines with this text in them, or that fit this expression, whose flags may be `i` and `u`. `tail` counts these. */
  readonly grep?: string | RegExp;
  /** Only what the run before the present or last one wrote. */
  readonly previous?: boolean;
}
