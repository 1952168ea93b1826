/** Taking over a run that an earlier daemon began. */
import { closeSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Failpoints } from '../../base/failpoints.ts';
import { meansGone } from '../../base/pure/errno.ts';
import { type BootId, RUN_ID_PATTERN, type RunId } from '../../base/pure/ids.ts';
import { NotOursError } from '../../base/regular-file.ts';
import { hasRoomToListen } from './descriptors.ts';
import { isShimOf, type RunMeta, readClaim, readMeta, revoke } from './run-dir.ts';
import { drainFifo, openFifo } from './shim/fifo-pool.ts';

export type Adoption =
  /** Nothing is known of it; only who carries its cookie can still be told. */
  | { readonly kind: 'lost'; readonly why: string }
  /** Of another boot: its pids mean other processes now, so nothing of it may be asked for or signalled. */
  | { readonly kind: 'past'; readonly why: string }
  /** Ours to watch. */
  | ({ readonly kind: 'taken'; readonly meta: RunMeta | null } & FifoEnd);

export interface FifoEnd {
  /** Null when there is nothing to listen to. */
  readonly fifo: number | null;
  /** What was still in it. */
  readonly text: string;
  /** Nobody holds the other end any more. */
  readonly isShimDead: boolean;
  /** Somebody holds the other end, and there is no file descriptor to spare for ours. */
  readonly isUnheard: boolean;
}

export interface AdoptionWorld {
  readonly runsDir: string;
  readonly bootId: BootId;
  readonly failpoints: Failpoints;
}

/** Throws when something of it is not known just now: then it is neither alive nor gone, and is asked for again. */
export function takeOver(run: RunId, { runsDir, bootId, failpoints }: AdoptionWorld): Adoption {
  const dir = join(runsDir, run);
  if (!RUN_ID_PATTERN.test(run) || statSync(dir, { throwIfNoEntry: false }) === undefined)
    return { kind: 'lost', why: 'its run directory is gone' };
  const meta = readMeta(dir);
  if (!isOfBoot(dir, meta, bootId)) return { kind: 'past', why: 'the machine was restarted' };
  // Opened before anything is asked about the shim: its death after this moment will be told.
  const end = openEnd(join(dir, 'fifo'), hasRoomToListen);
  try {
    if (readClaim(dir).by === 'nobody') {
      failpoints.hit('adopt.before-revoke');
      revoke(dir); // or the shim was first: whoever looks next reads from the claim who it was
      failpoints.hit('adopt.after-revoke');
    }
    return { kind: 'taken', meta, ...end };
  } catch (error) {
    if (end.fifo !== null) closeSync(end.fifo);
    throw error;
  }
}

/** Without a readable record (power was lost while it was written) only a living shim proves that it is of this boot. */
export function isOfBoot(dir: string, meta: RunMeta | null, bootId: BootId): boolean {
  if (meta) return meta.boot_id === bootId;
  const claim = readClaim(dir);
  return claim.by === 'shim' && isShimOf(claim.pid, basename(dir) as RunId);
}

/** Throws when it cannot be opened just now, as when too many files are: it is tried again. `hasRoom`: to keep it open. */
export function openEnd(path: string, hasRoom: () => boolean): FifoEnd {
  let fd: number;
  try {
    fd = openFifo(path);
  } catch (error) {
    if (!meansGone(error) && !(error instanceof NotOursError)) throw error;
    return { fifo: null, text: '', isShimDead: false, isUnheard: false };
  }
  try {
    const { text, hasWriter } = drainFifo(fd);
    const isHeard = hasWriter && hasRoom();
    if (!isHeard) closeSync(fd);
    return { fifo: isHeard ? fd : null, text, isShimDead: !hasWriter, isUnheard: hasWriter && !isHeard };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}
