/** A campaign from taking it up to putting everything away, whatever happens in between. */

import type { Services } from '../compose/ports.ts';
import { type Outages, watchOutages } from './outages.ts';
import type { CampaignRecord } from './ports.ts';
import { type Finished, runCampaign } from './runner.ts';
import type { CampaignObserver, CampaignParts, Interrupts } from './runner-parts.ts';
import type { CampaignSpec } from './spec.ts';

/** For everything that belongs to the services, as `docker compose down` has it. */
export const TEARDOWN_MS = 30_000;

export interface Conducted extends Finished {
  /** What could not be removed; empty: nothing is left, or it was wanted so. */
  readonly left: readonly string[];
}

/** Rejects with what went wrong unforeseen, after everything has been put away then, too. */
export async function conduct(
  parts: CampaignParts,
  campaign: { readonly record: CampaignRecord; readonly spec: CampaignSpec },
  options: { readonly keep: boolean; readonly interrupts: Interrupts },
): Promise<Conducted> {
  const { book, clock, observer } = parts;
  const { record } = campaign;
  const { stop, rush } = options.interrupts;
  book.mark(record.id, { state: 'running' });
  let finished: Finished;
  let failure: unknown = null;
  using outages = watchOutages(parts);
  try {
    finished = await runCampaign(parts, campaign, options.interrupts, outages);
  } catch (error) {
    const isInterrupt = rush.aborted || (stop.aborted && error === stop.reason);
    failure = isInterrupt ? null : error;
    const reason = isInterrupt ? 'interrupted' : error instanceof Error ? error.message : String(error);
    finished = { outcome: 'interrupted', reason };
    quietly(() => book.write(record.id, [{ kind: 'campaign', state: 'interrupted', reason }], clock.wallNow()));
  }
  const left = options.keep ? [] : await putAwayPatiently(parts, outages, stop);
  if (!options.keep && left.length === 0) quietly(() => book.mark(record.id, { mayBeUp: false }));
  for (const one of left) observer.note(`could not be removed: ${one}`);
  if (left.length > 0) observer.note(`to remove it later: keepwell campaign teardown ${record.name}`);
  if (failure !== null) throw failure;
  return { ...finished, left };
}

/** As below; but an Engine that is away is waited for, as long as nobody wants an end of it. */
async function putAwayPatiently(
  { services, observer }: CampaignParts,
  outages: Outages,
  stop: AbortSignal,
): Promise<readonly string[]> {
  // Interrupted while it waits: then it is tried once more, and what is left is told.
  const over = () => outages.over(stop).catch(() => {});
  for (;;) {
    const before = outages.count;
    if (outages.isAway) await over();
    const left = await putAway(services, observer);
    if (left.length > 0 || outages.isAway) await over();
    if (left.length === 0 || stop.aborted || outages.count === before) return left;
  }
}

/** Never rejects, and takes no longer than it may. Resolves with what is still there. */
export async function putAway(
  services: Services,
  observer: Pick<CampaignObserver, 'note'>,
): Promise<readonly string[]> {
  observer.note('removing the services');
  const late = new AbortController();
  const limit = new Promise<readonly string[]>((resolve) => {
    const timer = setTimeout(() => resolve(['it took too long']), TEARDOWN_MS + 1_000);
    late.signal.addEventListener('abort', () => clearTimeout(timer));
  });
  const work = services.teardown({ timeoutMs: TEARDOWN_MS }).catch((error: Error) => [error.message]);
  const left = await Promise.race([work, limit]);
  late.abort();
  return left;
}

function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // The book cannot be written: what it says then is what a kill -9 would have left, and a resume knows what to do with that.
  }
}
