/** What one screen asks for: anew when something happened that concerns it, and every so often. */
import { useEffect, useState } from 'preact/hooks';
import { get } from './api.ts';
import { events, isLive } from './live.ts';

export interface Asked<T> {
  readonly value: T | null;
  readonly error: Error | null;
  again(): void;
}

const LEAST_MS = 1_000;
const EVERY_MS = 15_000;

/** `concerns`: which events are a reason to ask again; null: none is. */
export function useAsked<T>(
  path: string | null,
  concerns: ((name: string, type: string) => boolean) | null = null,
): Asked<T> {
  const [state, setState] = useState<{ path: string | null; value: T | null; error: Error | null }>({
    path: null,
    value: null,
    error: null,
  });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (path === null) return;
    const over = new AbortController();
    get<T>(path, over.signal).then(
      (value) => setState({ path, value, error: null }),
      (error: Error) => {
        if (!over.signal.aborted) setState((old) => ({ path, value: old.path === path ? old.value : null, error }));
      },
    );
    return () => over.abort();
  }, [path, turn]);
  useEffect(() => {
    let seen = events.value.at(-1)?.seq ?? 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        setTurn((count) => count + 1);
      }, LEAST_MS);
    };
    const stop = events.subscribe((all) => {
      const fresh = all.filter(({ seq }) => seq > seen);
      seen = all.at(-1)?.seq ?? seen;
      if (concerns !== null && fresh.some(({ subject, type }) => concerns(subject.name, type))) soon();
    });
    const every = setInterval(() => {
      if (isLive.value && !document.hidden) setTurn((count) => count + 1);
    }, EVERY_MS);
    return () => {
      stop();
      clearInterval(every);
      clearTimeout(timer);
    };
  }, [path]);
  const isOurs = state.path === path;
  return {
    value: isOurs ? state.value : null,
    error: isOurs ? state.error : null,
    again: () => setTurn((count) => count + 1),
  };
}
