import type { SpawnProblem } from './pure/exit.ts';

export interface Command {
  readonly command: readonly string[];
  readonly cwd: string;
  /** Complete: nothing of the daemon's own environment is added. */
  readonly env: Readonly<Record<string, string>>;
  /** Name or number; absent: as the daemon. */
  readonly user?: string;
  readonly group?: string;
  readonly timeoutMs: number;
  /** Ends it at once, like the timeout. */
  readonly signal: AbortSignal;
  /**
   * For a command that starts something which is meant to stay: its output is appended to this file, and what it leaves running
   * when it ends by itself is left alone.
   */
  readonly launchesInto?: string;
  /** What it can read from its standard input; absent: nothing. */
  readonly input?: string;
}

/** `output`: the beginning and the end of stdout and stderr together, with a mark where something was left out. */
export type CommandResult =
  | {
      readonly kind: 'exited';
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
      readonly output: string;
    }
  | { readonly kind: 'timed-out'; readonly output: string }
  | { readonly kind: 'not-started'; readonly problem: SpawnProblem };

/** Runs a short command in a session of its own and leaves nothing of it behind, whatever it started, unless that is its purpose. */
export interface CommandRunner {
  /** Never rejects. When it resolves, everything the command started is gone or has been sent SIGKILL (but see `launchesInto`). */
  run(command: Command): Promise<CommandResult>;
}
