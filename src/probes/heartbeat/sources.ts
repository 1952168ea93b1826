/** Gives each kind of heartbeat its listener. Pings need none: they come by themselves. */
import type { Ears } from '../../supervision/ports/heartbeat-source.ts';
import { fileEar } from './file-source.ts';
import { type LogEarParts, logEar } from './log-source.ts';

export const createEars = (parts: LogEarParts): Ears => ({
  open: (source, target, mark) =>
    source.kind === 'file'
      ? fileEar(source.path, source.field, mark)
      : logEar({ target, pattern: source.pattern, mark }, parts),
});
