/** What the CLI asks of a running daemon. Tiny: every command loads it. */
import { AppError } from '../core/errors.ts';
import type { CrashesView, EventView, StatusView, WhyView } from '../core/views.ts';
import type { ActionView, UpView } from '../ports/control.ts';
import { type CallOptions, callJson } from './call.ts';
import { type EventsQuery, readEvents } from './event-reader.ts';

export interface EventsView {
  readonly schema_version: 1;
  /** How far the whole history goes, whatever was asked for. */
  readonly last_seq: number;
  readonly events: readonly EventView[];
}

export interface CrashesQuery {
  readonly component?: string | undefined;
  readonly sinceMs?: number | undefined;
  readonly limit?: number | undefined;
}

/** Every call throws DAEMON_NOT_RUNNING when nobody listens on the socket (see `ifRunning`). */
export interface Client {
  status(): Promise<StatusView>;
  version(): Promise<string>;
  up(components: readonly string[], files: readonly string[]): Promise<UpView>;
  act(action: 'start' | 'stop' | 'restart', components: readonly string[]): Promise<ActionView>;
  down(): Promise<ActionView>;
  handover(): Promise<void>;
  crashes(query: CrashesQuery): Promise<CrashesView>;
  why(which: { readonly component: string } | { readonly id: number }): Promise<WhyView>;
  listEvents(query: EventsQuery & { readonly limit: number }): Promise<EventsView>;
  /** Live, until the daemon ends the stream or `signal` aborts. */
  events(query: EventsQuery & { readonly signal: AbortSignal }): AsyncGenerator<EventView, void, undefined>;
}

/** Reading configuration files and preparing dependencies can take its time; everything else is answered from memory. */
const UP_TIMEOUT_MS = 30_000;
const TIMEOUT_MS = 5_000;

export function createClient(socket: string, signal?: AbortSignal): Client {
  const call = <T>(method: CallOptions['method'], path: string, body?: object, timeoutMs = TIMEOUT_MS): Promise<T> =>
    callJson<T>(socket, { method, path, timeoutMs, signal, ...(body ? { body } : {}) });
  const get = <T>(path: string) => call<T>('GET', path);
  return {
    status: () => get('/v1/status'),
    version: async () => (await get<{ version: string }>('/v1/version')).version,
    up: (components, files) => call('POST', '/v1/up', { components, files }, UP_TIMEOUT_MS),
    act: (action, components) => call('POST', `/v1/${action}`, { components }),
    down: () => call('POST', '/v1/down', {}),
    handover: async () => void (await call('POST', '/v1/handover', {})),
    crashes: ({ component, sinceMs, limit }) => get(`/v1/crashes${query({ component, since: sinceMs, limit })}`),
    why: (which) => get('id' in which ? `/v1/crashes/${which.id}` : `/v1/why/${encodeURIComponent(which.component)}`),
    listEvents: ({ after, component, limit }) => get(`/v1/events${query({ after, component, limit })}`),
    events: ({ signal: until, ...which }) => readEvents(socket, which, until),
  };
}

function query(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given as [string, string][])}`;
}

/** The answer, or null when no daemon is running. */
export async function ifRunning<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AppError && error.code === 'DAEMON_NOT_RUNNING') return null;
    throw error;
  }
}
