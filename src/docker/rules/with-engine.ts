/**
 * Whether a container ended because its Engine did, where nobody of ours was there to see it. The Engine does not tell when it was
 * started, but it makes its default bridge anew each time. Both times are of its own clock.
 */
import type { EndedState } from './exit.ts';

export interface DatedNetwork {
  readonly name: string;
  /** Epoch milliseconds; null: not told. */
  readonly createdAt: number | null;
}

const DEFAULT_BRIDGE = 'bridge';
/** From the end of its containers to its next start: it waits for those that are slow to end, and may be upgraded in between. */
const AWAY_AT_MOST_MS = 60_000;

/** With an Engine that was away for longer it cannot be told: then it ended by itself, as far as is known. */
export function endedWithEngine(
  { finishedAt, oomKilled, error }: Pick<EndedState, 'oomKilled' | 'error'> & { readonly finishedAt: string | null },
  networks: readonly DatedNetwork[],
): boolean {
  const begunAt = networks.find(({ name }) => name === DEFAULT_BRIDGE)?.createdAt ?? null;
  if (begunAt === null || finishedAt === null || oomKilled || error !== '') return false;
  // What survived an Engine that was killed is ended by the next one, before it makes its bridge.
  const agoMs = begunAt - Date.parse(finishedAt);
  return agoMs >= 0 && agoMs <= AWAY_AT_MOST_MS;
}
