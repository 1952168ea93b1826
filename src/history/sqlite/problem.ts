/** What an error of the database means for what to do next, and in words for people. */
import type { Row } from '../../base/sqlite.ts';

export type ProblemKind =
  /** The disk or another process is in the way: keep everything and try again. */
  | 'wait'
  /** As `wait`, but this connection will never write again: a new one has to be opened, which also checks the schema. */
  | 'reopen'
  /** The file is not (or no longer) a sound database: set it aside and begin a new one. */
  | 'damaged'
  /** Neither: the statement or its values are wrong, and trying again cannot help. */
  | 'refused';

export interface Problem {
  readonly kind: ProblemKind;
  readonly words: string;
}

/** Found by looking (quick_check, a schema that does not fit), not by an error code. */
export class DamagedError extends Error {
  override readonly name = 'DamagedError';
  /** Rows of components that could still be read: whether one was stopped by hand is worth more than the rest of the history. */
  readonly salvaged: readonly Row[];

  constructor(message: string, salvaged: readonly Row[] = []) {
    super(message);
    this.salvaged = salvaged;
  }
}

/** Written by a later Keepwell. Nothing is wrong with it, and it is not ours to touch. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError';
  constructor(found: number, known: number) {
    super(`the database has version ${found}, this Keepwell knows versions up to ${known}`);
  }
}

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html). */
const BY_RESULT_CODE: Readonly<Record<number, Problem>> = {
  1: { kind: 'reopen', words: 'the tables are not as expected' },
  3: { kind: 'wait', words: 'permission denied' },
  5: { kind: 'wait', words: 'locked by another process' },
  6: { kind: 'wait', words: 'locked' },
  7: { kind: 'wait', words: 'out of memory' },
  8: { kind: 'reopen', words: 'read-only' },
  9: { kind: 'wait', words: 'interrupted' },
  10: { kind: 'wait', words: 'disk I/O error' },
  11: { kind: 'damaged', words: 'the database is damaged' },
  13: { kind: 'wait', words: 'disk full' },
  14: { kind: 'wait', words: 'the database file cannot be opened' },
  15: { kind: 'wait', words: 'the locking protocol failed' },
  17: { kind: 'reopen', words: 'the tables have changed' },
  21: { kind: 'reopen', words: 'the connection is broken' },
  22: { kind: 'wait', words: 'the file is too large for this system' },
  23: { kind: 'wait', words: 'permission denied' },
  26: { kind: 'damaged', words: 'the file is not a database' },
};

const BY_SYSTEM_CODE: Readonly<Record<string, Problem>> = {
  ENOSPC: { kind: 'wait', words: 'disk full' },
  EDQUOT: { kind: 'wait', words: 'disk quota exceeded' },
  EIO: { kind: 'wait', words: 'disk I/O error' },
  EROFS: { kind: 'wait', words: 'read-only file system' },
  EACCES: { kind: 'wait', words: 'permission denied' },
  EPERM: { kind: 'wait', words: 'permission denied' },
  EMFILE: { kind: 'wait', words: 'too many open files' },
  ENFILE: { kind: 'wait', words: 'too many open files' },
  ENOENT: { kind: 'wait', words: 'the state directory is gone' },
  ERR_INVALID_STATE: { kind: 'reopen', words: 'the connection is broken' },
  ENOMEM: { kind: 'wait', words: 'out of memory' },
};

export function problemOf(error: unknown): Problem {
  if (!(error instanceof Error)) return { kind: 'refused', words: String(error) };
  if (error instanceof DamagedError) return { kind: 'damaged', words: error.message };
  if (error instanceof NewerSchemaError) return { kind: 'wait', words: error.message };
  const { errcode, code } = error as { errcode?: unknown; code?: unknown };
  const known =
    typeof errcode === 'number' ? BY_RESULT_CODE[errcode & 0xff] : BY_SYSTEM_CODE[typeof code === 'string' ? code : ''];
  return known ?? { kind: 'refused', words: error.message };
}
