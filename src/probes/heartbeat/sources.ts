/** Gives each kind of heartbeat its listener. Pings need none: they come by themselves. */

import { stat } from 'node:fs/promises';
import type {
  HeartbeatSignal,
  HeartbeatSources,
  OpenHeartbeatSource,
} from '../../supervision/ports/heartbeat-source.ts';
import type { Prober, ProbeTarget } from '../../supervision/ports/prober.ts';
import { ONLY_ECHOES } from '../../supervision/rules/freeze/pulse.ts';
import { fileSource } from './file-source.ts';

export const createHeartbeatSources = (parts: LogSourceParts): HeartbeatSources => ({
  open: (source, target, mark) =>
    source.kind === 'file'
      ? fileSource(source.path, source.field, mark)
      : logSource({ target, pattern: source.pattern, mark }, parts),
});

// A beat is something new in the log of the component, or a line of it that fits a pattern.

export interface LogSourceOptions {
  readonly target: ProbeTarget;
  readonly pattern: string | null;
  /** The position up to which an earlier daemon had listened. */
  readonly mark: string | null;
}

export interface LogSourceParts {
  readonly prober: Pick<Prober, 'watch'>;
  logPath(target: ProbeTarget): string;
  /** The position behind the last byte of the log. */
  logEnd(target: ProbeTarget): number;
}

export function logSource({ target, pattern, mark }: LogSourceOptions, parts: LogSourceParts): OpenHeartbeatSource {
  const known = mark === null ? Number.NaN : Number(mark);
  const from = Number.isSafeInteger(known) ? known : target.logFrom;
  let position = from;
  let hits = 0;
  let isAsked = false;
  let hasOwn = false;
  let hasEcho = false;
  let gone: string | null = null;
  const watch =
    pattern === null
      ? null
      : parts.prober.watch(
          [pattern],
          { ...target, logFrom: from },
          () => {
            hits += 1;
          },
          (reason) => {
            gone = reason;
          },
        );

  /** Takes down what is new, and whether it came while one of our probes asked. */
  const note = (): void => {
    const end = parts.logEnd(target);
    if (end !== position && isAsked) hasEcho = true;
    else if (end !== position) hasOwn = true;
    position = end;
  };

  const look = async (): Promise<HeartbeatSignal> => {
    // Whoever removes a log blinds this source: nobody sees what is written then.
    const isThere = await stat(parts.logPath(target)).then(
      () => true,
      () => false,
    );
    if (!isThere) return { kind: 'deaf', note: 'its log is not there' };
    if (gone !== null) return { kind: 'deaf', note: `log_pattern is no longer searched: ${gone}` };
    note();
    const isBeat = pattern === null ? hasOwn : hits > 0;
    const isEcho = pattern === null && hasEcho;
    hits = 0;
    hasOwn = false;
    hasEcho = false;
    const heard = String(position);
    if (isBeat) return { kind: 'beat', mark: heard, ageMs: null };
    return isEcho ? { kind: 'echo', mark: heard, note: ONLY_ECHOES } : { kind: 'silence', mark: heard, note: null };
  };
  return {
    listen: () => look().catch((error: unknown) => ({ kind: 'deaf', note: `its log: ${(error as Error).message}` })),
    asked: (begins) => {
      note(); // up to here it came under the other sign
      isAsked = begins;
    },
    [Symbol.dispose]: () => watch?.[Symbol.dispose](),
  };
}
