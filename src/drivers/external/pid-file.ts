/**
 * A target that keeps its pid in a file. Whoever may write the file may name any process in it, so the pid is only ever looked
 * at: it is never signalled.
 */
import { constants } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { meansGone } from '../../base/pure/errno.ts';
import { isAlive, type ProcStat, parseStat } from '../process/proc.ts';
import { type FoundTarget, gone, type TargetObservation, type TargetWatch, there, unknown } from './target.ts';

/** A pid and some white space; nobody writes more, and a file that never ends must not be read to its end. */
const MAX_PID_FILE_BYTES = 256;

export function pidFileTarget(path: string): TargetWatch {
  // A file that is just being written may show the beginning of a longer number: a successor counts when it is seen again.
  let suspect: string | null = null;
  const confirmed = (observation: TargetObservation, known: FoundTarget): TargetObservation => {
    const successor =
      observation.kind === 'there' && observation.found.identity !== known.identity ? observation.found : null;
    const isSeenAgain = successor !== null && successor.identity === suspect;
    suspect = successor?.identity ?? null;
    if (!isSeenAgain) return there(known);
    return gone(`${path} names process ${successor.pid} now, and no longer ${known.pid}`);
  };
  return {
    failuresNeeded: 1,
    asks: path,
    look: async (known) => {
      try {
        if (known === null) return await find(path);
        if (!(await isStillThere(known)))
          return gone(`its process ${known.pid} is gone; it is not ours, so nobody saw its exit code`);
        // As long as the very process lives, a file that is missing, empty or half written changes nothing.
        return confirmed(await find(path), known);
      } catch (error) {
        return unknown(`${path} cannot be followed: ${(error as Error).message}`);
      }
    },
  };
}

async function find(path: string): Promise<TargetObservation> {
  const text = await readPidFile(path);
  if (text === null) return gone(`there is no pid file ${path}`);
  const pid = parsePid(text);
  if (pid === null) return gone(`${path} holds no pid`);
  const stat = await readStat(pid);
  return stat === null ? gone(`${path} names process ${pid}, which is not there`) : there(foundOf(stat));
}

async function isStillThere({ pid, identity }: FoundTarget): Promise<boolean> {
  const stat = await readStat(pid ?? 0);
  return stat !== null && foundOf(stat).identity === identity;
}

const foundOf = ({ pid, startTime }: ProcStat): FoundTarget => ({ pid, identity: `${pid} since ${startTime}` });

/** The first line, as a number; other lines may say more. */
function parsePid(text: string): number | null {
  const digits = /^\s*([1-9]\d{0,9})\s*(?:\n|$)/.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Null: no such file. Not blocking, because a pipe under that name would hold us up for ever. */
async function readPidFile(path: string): Promise<string | null> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) throw new Error('it is not a regular file');
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_PID_FILE_BYTES), 0, MAX_PID_FILE_BYTES, null);
    return buffer.toString('utf8', 0, bytesRead);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

/** Null: no such process, or a zombie. */
async function readStat(pid: number): Promise<ProcStat | null> {
  try {
    const stat = parseStat(await readFile(`/proc/${pid}/stat`, 'utf8'));
    if (stat === null) throw new Error(`/proc/${pid}/stat cannot be understood`);
    return isAlive(stat) ? stat : null;
  } catch (error) {
    if (meansGone(error)) return null;
    throw error;
  }
}
