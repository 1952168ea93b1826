/** What a route is, and how a request finds its one. The table is closed: what is not in it does not exist. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { z } from 'zod';
import type { Log } from '../base/log.ts';
import type { ErrorCode } from '../base/pure/errors.ts';
import type { Access } from '../dashboard/rules/access.ts';
import type { Control } from './control.ts';
import { EMPTY_BODY, NO_BODY, NO_QUERY } from './schemas.ts';
import type { StreamSet } from './streams.ts';
import type { Views } from './views.ts';

export interface Services {
  readonly control: Control;
  readonly log: Log;
  readonly version: string;
  readonly streams: StreamSet;
  /** Why the daemon is not in charge right now; empty: it is. */
  unready(): readonly string[];
  /** As Prometheus text; null: nobody asked for that. */
  metrics(): Promise<string> | null;
}

/** One request, checked: `query` and `body` have passed the schemas of the route. */
export interface Call<Query, Body> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly services: Services;
  /** What the caller is allowed. */
  readonly access: Access;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Returned by a handler that has taken the response over. */
export const STREAMING = Symbol('streaming');

/** An answer with another status than the usual one of the route. */
export class WithStatus<Body extends object> {
  readonly status: number;
  readonly body: Body;

  constructor(status: number, body: Body) {
    this.status = status;
    this.body = body;
  }
}

export type Answer<Body> = Body | WithStatus<Body & object> | typeof STREAMING;

/** A row of the table as it is written: what most routes have in common may be left out. */
interface RouteSpec<Query extends z.ZodType, Body extends z.ZodType, View extends keyof Views> {
  readonly method: 'GET' | 'POST';
  /** Segments in braces are parameters: /v1/components/{name}. */
  readonly path: `/${string}`;
  /** The name of the operation for generated clients. */
  readonly id: string;
  /** What its caller must be allowed. The unix socket is allowed everything; `socket`: and nobody else. */
  readonly access: Access;
  /** Keys of its body that only the unix socket may send. */
  readonly socketKeys?: readonly string[];
  /** One sentence for the reference. */
  readonly summary: string;
  /** The status of a good answer; 202 where the work only begins. Default: 200. */
  readonly success?: 200 | 202;
  /** Default: it takes none. */
  readonly query?: Query;
  /** Default: none for GET, an empty object for POST. */
  readonly body?: Body;
  /** What its handler returns. */
  readonly answer: View;
  /** The same answer under another status: what that one means. */
  readonly also?: Readonly<Record<number, string>>;
  /** The answer is text of this type, and the handler sends it itself. */
  readonly text?: string;
  /** What comes as text/event-stream, one per event: always, or unless JSON is asked for. */
  readonly stream?: { readonly item: keyof Views; readonly when: string };
  /** It may take its time to answer: of such requests only so many are taken at once, so that others always find a place. */
  readonly waits?: true;
  /** What it can refuse with, besides what every route can (see `scripts/reference/openapi.mjs`). Default: nothing. */
  readonly errors?: readonly ErrorCode[];
  handler(call: Call<z.output<Query>, z.output<Body>>): Answer<Views[View]> | Promise<Answer<Views[View]>>;
}

type Complete = 'success' | 'query' | 'body' | 'errors';
type AnySpec = RouteSpec<z.ZodType, z.ZodType, keyof Views>;

/** Handlers are typed by their row where it is written (see `route`), and opaque from here on. */
export interface Route extends Omit<AnySpec, 'handler' | Complete>, Required<Pick<AnySpec, Complete>> {
  // biome-ignore lint/suspicious/noExplicitAny: the schemas of the same row have checked what goes in
  handler(call: Call<any, any>): Answer<unknown> | Promise<Answer<unknown>>;
}

export const route = <
  View extends keyof Views,
  Query extends z.ZodType = typeof NO_QUERY,
  Body extends z.ZodType = typeof EMPTY_BODY,
>(
  spec: RouteSpec<Query, Body, View>,
): Route => ({
  success: 200,
  query: NO_QUERY,
  body: spec.method === 'GET' ? NO_BODY : EMPTY_BODY,
  errors: [],
  ...spec,
});

export interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** The route, or the methods that the path does take (empty: there is no such path). */
export function match(routes: readonly Route[], method: string, path: string): Match | { readonly allowed: string[] } {
  const allowed: string[] = [];
  for (const candidate of routes) {
    const params = matchPath(candidate.path, path);
    if (params === null) continue;
    if (candidate.method === method) return { route: candidate, params };
    allowed.push(candidate.method);
  }
  return { allowed };
}

function matchPath(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [index, segment] of wanted.entries()) {
    const raw = given[index]!;
    if (!segment.startsWith('{')) {
      if (segment !== raw) return null;
      continue;
    }
    const value = decode(raw);
    if (value === null || value === '') return null;
    params[segment.slice(1, -1)] = value;
  }
  return params;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null; // a broken escape names nothing
  }
}
