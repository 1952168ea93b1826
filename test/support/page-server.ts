/** The page and the API under one address, as the listener has them: the assets of the build, and everything under /v1 from the socket of the daemon. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

export interface Asset {
  readonly path: string;
  readonly type: string;
  readonly sha256: string;
  readonly size: number;
  readonly gzip: string;
}

export const assets = (): readonly Asset[] => JSON.parse(readFileSync('dist/page/assets.json', 'utf8')) as Asset[];
export const bodyOf = ({ gzip }: Asset): Buffer => gunzipSync(Buffer.from(gzip, 'base64'));

/** What the listener sends with every answer. */
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export interface PageServerOptions {
  /** Where the socket of the daemon is now: another daemon may have another one. */
  readonly socket: () => string | null;
  readonly role?: 'read' | 'control';
}

export interface PageServer extends AsyncDisposable {
  readonly url: string;
}

export async function pageServer({ socket, role = 'control' }: PageServerOptions): Promise<PageServer> {
  const known = new Map(assets().map((asset) => [asset.path, asset]));
  const server = createServer((incoming, response) => {
    const path = incoming.url!.split('?')[0]!;
    response.setHeader('Content-Security-Policy', CSP);
    const asset = known.get(path === '/' ? '/index.html' : path);
    if (asset) response.writeHead(200, { 'Content-Type': asset.type }).end(bodyOf(asset));
    else if (path === '/v1/access') access(response, socket(), role);
    else if (path.startsWith('/v1/')) proxy(incoming, response, socket());
    else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function access(response: ServerResponse, socket: string | null, role: string): void {
  if (socket === null) response.destroy();
  else
    response
      .writeHead(200, { 'Content-Type': 'application/json' })
      .end(JSON.stringify({ schema_version: 1, role, project: 'test' }));
}

/** Without a daemon nobody answers, as when the listener is gone with it. */
function proxy(incoming: IncomingMessage, response: ServerResponse, socketPath: string | null): void {
  if (socketPath === null) return void response.destroy();
  const { origin: _o, referer: _r, ...headers } = incoming.headers;
  const sent = request(
    { socketPath, method: incoming.method, path: incoming.url, headers: { ...headers, host: 'localhost' } },
    (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
      answer.once('close', () => response.destroy());
    },
  );
  sent.once('error', () => response.destroy());
  response.once('close', () => sent.destroy());
  incoming.pipe(sent);
}
