/** Attempts that this process has begun and still listens to. A cut connection loses nothing: it is looked for in the container then. */

import type { Clock } from '../../base/clock.ts';
import type { MonoMs } from '../../base/pure/ids.ts';
import type { Launched } from '../../docker/ports.ts';
import type { AttemptPlace } from '../ports.ts';
import { timeLimit } from '../time-limit.ts';

export interface Told {
  /** The line that stands in the attempt's file `exit`. */
  readonly exit: string;
  /** The beginning of its output. */
  readonly output: Buffer;
}

interface Hearing {
  readonly exec: string;
  /** Aborts when there is no more to hear. */
  readonly over: AbortController;
  /** Stops listening; the attempt goes on. */
  readonly leave: () => void;
  /** Null: not told yet, or cut before it was told all. */
  told: Told | null;
}

export function createHearings(clock: Clock) {
  const hearings = new Map<string, Hearing>();
  const key = ({ container, attempt }: AttemptPlace): string => `${container} ${attempt}`;
  const live = (place: AttemptPlace): Hearing | null => {
    const hearing = hearings.get(key(place));
    return hearing && !hearing.over.signal.aborted ? hearing : null;
  };

  return {
    /** Until `signal` aborts: nobody waits for it any more then, and an open connection would keep the process. */
    add: (
      place: AttemptPlace,
      { exec, said }: Extract<Launched, { kind: 'launched' }>,
      listening: AbortController,
      signal: AbortSignal,
    ): void => {
      const leave = () => listening.abort();
      const hearing: Hearing = { exec, over: new AbortController(), leave, told: null };
      hearings.set(key(place), hearing);
      signal.addEventListener('abort', leave, { once: true });
      if (signal.aborted) leave();
      void said.then((bytes) => {
        signal.removeEventListener('abort', leave);
        hearing.told = toldIn(bytes, place.attempt);
        hearing.over.abort();
      });
    },
    /** The Engine's id of one that is listened to. */
    execOf: (place: AttemptPlace): string | null => live(place)?.exec ?? null,
    toldOf: (place: AttemptPlace): Told | null => hearings.get(key(place))?.told ?? null,
    drop: (place: AttemptPlace): void => {
      hearings.get(key(place))?.leave();
      hearings.delete(key(place));
    },
    /** Until then, or until there is no more to hear. */
    pause: async (place: AttemptPlace, until: MonoMs, signal: AbortSignal): Promise<void> => {
      const hearing = live(place);
      if (!hearing) return hearings.get(key(place))?.told ? undefined : await clock.sleepUntil(until, signal);
      using time = timeLimit(clock, Math.max(0, until - clock.now()), signal);
      await eitherAborts(hearing.over.signal, time.signal);
      signal.throwIfAborted();
    },
  };
}

/** The line with the exit comes last, so what is in front of it is whole. */
function toldIn(bytes: Buffer, attempt: string): Told | null {
  const start = bytes.lastIndexOf(`\ntold ${attempt} `);
  const line = start < 0 ? null : /^\ntold \S+ (exit .* end)\n$/.exec(bytes.toString('utf8', start));
  return line ? { exit: line[1]!, output: bytes.subarray(0, start) } : null;
}

async function eitherAborts(one: AbortSignal, other: AbortSignal): Promise<void> {
  const done = new AbortController();
  await new Promise<void>((resolve) => {
    for (const signal of [one, other]) {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { signal: done.signal });
    }
  });
  done.abort();
}
