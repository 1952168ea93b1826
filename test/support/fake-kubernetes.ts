/**
 * NOT Kubernetes: a small server that speaks as much of its API as Keepwell uses, over HTTPS, written from the protocol: lists with pages and
 * selectors, watches with resource versions, bookmarks and "410 Gone", server-side apply (the whole object is replaced, nobody's fields are merged),
 * dry runs, deletes, logs. It validates nothing. The same tests run against a real etcd and kube-apiserver where their binaries are (`KEEPWELL_KUBE_BIN`,
 * see kubernetes.ts), and against real kubelets with `npm run test:kubernetes`.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

type Plain = Record<string, unknown>;
interface Meta {
  name: string;
  namespace: string;
  uid: string;
  resourceVersion: string;
  creationTimestamp: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  deletionTimestamp?: string;
  [key: string]: unknown;
}
export interface FakeObject extends Plain {
  metadata: Meta;
}
interface Change {
  readonly at: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly path: string;
  readonly object: FakeObject;
}

const KINDS: Readonly<Record<string, string>> = {
  deployments: 'Deployment',
  jobs: 'Job',
  services: 'Service',
  configmaps: 'ConfigMap',
  secrets: 'Secret',
  pods: 'Pod',
  events: 'Event',
  leases: 'Lease',
};

export class FakeKubernetes implements AsyncDisposable {
  /** Requests that were answered, as "GET /api/v1/…?query". */
  readonly asked: string[] = [];
  /** Logs of pods by "pod/container" and "pod/container/previous". */
  readonly logs = new Map<string, string>();
  /** Requests with another token are refused. */
  token = 'test-token';
  /** Objects whose name is in here are refused by dry run and apply. */
  readonly invalid = new Set<string>();
  readonly #identity: { readonly key: string; readonly cert: string };
  readonly #objects = new Map<string, FakeObject>();
  readonly #changes: Change[] = [];
  readonly #watches = new Set<{ readonly prefix: string; tell(change: Change): void; end(): void }>();
  readonly #sockets = new Set<Duplex>();
  #version = 100;
  #oldest = 0;
  #server: Server | null = null;
  #port = 0;

  constructor(identity: { readonly key: string; readonly cert: string }) {
    this.#identity = identity;
  }

  get url(): string {
    return `https://127.0.0.1:${this.#port}`;
  }
  get openWatches(): number {
    return this.#watches.size;
  }

  async up(): Promise<void> {
    const server = createServer(this.#identity, (request, response) => void this.#answer(request, response));
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Nobody listens any more, and every connection is cut. */
  async down(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    for (const socket of this.#sockets) socket.destroy();
    this.#watches.clear();
    if (server) await new Promise((resolve) => server.close(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.down();
  }

  /** Whoever wants to go on from an earlier place has to list again; watches that are open are ended with the same word. */
  forgetThePast(): void {
    this.#oldest = ++this.#version;
    for (const watch of this.#watches) watch.end();
  }

  /** Ends all watches as the server does now and then. */
  endWatches(): void {
    for (const watch of this.#watches) watch.end();
  }

  #commit(type: Change['type'], path: string, object: FakeObject): FakeObject {
    const at = ++this.#version;
    const stored = structuredClone({ ...object, metadata: { ...object.metadata, resourceVersion: String(at) } });
    if (type === 'DELETED') this.#objects.delete(path);
    else this.#objects.set(path, stored);
    const change = { at, type, path, object: stored };
    this.#changes.push(change);
    for (const watch of this.#watches) if (path.startsWith(`${watch.prefix}/`)) watch.tell(change);
    return stored;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'https://fake');
    const { method = 'GET' } = request;
    const query = url.searchParams;
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString('utf8');
    const body = text === '' ? null : (JSON.parse(text) as FakeObject);
    this.asked.push(`${method} ${url.pathname}${url.search}`);
    const send = (status: number, answer: unknown) => {
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
    };
    const refuse = (code: number, reason: string, message: string) =>
      send(code, { kind: 'Status', status: 'Failure', code, reason, message });
    if (request.headers.authorization !== `Bearer ${this.token}`) return refuse(401, 'Unauthorized', 'Unauthorized');
    if (url.pathname === '/version') return send(200, { gitVersion: 'v0.0.0-fake' });
    if (url.pathname === '/readyz') return send(200, {});
    const [, prefix, plural, name, sub] =
      /^(\/apis?\/(?:[a-z0-9.]+\/)?v1\/namespaces\/[^/]+\/([a-z]+))(?:\/([^/]+))?(?:\/([a-z]+))?$/.exec(url.pathname) ??
      [];
    const kind = KINDS[plural ?? ''];
    if (prefix === undefined || kind === undefined) return refuse(404, 'NotFound', `no such path ${url.pathname}`);
    const namespace = prefix.split('/namespaces/')[1]!.split('/')[0]!;
    const path = `${prefix}/${name ?? body?.metadata.name}`;
    const known = this.#objects.get(path);
    if (sub === 'log') return this.#log(name!, query, response, refuse);
    if (method === 'GET' && name === undefined && query.get('watch') === 'true')
      return this.#watch(prefix, query, response, refuse);
    if (method === 'GET' && name === undefined) return send(200, this.#list(prefix, kind, query));
    if (known === undefined && (method === 'GET' || method === 'DELETE' || method === 'PUT'))
      return refuse(404, 'NotFound', `${plural} "${name}" not found`);
    if (method === 'GET') return send(200, known);
    const problem = conflict(method, body, known);
    if (problem !== null) return refuse(409, problem, `${plural} "${name}": ${problem}`);
    if (method === 'DELETE') return send(200, this.#commit('DELETED', path, known!));
    if (this.invalid.has(path.split('/').at(-1)!))
      return refuse(422, 'Invalid', `${kind} "${body!.metadata.name}" is invalid: spec: Invalid value: "x": not so`);
    const object = merged({ kind, namespace, method, sub }, body!, known);
    if (query.get('dryRun') === 'All') return send(200, object);
    send(200, this.#commit(known ? 'MODIFIED' : 'ADDED', path, object));
  }

  #list(prefix: string, kind: string, query: URLSearchParams): unknown {
    const all = [...this.#objects]
      .filter(([path, object]) => path.startsWith(`${prefix}/`) && isChosen(object, query))
      .map(([, object]) => object);
    const from = Number(query.get('continue') ?? 0);
    const limit = Number(query.get('limit') ?? all.length);
    const items = all.slice(from, from + limit);
    const rest = from + limit < all.length ? { continue: String(from + limit) } : {};
    return { kind: `${kind}List`, metadata: { resourceVersion: String(this.#version), ...rest }, items };
  }

  #watch(
    prefix: string,
    query: URLSearchParams,
    response: ServerResponse,
    refuse: (code: number, reason: string, message: string) => void,
  ): void {
    const from = Number(query.get('resourceVersion'));
    if (from < this.#oldest) {
      refuse(410, 'Expired', `too old resource version: ${from}`);
      return;
    }
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.flushHeaders();
    const write = (type: string, object: unknown) => response.write(`${JSON.stringify({ type, object })}\n`);
    const watch = {
      prefix,
      tell: ({ type, object }: Change) => {
        if (isChosen(object, query)) write(type, object);
      },
      end: () => {
        if (from < this.#oldest) write('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' });
        else write('BOOKMARK', { kind: 'Pod', metadata: { resourceVersion: String(this.#version) } });
        response.end();
        this.#watches.delete(watch);
      },
    };
    for (const change of this.#changes)
      if (change.at > from && change.path.startsWith(`${prefix}/`)) watch.tell(change);
    this.#watches.add(watch);
    response.on('close', () => this.#watches.delete(watch));
  }

  #log(
    pod: string,
    query: URLSearchParams,
    response: ServerResponse,
    refuse: (code: number, reason: string, message: string) => void,
  ): void {
    const isPrevious = query.get('previous') === 'true';
    const text = this.logs.get(`${pod}/${query.get('container')}${isPrevious ? '/previous' : ''}`);
    if (text === undefined && isPrevious) {
      refuse(400, 'BadRequest', `previous terminated container "${query.get('container')}" not found`);
      return;
    }
    response.writeHead(200, { 'Content-Type': 'text/plain' });
    response.flushHeaders();
    if (query.get('follow') === 'true') {
      response.write(text ?? '');
      return; // for as long as the container lives; who asks goes away by himself
    }
    const lines = (text ?? '').split('\n').filter((line) => line !== '');
    const tail = Number(query.get('tailLines') ?? lines.length);
    response.end(
      lines
        .slice(-tail)
        .map((line) => `${line}\n`)
        .join(''),
    );
  }
}

/** Somebody has made it, or written it, since. */
function conflict(method: string, body: FakeObject | null, known: FakeObject | undefined): string | null {
  if (method === 'POST' && known !== undefined) return 'AlreadyExists';
  const version = body?.metadata?.resourceVersion; // that of a deletion says nothing of the object
  return method === 'PUT' && version !== undefined && version !== known?.metadata.resourceVersion ? 'Conflict' : null;
}

function isChosen(object: FakeObject, query: URLSearchParams): boolean {
  const wanted = (query.get('labelSelector') ?? '').split(',').filter((part) => part !== '');
  const hasLabels = wanted.every((part) => {
    const [key, value] = part.split('=');
    return object.metadata.labels?.[key!] === value;
  });
  const fields = (query.get('fieldSelector') ?? '').split(',').filter((part) => part !== '');
  return hasLabels && fields.every((part) => fieldAt(object, part.split('=')[0]!) === part.split('=')[1]);
}

const fieldAt = (object: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (value as Plain | undefined)?.[key], object);

interface Writing {
  readonly kind: string;
  readonly namespace: string;
  readonly method: string;
  readonly sub: string | undefined;
}

/** What is stored after a write: names and times stay, a status is only changed by whoever writes the status. */
function merged(
  { kind, namespace, method, sub }: Writing,
  body: FakeObject,
  known: FakeObject | undefined,
): FakeObject {
  const base: Meta = known?.metadata ?? {
    ...{ name: body.metadata.name, namespace, uid: randomUUID(), resourceVersion: '0' },
    creationTimestamp: new Date().toISOString(),
  };
  const { labels, annotations, deletionTimestamp } = body.metadata;
  const metadata: Meta = {
    ...base,
    ...(labels ? { labels } : {}),
    ...(annotations ? { annotations } : {}),
    ...(deletionTimestamp ? { deletionTimestamp } : {}),
  };
  if (method === 'PATCH' && !annotations) delete metadata.annotations;
  const status = sub === 'status' ? body['status'] : (known?.['status'] ?? body['status']);
  const spec = sub === 'status' && known ? known : body;
  const object = { ...spec, kind, metadata, ...(status ? { status } : {}) } as FakeObject;
  return object;
}
