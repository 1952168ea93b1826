/** The HTTP server over the routes. The daemon binds it to its unix socket, and to the address of the page where that is asked for. */
import { createServer as createPlainServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { z } from 'zod';
import type { Log } from '../base/log.ts';
import { AppError, errorView } from '../base/pure/errors.ts';
import type { Asset, Door, TlsKeys } from '../dashboard/ports.ts';
import { type Access, demand } from '../dashboard/rules/access.ts';
import type { Control } from './control.ts';
import { sendError, sendJson } from './reply.ts';
import { type Call, match, type Route, type Services, STREAMING, WithStatus } from './route.ts';
import { STREAM_LIMITS, type StreamLimits, StreamSet } from './streams.ts';
import { ROUTES } from './table.ts';

export interface ServerOptions extends GuardOptions {
  readonly control: Control;
  readonly version: string;
  /** Why the daemon is not in charge right now, for /readyz. Default: it always is. */
  unready?(): readonly string[];
  /** As Prometheus text. Default: there is none. */
  metrics?(): Promise<string> | null;
}

/** A request that was let in and found right. */
export type Admitted = Omit<Call<unknown, unknown>, 'services'>;

/** Answers it: what a handler of a route returns. */
export type Handle = (route: Route, call: Admitted) => unknown;

export interface GuardOptions {
  readonly log: Log;
  /** Who is let in, and as whom. Default: as on the unix socket. */
  readonly door?: Door;
  /** Default: plain HTTP. */
  readonly tls?: TlsKeys | null;
  readonly limits?: Partial<ServerLimits>;
  /** Whether there is a file descriptor to spare for the connection that was just opened, the `open`th. Default: there is. */
  hasRoom?(open: number): boolean;
}

export interface ServerLimits extends StreamLimits {
  /** Sockets there may be at all. */
  readonly maxConnections: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
}

const LIMITS: ServerLimits = {
  ...STREAM_LIMITS,
  maxConnections: 64,
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 10_000,
};

export type ApiServer = Server;

/** The routes over what they ask. */
export function createHttpServer(options: ServerOptions): ApiServer {
  const { control, log, version, unready = () => [], metrics = () => null } = options;
  return createGuardedServer(options, (streams) => {
    const services: Services = { control, log, version, streams, unready, metrics };
    return (route, call) => route.handler({ ...call, services });
  });
}

/**
 * Whoever answers: guard, bounds and checks are the same. A plain server, except that `close` also ends the event streams, which would
 * otherwise hold it open for ever.
 */
export function createGuardedServer(options: GuardOptions, handler: (streams: StreamSet) => Handle): ApiServer {
  const { log, limits: given, hasRoom, door = socketDoor, tls = null } = options;
  const limits = { ...LIMITS, ...given };
  const connections = new Connections(limits.maxConnections, hasRoom);
  const streams = new StreamSet(limits, (response) => connections.wait(response));
  const handle = handler(streams);
  const settings = {
    requireHostHeader: false, // the door answers instead, in our own form
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    connectionsCheckingInterval: Math.min(5_000, limits.headersTimeoutMs),
    keepAliveTimeout: 5_000,
    maxHeaderSize: 16 * 1024,
  };
  const asked = (request: IncomingMessage, response: ServerResponse) =>
    void answer(request, response, { door, log, connections, handle });
  const server: Server =
    tls === null
      ? createPlainServer(settings, asked)
      : createSecureServer({ ...settings, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: 5_000 }, asked);
  server.maxConnections = limits.maxConnections;
  if (tls === null) server.on('connection', (socket) => connections.add(socket));
  else watchHandshakes(server, connections);
  server.on('clientError', refuseBrokenRequest);
  server.on('upgrade', (_request, socket) => socket.destroy());
  server.on('connect', (_request, socket) => socket.destroy());
  const close = server.close.bind(server);
  server.close = (callback) => {
    streams.endAll();
    return close(callback);
  };
  return server;
}

/** A connection is one place, also while it agrees on keys: who never finishes that gives way like all who ask nothing. */
function watchHandshakes(server: Server, connections: Connections): void {
  const begun = new Map<string, Socket>();
  const nameOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
  server.on('connection', (socket: Socket) => {
    const name = nameOf(socket);
    begun.set(name, socket);
    socket.once('close', () => void (begun.get(name) === socket && begun.delete(name)));
    connections.add(socket);
  });
  server.on('secureConnection', (secure: Socket) => {
    const raw = begun.get(nameOf(secure));
    if (raw !== undefined) connections.forget(raw);
    connections.add(secure);
  });
  server.on('tlsClientError', (_error, socket: Socket) => socket.destroy());
}

/** Never rejects: whatever goes wrong becomes an answer, or at least the end of the connection. */
async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { door, log, connections, handle }: { door: Door; log: Log; connections: Connections; handle: Handle },
): Promise<void> {
  try {
    connections.begin(request.socket, response);
    for (const [name, value] of Object.entries(door.headers)) response.setHeader(name, value);
    door.admit(request);
    const { pathname, search } = splitTarget(request.url ?? '');
    const asset = door.asset(pathname);
    if (asset !== null) {
      sendAsset(request, response, asset);
      return;
    }
    const has = door.accessOf(request);
    const found = match(ROUTES, request.method ?? '', pathname);
    if (!('route' in found)) {
      demand('metrics', has); // who has no token is not even told what there is
      throw noRoute(request.method ?? '', pathname, found.allowed);
    }
    const { route, params } = found;
    const access = permit(route, has, door);
    if (route.waits) connections.wait(response);
    if (route.method === 'GET') refuseBody(request);
    const query = check(route.query, readQuery(search));
    const body = check(route.body, route.method === 'GET' ? undefined : await readBody(request));
    if (access !== 'socket') refuseSocketKeys(route, body);
    const answered = handle(route, { params, query, body, access, request, response });
    // An answer that is there already is sent in the same breath: after "down" and "handover" there may be no later one.
    const result = answered instanceof Promise ? await answered : answered;
    if (result === STREAMING) return;
    if (result instanceof WithStatus) sendJson(response, result.status, result.body);
    else sendJson(response, route.success, result as object);
  } catch (error) {
    sendError(response, error, log);
  }
}

