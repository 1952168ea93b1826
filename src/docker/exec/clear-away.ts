/** Ends a command whose time is over, and finds out whether that worked. */
import { after } from '../../base/pure/ids.ts';
import type { Clock } from '../../base/clock.ts';
import type { Unreachable } from '../ports.ts';
import { type Caller, unreachable } from '../caller.ts';
import { type ExecRecord, ended, execRecord, POLL_MS } from './record.ts';
import { killMarked } from './strays.ts';

/** It is dead as soon as it has its signal; a busy Engine takes a moment to notice. */
const CLEAR_WITHIN_MS = 2_000;

export interface ClearParts {
  readonly caller: Caller;
  readonly clock: Clock;
}

/** Null: it has ended. A sentence says what is left. Never rejects. */
export async function clearAway(
  { caller, clock }: ClearParts,
  id: string,
  mark: string,
): Promise<string | null | Unreachable> {
  const over = new AbortController();
  const deadline = after(clock.now(), CLEAR_WITHIN_MS);
  clock.sleepUntil(deadline, over.signal).then(
    () => over.abort(),
    () => {}, // ended in time
  );
  let last: ExecRecord | null = null;
  try {
    // Again and again: the Engine may be about to start it, and a process may be about to have children.
    for (;;) {
      const found = await killMarked(mark);
      const record = await execRecord(caller, id, over.signal);
      if (record.kind === 'unreachable') return record;
      if (ended(record) && found === 0) return null;
      last = record;
      await clock.sleepUntil(after(clock.now(), POLL_MS), over.signal);
    }
  } catch {
    if (last === null) return unreachable('the Docker Engine did not answer in time');
    if (ended(last) || (last.pid === 0 && !last.running)) return null; // it has ended, or was never started
    return `its process ${last.pid} is still there and not ours to end: end it as root, or restart the container`;
  } finally {
    over.abort();
  }
}
