/** The last lines that a container wrote since it was started, for a message about its failure. */
import type { Clock } from '../base/clock.ts';
import type { EngineClient } from '../docker/ports.ts';
import { lastLines } from './cli/words.ts';
import type { Inspected } from './containers.ts';
import { timeLimit } from './time-limit.ts';

const LINES = 20;
const MAX_BYTES = 2 ** 16;
const WITHIN_MS = 5_000;
/** The Engine writes down that a container was started after it has, and sometimes after it has said its last words. */
const EARLIER_MS = 5_000;

/** Empty when there are none, or they cannot be had. Rejects only when `signal` aborts. */
export async function lastWords(
  { engine, clock }: { readonly engine: EngineClient; readonly clock: Clock },
  { state }: Inspected,
  signal: AbortSignal,
): Promise<string> {
  using time = timeLimit(clock, WITHIN_MS, signal);
  let kept = Buffer.alloc(0);
  const onPiece = (piece: Buffer) => {
    kept = Buffer.concat([kept, piece]).subarray(-MAX_BYTES);
  };
  try {
    await engine.logs(state.id, { after: earlier(state.startedAt), follow: false, onPiece }, time.signal);
  } catch (error) {
    if (!time.isOver) throw error;
  }
  return lastLines(kept.toString('utf8'), LINES);
}

/** Null for what is no time: then all of it is read. */
function earlier(time: string): string | null {
  const at = Date.parse(time) - EARLIER_MS;
  return Number.isFinite(at) && at > 0 ? new Date(at).toISOString() : null;
}
