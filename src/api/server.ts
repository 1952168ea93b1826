/** The HTTP server over the routes. The daemon binds it to its unix socket. */
import { type IncomingMessage, Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { z } from 'zod';
import type { Log } from '../base/log.ts';
import { AppError, errorView } from '../base/pure/errors.ts';
import type { Control } from './control.ts';
import { sendError, sendJson } from './reply.ts';
import { match, type Services, STREAMING, WithStatus } from './route.ts';
import { STREAM_LIMITS, type StreamLimits, StreamSet } from './streams.ts';
import { ROUTES } from './table.ts';

export interface ServerOptions {
  readonly control: Control;
  readonly log: Log;
  readonly version: string;
  readonly limits?: Partial<ServerLimits>;
  /** Whether there is a file descriptor to spare for the connection that was just opened, the `open`th. Default: there is. */
  hasRoom?(open: number): boolean;
  /** Why the daemon is not in charge right now, for /readyz. Default: it always is. */
  unready?(): readonly string[];
  /** As Prometheus text. Default: there is none. */
  metrics?(): Promise<string> | null;
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

/** A plain http.Server, except that `close` also ends the event streams, which would otherwise hold it open for ever. */
export class ApiServer extends Server {
  readonly #streams: StreamSet;

  constructor(options: ServerOptions) {
    const { control, log, version, limits: given, unready = () => [], metrics = () => null, hasRoom } = options;
    const limits = { ...LIMITS, ...given };
    const connections = new Connections(limits.maxConnections, hasRoom);
    const streams = new StreamSet(limits, (response) => connections.wait(response));
    const services: Services = { control, log, version, streams, unready, metrics };
    super(
      {
        requireHostHeader: false, // the guard answers instead, in our own form
        headersTimeout: limits.headersTimeoutMs,
        requestTimeout: limits.requestTimeoutMs,
        connectionsCheckingInterval: Math.min(5_000, limits.headersTimeoutMs),
        keepAliveTimeout: 5_000,
        maxHeaderSize: 16 * 1024,
      },
      (request, response) => void answer(request, response, services, connections),
    );
    this.#streams = streams;
    this.maxConnections = limits.maxConnections;
    this.on('connection', (socket) => connections.add(socket));
    this.on('clientError', refuseBrokenRequest);
    this.on('upgrade', (_request, socket) => socket.destroy());
    this.on('connect', (_request, socket) => socket.destroy());
  }

  override close(callback?: (error?: Error) => void): this {
    this.#streams.endAll();
    return super.close(callback);
  }
}

export const createHttpServer = (options: ServerOptions): ApiServer => new ApiServer(options);

/** Never rejects: whatever goes wrong becomes an answer, or at least the end of the connection. */
async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  services: Services,
  connections: Connections,
): Promise<void> {
  try {
    connections.begin(request.socket, response);
    guard(request);
    const { pathname, search } = splitTarget(request.url ?? '');
    const found = match(ROUTES, request.method ?? '', pathname);
    if (!('route' in found)) throw noRoute(request.method ?? '', pathname, found.allowed);
    const { route, params } = found;
    if (route.waits) connections.wait(response);
    if (route.method === 'GET') refuseBody(request);
    const query = check(route.query, readQuery(search));
    const body = check(route.body, route.method === 'GET' ? undefined : await readBody(request));
    const answered = route.handler({ params, query, body, services, request, response });
    // An answer that is there already is sent in the same breath: after "down" and "handover" there may be no later one.
    const result = answered instanceof Promise ? await answered : answered;
    if (result === STREAMING) return;
    if (result instanceof WithStatus) sendJson(response, result.status, result.body);
    else sendJson(response, route.success, result);
  } catch (error) {
    sendError(response, error, services.log);
  }
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

// Keeps web pages out. The socket's mode 0600 is the real protection; these checks stop a browser that was tricked into talking to it through a proxy, and they are the same ones the TCP listener will need.

const HOSTS: ReadonlySet<string> = new Set(['localhost', 'keepwell']);
const SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

const refuse = (problem: string): never => {
  throw new AppError('REQUEST_REFUSED', { problem });
};

/** Throws REQUEST_REFUSED for a foreign Host, any Origin, or a Sec-Fetch-Site that says "another site". */
export function guard(request: IncomingMessage): void {
  const hosts = allOf(request, 'host');
  if (hosts.length !== 1) refuse(`it needs exactly one Host header, not ${hosts.length}.`);
  if (!HOSTS.has(hosts[0]!.toLowerCase())) refuse('its Host header is not "localhost" or "keepwell".');
  if (allOf(request, 'origin').length > 0) refuse('it comes from a web page (it has an Origin header).');
  if (allOf(request, 'sec-fetch-site').some((site) => !SITES.has(site))) refuse('it comes from another web site.');
}

/** Every value of the header: node keeps only the first Host, which is what a smuggled second one counts on. */
function allOf({ rawHeaders }: IncomingMessage, name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.toLowerCase() === name) values.push(rawHeaders[i + 1]!);
  }
  return values;
}

// Who is connected, and whose request is being answered. Whoever asks nothing gives way to who comes; those whose answer takes its time (they wait for a component, a session, a stream) never take all places, so that "stop" and "status" are always answered.

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
