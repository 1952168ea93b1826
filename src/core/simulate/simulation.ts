/** A crash that somebody asks for, to see whether everything that should follow does. Really done, and marked as what it is. */
import { shortHash } from '../crash/hash.ts';
import type { Subject } from '../views.ts';

export const CRASH_KINDS = ['exit', 'signal', 'hang', 'oom', 'import-error'] as const;
export type CrashKind = (typeof CRASH_KINDS)[number];

/** Exactly one of `component` and `agent`. */
export interface SimulationRequest {
  readonly component?: string | undefined;
  /** A type that the configuration names. */
  readonly agent?: string | undefined;
  /** With `agent` and `signal`: of which task; otherwise the newest that runs. */
  readonly task?: string | undefined;
  /** Default: `exit` for components, `import-error` for agents. */
  readonly kind?: CrashKind | undefined;
  /** Only say what would be done. */
  readonly dryRun?: boolean | undefined;
  /** Trackers outside are told, too. */
  readonly notify?: boolean | undefined;
}

export interface SimulationView {
  readonly schema_version: 1;
  readonly dry_run: boolean;
  readonly kind: CrashKind;
  readonly subject: Subject;
  /** Of an agent. */
  readonly task_id: string | null;
  /** The run that is hit; null: one that is about to begin. */
  readonly run_id: string | null;
  readonly pid: number | null;
  /** What is done, and what should follow, in sentences. */
  readonly steps: readonly string[];
}

/** What is known of a simulated run until its crash is recorded. */
export interface Simulated {
  readonly kind: CrashKind;
  readonly notify: boolean;
  /** What it may use, where something holds it to that; null: nothing does. */
  readonly memoryBytes: number | null;
}

interface Marked {
  readonly fingerprint?: string;
  readonly rootCause: string | null;
}

export const SIMULATED = 'simulated with "keepwell simulate-crash"';

/** A simulated crash never counts to the incident of a real one, and everybody who reads about it knows what it is. */
export function markSimulated<Crash extends Marked>(
  crash: Crash,
  { notify }: Simulated,
): Crash & { simulated: Simulation } {
  const { fingerprint = '', rootCause } = crash;
  return {
    ...crash,
    fingerprint: `v1:${shortHash(`simulated\n${fingerprint}`)}`,
    rootCause: `${SIMULATED}${rootCause === null ? '' : `: ${rootCause}`}`,
    simulated: notify ? 'notify' : 'quiet',
  };
}

/** quiet: trackers outside are not to be bothered. */
export type Simulation = 'quiet' | 'notify';
