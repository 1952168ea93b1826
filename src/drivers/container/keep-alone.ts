/** A container with a restart policy of its own loses it: two who restart it would get in each other's way. */
import type { ContainerSetup, EngineClient } from '../../ports/engine.ts';
import type { Log } from '../../ports/log.ts';

interface Keeper {
  readonly engine: Pick<EngineClient, 'takeOver'>;
  readonly log: Log;
  /** Ends what must not be left half-done only with this daemon. */
  readonly closing: AbortSignal;
}

/** What did not work is tried again with the next look at it. Rejects only when `closing` aborts. */
export async function keepAlone(
  container: string,
  { restartPolicy }: ContainerSetup,
  { engine, log, closing }: Keeper,
): Promise<void> {
  if (restartPolicy === 'no') return;
  log.warn('somebody gave a container a restart policy; it is kept by Keepwell alone', { container, restartPolicy });
  await engine.takeOver(container, closing);
}
