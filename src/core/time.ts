/** Time that survives the daemon: monotonic times are only good within the boot they were read in. */
import type { BootId, MonoMs } from './ids.ts';
import { type Component, FRESH, INITIAL } from './lifecycle/state.ts';

/**
 * What a stored component means to a daemon starting now. Another boot: budgets and backoff start fresh and nothing of it can be
 * running. Same boot: as it was, but times from the future (a restored disk image, a time namespace) are not believed.
 */
export function restore(stored: Component, storedBoot: BootId, boot: BootId, now: MonoMs): Component {
  if (storedBoot !== boot) return INITIAL;
  const { counters, state } = stored;
  const believable = counters.restarts.filter((at) => at <= now);
  const restored = { state, counters: { ...counters, restarts: believable } };
  const started =
    state.kind === 'running' || state.kind === 'stopping'
      ? state.startedAt
      : state.kind === 'starting'
        ? state.since
        : now;
  return started > now ? { ...restored, counters: FRESH } : restored;
}
