/** The client of the API server: list, watch, apply, put, delete, logs, and nothing else. (docs/decisions/0045 says why it is our own.) */

import { setMaxListeners } from 'node:events';
import type { Clock } from '../../base/clock.ts';
import { isExpired, isMissingLog, type Kind, type Listed, pathOf, type Stored, type WatchLine } from '../rules/api.ts';
import type { ClusterAccess } from '../rules/kubeconfig.ts';
import type { KubernetesObject } from '../rules/object.ts';
import { ApiError, Caller, isMissing } from './call.ts';

export interface LogQuery {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** That of the container before the one that is there now. */
  readonly previous?: boolean;
  /** The last so many lines. */
  readonly tail?: number;
  /** Every line begins with its time. */
  readonly timestamps?: boolean;
  /** RFC 3339: what was written at this second or later. */
  readonly since?: string | null;
}

/** A watch ends: where it can go on, or null when everything has to be listed again. */
export type WatchEnd = { readonly at: string | null };

const FIELD_MANAGER = 'keepwell';
const PAGE = 500;
/** The server ends a watch after so long, and it is taken up again. */
const WATCH_SECONDS = 290;
const SILENT_MS = (WATCH_SECONDS + 30) * 1_000;
const MAX_LINE_BYTES = 8 * 2 ** 20;
const LOG_WITHIN_MS = 10_000;
const MAX_LOG_BYTES = 4 * 2 ** 20;

export class Client {
  readonly access: ClusterAccess;
  readonly #caller: Caller;

  constructor(access: ClusterAccess, env: Readonly<Record<string, string | undefined>>, clock: Clock) {
    this.access = access;
    this.#caller = new Caller(access, env, clock);
  }

  close(): void {
    this.#caller.close();
  }

  /** "v1.29.3" */
  async version(signal: AbortSignal): Promise<string> {
    const { gitVersion = 'unknown' } = await this.#json<{ gitVersion?: string }>({ path: '/version' }, signal);
    return gitVersion;
  }

