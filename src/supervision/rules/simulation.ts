/** A crash that somebody asks for, to see whether everything that should follow does. Really done, and marked as what it is. */

import { shortHash } from '../../base/pure/hash.ts';
import type { WallMs } from '../../base/pure/ids.ts';
import type { WholeNumber } from '../../base/pure/json.ts';
import type { Subject } from './views.ts';

export const CRASH_KINDS = ['exit', 'signal', 'hang', 'oom', 'import-error'] as const;
export type CrashKind = (typeof CRASH_KINDS)[number];

/** Exactly one of `component` and `agent`. */
export interface SimulationRequest {
  readonly component?: string | undefined;
  /** A type that the configuration names. */
  readonly agent?: string | undefined;
  /** With `agent` and `signal` or `hang`: of which task; otherwise the newest that runs. */
  readonly task?: string | undefined;
  /** Default: `exit` for components, `import-error` for agents. */
  readonly kind?: CrashKind | undefined;
  /** Only say what would be done. */
  readonly dryRun?: boolean | undefined;
  /** Trackers outside are told, too. */
  readonly notify?: boolean | undefined;
}

/** What was done, or would be with dry_run. */
export interface SimulationView {
  readonly schema_version: 1;
  readonly dry_run: boolean;
  readonly kind: CrashKind;
  readonly subject: Subject;
  /** Of an agent. */
  readonly task_id: string | null;
  /** The run that is hit; null: one that is about to begin. */
  readonly run_id: string | null;
  readonly pid: WholeNumber | null;
  /** What is done, and what should follow, in sentences. */
  readonly steps: readonly string[];
}

/** What is known of a simulated run until its crash is recorded. */
export interface Simulated {
  readonly kind: CrashKind;
  readonly notify: boolean;
  /** What it may use, where something holds it to that; null: nothing does. */
  readonly memoryBytes: number | null;
  /** When it was asked for; absent: by an older version. */
  readonly at?: WallMs;
}

/** What a crash or a problem carries that somebody asked for. */
export interface Simulation {
  readonly kind: CrashKind;
  /** False: trackers outside are not to be bothered. */
  readonly notify: boolean;
}

interface Marked {
  readonly fingerprint?: string;
  readonly rootCause: string | null;
  /** Of a problem; that of a crash is made later. */
  readonly title?: string;
}

const SIMULATED = 'simulated with "keepwell simulate-crash"';
/** What stands before the title of everything that was simulated: lists show nothing else. */
export const SIMULATED_TITLE = 'simulated: ';
/** A signal that a process dies of is over by then, its core dump included. What comes later is a crash of its own. */
const SIGNAL_WORKS_WITHIN_MS = 60_000;

/** From the stored cause of a crash. */
export const isSimulated = (rootCause: string | null): boolean => rootCause?.startsWith(SIMULATED) ?? false;

/** Whether a crash at that time is the one that was asked for: a program may have caught its signal and gone on. */
export const isOutcome = ({ kind, at }: Simulated, crashedAt: WallMs): boolean =>
  kind !== 'signal' || at === undefined || crashedAt - at <= SIGNAL_WORKS_WITHIN_MS;

/**
 * A simulated crash never counts to the incident of a real one, and everybody who reads about it knows what it is. Nor does one that
 * is told outside count to one that was not: the rate limit would keep it quiet, too.
 */
export function markSimulated<Crash extends Marked>(
  crash: Crash,
  { kind, notify }: Simulated,
): Crash & { simulated: Simulation } {
  const { fingerprint = '', rootCause, title } = crash;
  return {
    ...crash,
    fingerprint: `v1:${shortHash(`simulated${notify ? ' aloud' : ''}\n${fingerprint}`)}`,
    rootCause: `${SIMULATED}${rootCause === null ? '' : `: ${rootCause}`}`,
    ...(title === undefined ? {} : { title: `${SIMULATED_TITLE}${title}` }),
    simulated: { kind, notify },
  };
}
