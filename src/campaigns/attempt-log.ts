/**
 * What an experiment writes, kept here: one file for each attempt, byte for byte, so that its length says how far it was copied, also
 * after a kill -9. `EXPERIMENT.log` is a link to that of the last attempt.
 */
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { type CrashTail, cutTail, MAX_TAIL_BYTES, NO_TAIL, tailOf } from '../logs/rules/tail.ts';

/** More of one attempt is left in its container. */
export const MAX_LOG_BYTES = 1_000_000_000;

export interface AttemptLog {
  /** How much of it is here. */
  readonly position: number;
  /** Nothing more is kept. */
  readonly isFull: boolean;
  /** False: it could not be written, and was not. */
  append(piece: Buffer): Promise<boolean>;
}

/** With a sign that no name has: the second attempt of `v1` is not the last one of `v1.2`. */
export const logName = (experiment: string, number: number): string => `${experiment}~${number}.log`;

export function openAttemptLog(dir: string, experiment: string, number: number): AttemptLog {
  const path = join(dir, logName(experiment, number));
  quietly(() => mkdirSync(dir, { recursive: true, mode: 0o700 }));
  quietly(() => link(dir, experiment, number));
  let position = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return {
    get position() {
      return position;
    },
    get isFull() {
      return position >= MAX_LOG_BYTES;
    },
    append: async (piece) => {
      try {
        await appended(path, piece);
        position += piece.length;
        return true;
      } catch {
        // Half of the piece may be there: what is on disk counts.
        position = statSync(path, { throwIfNoEntry: false })?.size ?? position;
        return false;
      }
    },
  };
}

/** Never waits, as a pipe under that name would make us. */
async function appended(path: string, piece: Buffer): Promise<void> {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
  await using file = await open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600);
  if (!(await file.stat()).isFile()) throw new Error(`${path} is not a regular file`);
  await file.appendFile(piece);
}

/** The end of what an attempt wrote; empty when there is nothing, or it cannot be read. `known`: values never to be shown. */
export function attemptTail(dir: string, experiment: string, number: number, known: readonly string[]): CrashTail {
  try {
    const { text, isWhole } = readEnd(join(dir, logName(experiment, number)));
    return isWhole ? tailOf(text, known, { isCut: false }) : cutTail(text, known);
  } catch {
    return NO_TAIL;
  }
}

function readEnd(path: string): { readonly text: string; readonly isWhole: boolean } {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = fstatSync(file);
    if (!found.isFile()) return { text: '', isWhole: true };
    const { size } = found;
    const bytes = Buffer.alloc(Math.min(size, MAX_TAIL_BYTES));
    const read = readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return { text: bytes.toString('utf8', 0, read), isWhole: size <= MAX_TAIL_BYTES };
  } finally {
    closeSync(file);
  }
}

function link(dir: string, experiment: string, number: number): void {
  const temporary = join(dir, `.${experiment}.link`);
  rmSync(temporary, { force: true });
  symlinkSync(logName(experiment, number), temporary);
  renameSync(temporary, join(dir, `${experiment}.log`));
}

/** Without its log an experiment is still worth running; appending tells when nothing can be kept. */
function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // Told by the first append.
  }
}
