/** What is said of a run whose container did not begin, is held, or ended through no doing of its own. */
import type { ExitCause, SpawnProblem } from '../../base/pure/exit.ts';

export const CANCELLED: SpawnProblem = { code: 'cancelled', message: 'called off before it began', heals: true };
export const PAUSED = 'paused by somebody; no probes until it is resumed';
export const away = (why: string): string => `${why}; until it answers nothing is done`;
export const BY_ENGINE: ExitCause = {
  kind: 'engine',
  why: 'it ended with the Docker Engine, which was stopped or restarted',
};