/** What the caller may do, if that is enough for the route. */
function permit(route: Route, has: Access | null, door: Door): Access {
  if (route.access === 'metrics' && has !== 'socket') {
    const hint = 'Set "dashboard.metrics" to "token" or "open" and run "keepwell reload".';
    if (door.metrics === 'off') throw new AppError('METRICS_OFF', {}, { hint });
    if (door.metrics === 'open') return has ?? 'metrics';
  }
  demand(route.access, has);
  return has!;
}

function refuseSocketKeys({ socketKeys = [] }: Route, body: unknown): void {
  const key = socketKeys.find((each) => Object.hasOwn(Object(body), each));
  if (key !== undefined) throw new AppError('ONLY_BY_SOCKET', { what: `"${key}"` });
}

/** A part of the page. It is the same for everybody and says nothing of the project, so it needs no token. */
function sendAsset(request: IncomingMessage, response: ServerResponse, asset: Asset): void {
  const { method = '' } = request;
  if (method !== 'GET' && method !== 'HEAD') throw noRoute(method, request.url ?? '', ['GET', 'HEAD']);
  refuseBody(request);
  response.setHeader('Cache-Control', asset.isHashed ? 'public, max-age=31536000, immutable' : 'no-store');
  response.setHeader('ETag', asset.etag);
  response.setHeader('Vary', 'Accept-Encoding');
  if (request.headers['if-none-match'] === asset.etag) {
    response.writeHead(304).end();
    return;
  }
  const packed = /\bgzip\b/i.test(String(request.headers['accept-encoding'] ?? '')) ? asset.gzip : null;
  if (packed !== null) response.setHeader('Content-Encoding', 'gzip');
  const body = packed ?? asset.plain;
  response.writeHead(200, { 'Content-Type': asset.type, 'Content-Length': body.length });
  response.end(method === 'HEAD' ? undefined : body);
}

function splitTarget(target: string): { pathname: string; search: string } {
  const at = target.indexOf('?');
  return at < 0 ? { pathname: target, search: '' } : { pathname: target.slice(0, at), search: target.slice(at + 1) };
}

function noRoute(method: string, path: string, allowed: readonly string[]): AppError {
  const details = { method, path: path.slice(0, 200) };
  if (allowed.length === 0) return new AppError('ROUTE_NOT_FOUND', details);
  return new AppError('METHOD_NOT_ALLOWED', { ...details, allowed: allowed.join(', ') });
}

/** What node could not read as HTTP, or what took too long. */
function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET' || socket.bytesWritten > 0) {
    socket.destroySoon(); // an answer is out, or on its way: a second one behind it would only confuse
    return;
  }
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request';
  const problem = status.startsWith('408') ? 'it took too long to arrive.' : 'it is not HTTP as it should be.';
  const body = JSON.stringify(errorView(new AppError('REQUEST_INVALID', { problem })));
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

// Reads what a request brings: a JSON body of at most 64 KiB and a query, both checked strictly against the route's schemas.

export const MAX_BODY_BYTES = 64 * 1024;

const invalid = (problem: string): AppError => new AppError('REQUEST_INVALID', { problem });

export async function readBody(request: IncomingMessage): Promise<unknown> {
  const type = request.headers['content-type'] ?? 'nothing';
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type)) throw new AppError('BODY_NOT_JSON', { type });
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch {
    throw invalid('its body is not valid JSON.');
  }
}