  /** Null: there is none. */
  async get<T extends Stored>(
    kind: Kind,
    namespace: string,
    name: string,
    signal: AbortSignal,
    timeoutMs?: number,
  ): Promise<T | null> {
    try {
      return await this.#json<T>({ path: pathOf(kind, namespace, name), ...within(timeoutMs) }, signal);
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** All of them, page by page, and the place from which a watch goes on. */
  async list<T extends Stored>(
    kind: Kind,
    namespace: string,
    selector: { readonly labels?: string; readonly fields?: string },
    signal: AbortSignal,
  ): Promise<{ readonly items: readonly T[]; readonly at: string }> {
    const path = pathOf(kind, namespace);
    const chosen = { labelSelector: selector.labels ?? null, fieldSelector: selector.fields ?? null };
    const items: T[] = [];
    let from: string | null = null;
    let at = '';
    do {
      const query: Record<string, string | number | null> = { ...chosen, limit: PAGE, continue: from };
      try {
        const page: Listed<T> = await this.#json<Listed<T>>({ path, query }, signal);
        items.push(...page.items);
        from = page.metadata.continue || null;
        at = page.metadata.resourceVersion ?? '';
      } catch (error) {
        // The list changed too much between two pages: once more, whole.
        if (from === null || !(error instanceof ApiError) || !isExpired(error.status, error.reason)) throw error;
        const whole = await this.#json<Listed<T>>({ path, query: chosen }, signal);
        return { items: whole.items, at: whole.metadata.resourceVersion ?? '' };
      }
    } while (from !== null);
    return { items, at };
  }

  /**
   * Tells every change after `at` until the server ends it, which it does now and then. Rejects with an ApiError when it is cut off, or when
   * `signal` aborts.
   */
  async watch<T extends Stored>(
    kind: Kind,
    namespace: string,
    selector: { readonly labels: string; readonly at: string },
    told: { opened(): void; changed(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void },
    signal: AbortSignal,
  ): Promise<WatchEnd> {
    let at: string | null = selector.at;
    const line = (text: string): void => {
      const { type, object } = JSON.parse(text) as WatchLine<T>;
      if (type === 'ERROR') {
        if (!isExpired(object.code ?? 0, '')) throw new ApiError(object.code ?? 0, '', object.message ?? 'unknown');
        at = null;
        return;
      }
      if (at !== null) at = object.metadata.resourceVersion ?? at;
      if (type !== 'BOOKMARK') told.changed(type, object);
    };
    const lines = new Lines(line, MAX_LINE_BYTES);
    const query = {
      watch: true,
      allowWatchBookmarks: true,
      labelSelector: selector.labels,
      resourceVersion: selector.at,
      timeoutSeconds: WATCH_SECONDS,
    };
    try {
      await this.#caller.ask(
        {
          path: pathOf(kind, namespace),
          query,
          onPiece: (piece) => lines.add(piece),
          onOpen: () => told.opened(),
          silentMs: SILENT_MS,
        },
        quiet(signal),
      );
    } catch (error) {
      if (error instanceof ApiError && isExpired(error.status, error.reason)) return { at: null };
      throw error;
    }
    return { at };
  }

  /** Makes it so: server-side apply, with our name as the field manager. `dryRun`: the server only says what it thinks. */
  async apply(object: KubernetesObject, options: { readonly dryRun?: boolean }, signal: AbortSignal): Promise<Stored> {
    const { name, namespace = 'default' } = object.metadata;
    return this.#json<Stored>(
      {
        method: 'PATCH',
        path: pathOf(object.kind as Kind, namespace, name),
        query: { fieldManager: FIELD_MANAGER, force: true, dryRun: options.dryRun ? 'All' : null },
        body: object,
        contentType: 'application/apply-patch+yaml', // JSON is YAML
      },
      signal,
    );
  }

  /** Writes the whole object, new or over the version that it names: refused with status 409 when somebody else wrote it meanwhile. */
  async put<T extends Stored>(
    object: { readonly kind: Kind; readonly metadata: { readonly name: string; readonly namespace: string } },
    { isNew }: { readonly isNew: boolean },
    signal: AbortSignal,
    timeoutMs?: number,
  ): Promise<T> {
    const { name, namespace } = object.metadata;
    const path = pathOf(object.kind, namespace, isNew ? undefined : name);
    const query = { fieldManager: FIELD_MANAGER };
    return this.#json<T>({ method: isNew ? 'POST' : 'PUT', path, query, body: object, ...within(timeoutMs) }, signal);
  }

  /** False: there was none. What belongs to it goes with it. */
  async remove(kind: Kind, namespace: string, name: string, signal: AbortSignal): Promise<boolean> {
    try {
      const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' };
      await this.#json({ method: 'DELETE', path: pathOf(kind, namespace, name), body }, signal);
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  /** Null: it is not kept any more. */
  async log(query: LogQuery, signal: AbortSignal): Promise<string | null> {
    try {
      const text = await this.#caller.ask({ ...logCall(query), timeoutMs: LOG_WITHIN_MS }, quiet(signal));
      return isMissingLog(text) ? null : text;
    } catch (error) {
      if (error instanceof ApiError && (error.status === 404 || error.status === 400)) return null;
      throw error;
    }
  }

  /** Brings it for as long as the container lives. */
  async follow(query: LogQuery, onPiece: (piece: Buffer) => void | Promise<void>, signal: AbortSignal): Promise<void> {
    const { path, query: asked } = logCall(query);
    await this.#caller.ask({ path, query: { ...asked, follow: true }, onPiece, silentMs: null }, quiet(signal));
  }

  async #json<T>(call: Parameters<Caller['ask']>[0], signal: AbortSignal): Promise<T> {
    const text = await this.#caller.ask(call, quiet(signal));
    try {
      return JSON.parse(text) as T;
    } catch {
      throw new ApiError(0, '', `${this.access.server} answered with something that is not JSON: is it an API server?`);
    }
  }
}

const within = (timeoutMs: number | undefined) => (timeoutMs === undefined ? {} : { timeoutMs });

/** Hundreds may wait with one and the same: that is no leak, and Node would warn of one. */
function quiet(signal: AbortSignal): AbortSignal {
  setMaxListeners(0, signal);
  return signal;
}

function logCall({ namespace, pod, container, previous, tail, timestamps, since }: LogQuery) {
  return {
    path: `${pathOf('Pod', namespace, pod)}/log`,
    query: {
      container,
      previous: previous ? true : null,
      tailLines: tail ?? null,
      timestamps: timestamps ? true : null,
      sinceTime: since ?? null,
    },
    maxBytes: MAX_LOG_BYTES,
  };
}

/** Pieces in, whole lines out. */
export class Lines {
  readonly #line: (text: string) => void;
  readonly #maxBytes: number;
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(line: (text: string) => void, maxBytes: number) {
    this.#line = line;
    this.#maxBytes = maxBytes;
  }

  add(piece: Buffer): void {
    let from = 0;
    for (let end = piece.indexOf(10); end !== -1; end = piece.indexOf(10, from)) {
      const text = Buffer.concat([...this.#held, piece.subarray(from, end)]).toString('utf8');
      this.#held = [];
      this.#heldBytes = 0;
      from = end + 1;
      if (text !== '') this.#line(text);
    }
    if (from === piece.length) return;
    this.#held.push(from === 0 ? piece : piece.subarray(from));
    this.#heldBytes += piece.length - from;
    if (this.#heldBytes > this.#maxBytes) throw new Error(`a line is longer than ${this.#maxBytes} bytes`);
  }
}
