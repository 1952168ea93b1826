/** Says once that telemetry cannot be delivered, however long that lasts and however many signals it concerns. */
import type { Log } from '../../base/log.ts';
import type { Signal } from '../settings.ts';

export interface Outages {
  delivered(signal: Signal): void;
  failed(signal: Signal, problem: string): void;
}

/** `places`: where each signal goes, for people. */
export function watchOutages(log: Log, places: Readonly<Record<Signal, string>>): Outages {
  const out = new Map<Signal, string>();
  return {
    delivered: (signal) => void out.delete(signal),
    failed: (signal, problem) => {
      if (out.has(signal)) return;
      const isKnown = out.size > 0; // the same receiver, most likely, and it has been said
      out.set(signal, problem);
      if (!isKnown)
        log.warn('telemetry cannot be delivered, and is dropped until it can; nothing else is affected', {
          ...{ signal, to: places[signal], problem },
        });
    },
  };
}

/** Without user, password and query, which may be secrets. */
export function placeOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
