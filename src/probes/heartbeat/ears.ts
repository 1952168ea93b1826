/** Gives each kind of heartbeat its listener. Pings need none: they come by themselves. */
import type { Ears } from '../../ports/ears.ts';
import { fileEar } from './file-ear.ts';
import { type LogEarParts, logEar } from './log-ear.ts';

export const createEars = (parts: LogEarParts): Ears => ({
  open: (source, target, mark) =>
    source.kind === 'file'
      ? fileEar(source.path, source.field, mark)
      : logEar({ target, pattern: source.pattern, mark }, parts),
});