const tooLarge = (): AppError => new AppError('BODY_TOO_LARGE', { limit: MAX_BODY_BYTES });

/** GET takes no body: one that is sent anyway is a mistake, and would only be thrown away. */
export function refuseBody({ headers }: IncomingMessage): void {
  const length = Number(headers['content-length'] ?? 0);
  if (length > 0 || headers['transfer-encoding'] !== undefined) throw invalid('this route takes no body.');
}

/** The query as an object; a parameter given twice is refused rather than half ignored. */
export function readQuery(search: string): Record<string, string> {
  const values = new Map<string, string>();
  for (const [key, value] of new URLSearchParams(search)) {
    if (values.has(key)) throw invalid(`"${key}" is given twice.`);
    values.set(key, value);
  }
  return Object.fromEntries(values);
}

/** Every problem at once, each with its path. */
export function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) =>
    path.length > 0 ? `${path.map(String).join('.')}: ${message}` : message,
  );
  throw invalid(problems.slice(0, 5).join('; '));
}

// Who is connected, and whose request is being answered. Whoever asks nothing gives way to who comes; those whose answer takes its time
// (they wait for a component, a session, a stream) never take all places, so that "stop" and "status" are always answered.

export class Connections {
  /** Such as ask nothing; the one that has been silent for longest comes first. */
  readonly #idle = new Set<Socket>();
  readonly #busy = new Set<Socket>();
  readonly #maxBusy: number;
  readonly #maxWaiting: number;
  readonly #waiting = new Set<ServerResponse>();

  readonly #hasRoom: (open: number) => boolean;

  /**
   * `max`: sockets there may be at all. Some are left free, so that everybody can at least be told that there are too many. `hasRoom`:
   * whether there is a file descriptor to spare for so many; they are for watching first.
   */
  constructor(max: number, hasRoom: (open: number) => boolean = () => true) {
    this.#hasRoom = hasRoom;
    this.#maxBusy = Math.max(1, max - Math.ceil(max / 8));
    this.#maxWaiting = Math.max(1, Math.floor(this.#maxBusy * 0.7));
  }

  add(socket: Socket): void {
    this.#idle.add(socket);
    socket.once('close', () => {
      this.#idle.delete(socket);
      this.#busy.delete(socket);
    });
    const open = this.#idle.size + this.#busy.size;
    const hasRoom = this.#hasRoom(open);
    if (open <= this.#maxBusy && hasRoom) return;
    const [oldest] = this.#idle;
    if (oldest !== undefined && oldest !== socket) {
      this.#idle.delete(oldest); // its 'close' comes later, and the next one who comes must not count on it, too
      oldest.destroy();
    } else if (!hasRoom) socket.destroy();
  }

  /** It counts under another socket from now on. */
  forget(socket: Socket): void {
    this.#idle.delete(socket);
  }

  /** A request has come. Throws DAEMON_BUSY when there are too many already. */
  begin(socket: Socket, response: ServerResponse): void {
    this.#idle.delete(socket);
    this.#busy.add(socket);
    response.once('close', () => {
      if (this.#busy.delete(socket) && !socket.destroyed) this.#idle.add(socket);
    });
    if (this.#busy.size > this.#maxBusy) throw new AppError('DAEMON_BUSY', { count: this.#busy.size });
  }

  /** Its answer will take its time. Throws DAEMON_BUSY when too many of that kind are here already. */
  wait(response: ServerResponse): void {
    if (this.#waiting.has(response)) return;
    if (this.#waiting.size >= this.#maxWaiting) throw new AppError('DAEMON_BUSY', { count: this.#waiting.size });
    this.#waiting.add(response);
    response.once('close', () => this.#waiting.delete(response));
  }
}

const HOSTS: ReadonlySet<string> = new Set(['localhost', 'keepwell']);
const SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

const refuse = (problem: string): never => {
  throw new AppError('REQUEST_REFUSED', { problem });
};

/** A foreign Host, any Origin, and a Sec-Fetch-Site that says "another site" are refused. Whoever gets in may do everything. */
const socketDoor: Door = {
  headers: {},
  metrics: 'token',
  asset: () => null,
  accessOf: () => 'socket',
  admit: (request) => {
    const hosts = allOf(request, 'host');
    if (hosts.length !== 1) refuse(`it needs exactly one Host header, not ${hosts.length}.`);
    if (!HOSTS.has(hosts[0]!.toLowerCase())) refuse('its Host header is not "localhost" or "keepwell".');
    if (allOf(request, 'origin').length > 0) refuse('it comes from a web page (it has an Origin header).');
    if (allOf(request, 'sec-fetch-site').some((site) => !SITES.has(site))) refuse('it comes from another web site.');
  },
};

const allOf = ({ headersDistinct }: IncomingMessage, name: string): readonly string[] => headersDistinct[name] ?? [];
