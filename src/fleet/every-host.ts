/** One question to all hosts of the user file at once: whoever does not answer in time is said, and holds up nobody. */
import { type Client, createClient } from '../api/client/client.ts';
import { AppError, type ErrorView, errorView } from '../base/pure/errors.ts';
import { formatDuration } from '../base/pure/format.ts';
import { readHosts } from './hosts-file.ts';
import { type WayOptions, wayTo } from './way.ts';

/** What one host answered, or why it did not. */
export interface FleetAnswer<T> {
  readonly host: string;
  readonly value: T | null;
  readonly error: ErrorView['error'] | null;
}

export interface FleetOptions extends WayOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** In the order of the file. Throws NO_HOSTS, CONFIG_INVALID, and the reason of the signal. */
export async function askAll<T>(
  ask: (client: Client) => Promise<T>,
  { timeoutMs, signal, ...around }: FleetOptions,
): Promise<readonly FleetAnswer<T>[]> {
  return await Promise.all(
    readHosts(around.env).map(async (host): Promise<FleetAnswer<T>> => {
      const way = wayTo(host, { ...around, timeoutMs });
      const late = new AbortController();
      const problem = `no answer within ${formatDuration(timeoutMs)}`;
      const timer = setTimeout(
        () => late.abort(new AppError('HOST_UNREACHABLE', { host: host.name, problem })),
        timeoutMs,
      );
      try {
        const client = createClient(async () => way, AbortSignal.any([signal, late.signal]));
        return { host: host.name, value: await ask(client), error: null };
      } catch (error) {
        if (signal.aborted || !(error instanceof AppError)) throw error;
        return { host: host.name, value: null, error: errorView(error).error };
      } finally {
        clearTimeout(timer);
      }
    }),
  );
}
