/** Ends whose reason is known without the output. What a program wrote, also because of our signal, never explains them. */
import type { ExitView } from '../../base/pure/exit.ts';

/** Whose reason it is: ours, nobody's because there was no run, or the kernel's. Null: the program ended by itself or was killed. */
export function ownReason(exit: ExitView): 'ended-by-us' | 'never-started' | 'out-of-memory' | null {
  if (exit.unhealthy !== null) return 'ended-by-us';
  if (exit.spawn_error !== null) return 'never-started';
  return exit.oom ? 'out-of-memory' : null;
}
