/** How a run ended. Exit code and signal are different things, and "we do not know" is a third. */
import type { Count } from './json.ts';

export type SignalName = `SIG${string}`;

/** Why a command could not be started at all. `heals: false` means trying again cannot help without somebody changing something. */
export interface SpawnProblem {
  readonly code:
    | 'cwd-missing'
    | 'cwd-not-a-directory'
    | 'cwd-permission'
    | 'command-not-found'
    | 'command-permission'
    | 'command-is-a-directory'
    | 'interpreter-not-found'
    | 'bad-executable'
    | 'arguments-too-long'
    | 'env-file'
    | 'log-file'
    | 'account'
    | 'limits'
    | 'image'
    | 'name-taken'
    | 'refused'
    | 'compose'
    | 'engine'
    | 'out-of-resources'
    | 'no-answer'
    | 'cancelled'
    | 'other';
  /** One sentence for people, naming the thing: 'no such command: "temporl" (looked in PATH)'. */
  readonly message: string;
  readonly heals: boolean;
}

/** What a process used in all its life, with those of its children that it waited for. Only a native shim is told that. */
export interface ExitUsage {
  readonly maxRssBytes: number;
  readonly cpuMs: number;
}

export type ExitCause =
  /**
   * `ambiguous`: sh cannot tell "exit 130" from a death by SIGINT, nor 141 from SIGPIPE. `oom`: a script that ended with the 137 of
   * its child, which the kernel killed for lack of memory.
   */
  | {
      readonly kind: 'code';
      readonly code: number;
      readonly ambiguous: boolean;
      readonly oom?: boolean;
      readonly usage?: ExitUsage;
    }
  | {
      readonly kind: 'signal';
      readonly signal: SignalName;
      readonly core: boolean;
      readonly oom: boolean;
      readonly usage?: ExitUsage;
    }
  | { readonly kind: 'spawn-failed'; readonly problem: SpawnProblem }
  /** It ended while the Docker Engine was away, or was ended by it: that says nothing about the container. */
  | { readonly kind: 'engine'; readonly why: string }
  | { readonly kind: 'unknown'; readonly why: string };

/** `successCodes`: beside 0. */
export const isClean = (cause: ExitCause, successCodes: readonly number[] = []): boolean =>
  cause.kind === 'code' && (cause.code === 0 || successCodes.includes(cause.code));

/** How a run ended. */
export interface ExitView {
  /** Null when it did not end by itself, or when that is not known. */
  readonly code: Count | null;
  /** The signal that killed it. */
  readonly signal: string | null;
  /** Killed because its memory was used up. */
  readonly oom: boolean;
  /** It dumped a core. */
  readonly core: boolean;
  /** sh cannot tell exit 130 from SIGINT, nor 141 from SIGPIPE. */
  readonly ambiguous: boolean;
  /** Why it could not be started at all. */
  readonly spawn_error: string | null;
  /** Why its end is not known. */
  readonly unknown: string | null;
  /** Why it was ended by Keepwell: the probe that failed, or soft_memory. */
  readonly unhealthy: string | null;
  /** What it used in all its life; null: nobody was told. */
  readonly usage: { readonly max_rss_bytes: number; readonly cpu_ms: number } | null;
}

export function exitView(cause: ExitCause, unhealthy: string | null = null): ExitView {
  return {
    code: cause.kind === 'code' ? cause.code : null,
    signal: cause.kind === 'signal' ? cause.signal : null,
    oom: (cause.kind === 'signal' || cause.kind === 'code') && cause.oom === true,
    core: cause.kind === 'signal' && cause.core,
    ambiguous: cause.kind === 'code' && cause.ambiguous,
    spawn_error: cause.kind === 'spawn-failed' ? cause.problem.message : null,
    unknown: cause.kind === 'unknown' || cause.kind === 'engine' ? cause.why : null,
    unhealthy,
    usage: usageView(cause),
  };
}

function usageView(cause: ExitCause): ExitView['usage'] {
  const usage = cause.kind === 'code' || cause.kind === 'signal' ? cause.usage : undefined;
  return usage === undefined ? null : { max_rss_bytes: usage.maxRssBytes, cpu_ms: usage.cpuMs };
}

/** A death in a few words, as people say it: "exit code 7", "killed by SIGKILL (out of memory)". */
export function describeExit(exit: ExitView): string {
  if (exit.unhealthy) return `ended because ${exit.unhealthy}`;
  return describeEnd(exit);
}

/** How the process itself took its end, whoever wanted it. */
export function describeEnd(exit: ExitView): string {
  if (exit.spawn_error !== null) return `could not be started: ${exit.spawn_error}`;
  if (exit.signal !== null) {
    const notes = [...(exit.oom ? ['out of memory'] : []), ...(exit.core ? ['core dumped'] : [])];
    return `killed by ${exit.signal}${notes.length > 0 ? ` (${notes.join(', ')})` : ''}`;
  }
  if (exit.code === null) return `ended, exit code unknown (${exit.unknown ?? 'no record'})`;
  if (exit.oom) return `exit code ${exit.code} (out of memory: a process of it was killed)`;
  const maybe = exit.code === 130 ? 'SIGINT' : 'SIGPIPE';
  return exit.ambiguous ? `exit code ${exit.code} (or killed by ${maybe}: sh cannot tell)` : `exit code ${exit.code}`;
}
