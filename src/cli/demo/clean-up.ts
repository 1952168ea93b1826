/**
 * Leaves nothing behind, whatever happened before: no process, no socket, no directory. Blocks, so that it can also run while
 * the process exits, and so that no second signal comes in between.
 */
import { rmSync } from 'node:fs';
import { homePaths, readDaemonFile } from '../../base/home.ts';
import type { Place } from './place.ts';
import { type Found, isAlive, processesOf } from './processes.ts';
import type { Product } from './product.ts';

/** For calls that are under way: one of them may be starting a daemon just now. */
const CALLS_MS = 1_500;
/** For stopping in order; after that there is only SIGKILL. */
const IN_ORDER_MS = 8_000;
/** The same when there is no time left. */
export const IN_HASTE_MS = 3_000;
/** For SIGKILL to take effect. */
const BY_FORCE_MS = 1_000;
const LOOK_MS = 50;

export function cleanUp(place: Place, product: Product, inOrderMs = IN_ORDER_MS): void {
  product.stopFollowing();
  const calls = [...product.underWay].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  for (const pid of calls) kill(pid, 'SIGINT'); // it ends what is waited for, but never leaves half a start behind
  until(CALLS_MS, () => !calls.some(isAlive));
  for (const pid of calls) kill(pid);
  until(inOrderMs, (leftMs) => {
    if (processesOf(place).length === 0) return true;
    // Again and again: a daemon that was killed is not there until its guardian has brought it back.
    product.runBlocking(['down'], leftMs);
    return false;
  });
  until(BY_FORCE_MS, () => endByForce(processesOf(place)));
  const { socket } = readDaemonFile(homePaths(place.home)) ?? {}; // a clean end has removed both
  if (socket !== undefined) rmSync(socket, { force: true });
  rmSync(place.dir, { recursive: true, force: true, maxRetries: 3 });
}

function endByForce(found: readonly Found[]): boolean {
  const guardians = found.filter(({ isGuardian }) => isGuardian);
  for (const { pid } of guardians.length > 0 ? guardians : found) kill(pid);
  return found.length === 0;
}

function until(limitMs: number, isDone: (leftMs: number) => boolean): void {
  const end = performance.now() + limitMs;
  while (!isDone(Math.max(1, end - performance.now())) && performance.now() < end) pauseBlocking(LOOK_MS);
}

function pauseBlocking(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone already
  }
}
