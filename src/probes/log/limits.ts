/** How much is read and held, in one place: together these bound memory, and the time a flood of output can take from the daemon. */

/** A longer line is judged by its beginning. */
export const MAX_LINE_BYTES = 8 * 1024;

/** What is compared at once. */
export const BATCH_BYTES = 64 * 1024;

/** What is read at once: with the line that was left over from the read before, it makes one batch. */
export const CHUNK_BYTES = BATCH_BYTES - MAX_LINE_BYTES;

/** Reads under way at the same time, for all logs. Node has four threads for files; each read has a buffer of its own. */
export const MAX_READS = 4;

export interface PollLimits {
  readonly everyMs: number;
  /** Of one log. */
  readonly bytesPerRound: number;
  /** Of all logs together. */
  readonly bytesPerRoundInAll: number;
}

/** 8 MiB a second for one component, 16 for all: with usual lines a few percent of a core at the worst. */
export const POLL_LIMITS: PollLimits = {
  everyMs: 500,
  bytesPerRound: 4 * 1024 * 1024,
  bytesPerRoundInAll: 8 * 1024 * 1024,
};

/**
 * Who is further behind skips ahead. More than a log file holds before it is cut (50 MB), so that a line that is written once,
 * such as the one that says "ready", is only ever skipped in a flood that goes on.
 */
export const MAX_BEHIND_BYTES = 64 * 1024 * 1024;

/** Where reading goes on after a skip, counted from the end: the newest lines say most about a component that floods. */
export const KEPT_AFTER_SKIP_BYTES = 1024 * 1024;

/** Lines of one batch that fit one pattern; more say nothing new, and finding them all would take time. */
export const MAX_FOUND = 1_000;
