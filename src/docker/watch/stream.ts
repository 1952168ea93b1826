/** Keeps a stream of events open: opened again when it breaks, from a moment before the last event, each event told once. */
import type { Clock } from '../../base/clock.ts';
import { after, type MonoMs } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { EngineClient, EngineEvent } from '../ports.ts';

/** The Engine replays no more than its last 256 events. */
const KNOWN_EVENTS = 1_024;
/** Its times are whole seconds. */
const OVERLAP_S = 1;
/** A stream that broke sooner has not worked, and is not opened again at once. */
const WORKED_AFTER_MS = 5_000;
/** The Engine accepts at once; one that hangs is asked anew, for its connection may be dead. */
const OPEN_WITHIN_MS = 30_000;

export interface StreamParts extends Pick<Runtime, 'clock' | 'random'> {
  readonly engine: Pick<EngineClient, 'events'>;
  /** From now on events come: what happened before was missed. */
  onUp(): void;
  onDown(why: string): void;
  onEvent(event: EngineEvent): void;
}

export interface EventStream {
  readonly isUp: boolean;
  /** Until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** It is to be opened anew, or at once where it is waited with that. */
  reopen(): void;
}

export function createStream({ engine, clock, random, onUp, onDown, onEvent }: StreamParts): EventStream {
  const known = new Set<string>();
  const alarm = createAlarm(clock);
  let lastTime: number | null = null;
  let openedAt: MonoMs | null = null;
  let current: AbortController | null = null;

  function take(event: EngineEvent): void {
    if (known.has(event.key)) return;
    // Without a time, one event cannot be told from the next.
    if (event.time > 0) known.add(event.key);
    for (const key of known) {
      if (known.size <= KNOWN_EVENTS) break;
      known.delete(key);
    }
    lastTime = Math.max(lastTime ?? 0, event.time);
    onEvent(event);
  }

  /** Null: it was to be opened anew. */
  async function once(signal: AbortSignal): Promise<string | null> {
    const mine = new AbortController();
    const soon = new AbortController();
    let isLate = false;
    current = mine;
    const opened = () => {
      soon.abort();
      openedAt = clock.now();
      onUp();
    };
    clock.sleepUntil(after(clock.now(), OPEN_WITHIN_MS), soon.signal).then(
      () => {
        isLate = true;
        mine.abort();
      },
      () => {}, // opened, or given up
    );
    const since = lastTime === null ? null : lastTime - OVERLAP_S;
    try {
      const { why } = await engine.events({ since, opened, onEvent: take }, AbortSignal.any([signal, mine.signal]));
      return why;
    } catch (error) {
      if (isLate) return `the Docker Engine did not begin to tell its events within ${OPEN_WITHIN_MS / 1_000} s`;
      if (mine.signal.aborted || signal.aborted) return null;
      throw error;
    } finally {
      soon.abort();
    }
  }

  return {
    get isUp() {
      return openedAt !== null;
    },
    reopen: () => {
      if (openedAt === null) alarm.ring();
      else current?.abort();
    },
    run: async (signal) => {
      for (let failures = 0; !signal.aborted; ) {
        const why = await once(signal);
        const hasWorked = openedAt !== null && clock.now() >= after(openedAt, WORKED_AFTER_MS);
        openedAt = null;
        if (signal.aborted) return;
        if (why === null) continue;
        failures = hasWorked ? 1 : failures + 1;
        onDown(why);
        await alarm.wait(backoffMs(failures, random), signal).catch(() => {});
      }
    },
  };
}

// Waiting that others can cut short.

export interface Alarm {
  /** Resolves after that time, or at once when it was rung since the last wait ended. Rejects when `signal` aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  ring(): void;
}

export function createAlarm(clock: Clock): Alarm {
  let isRung = false;
  let cutShort: AbortController | null = null;
  return {
    wait: async (ms, signal) => {
      signal.throwIfAborted();
      if (!isRung) {
        cutShort = new AbortController();
        const until = AbortSignal.any([signal, cutShort.signal]);
        await clock.sleepUntil(after(clock.now(), ms), until).catch(() => {});
        cutShort = null;
      }
      isRung = false;
      signal.throwIfAborted();
    },
    ring: () => {
      isRung = true;
      cutShort?.abort();
    },
  };
}

/** How long to wait before the Engine is asked again that did not answer. */

const FIRST_MS = 200;
const LONGEST_MS = 5_000;

/** `failures`: in a row, the last one included. Jitter only shortens: not everybody comes back at the same moment. */
export function backoffMs(failures: number, random: () => number): number {
  const ms = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
  return ms * (1 - random() / 2);
}
