/** The API on a real port of 127.0.0.1, with a door, tokens and a page as the daemon has them. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type ApiServer, createHttpServer, type ServerLimits } from '../../../src/api/server.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { Log } from '../../../src/base/log.ts';
import { loadPage } from '../../../src/dashboard/assets.ts';
import { openDoor } from '../../../src/dashboard/door.ts';
import type { DashboardSpec } from '../../../src/dashboard/spec.ts';
import { loadTokens, roleFinder, type Tokens } from '../../../src/dashboard/tokens.ts';
import { FakeControl } from './fake-control.ts';

/** As the build writes it. */
export const built = (path: string, type: string, text: string) => ({
  ...{ path, type, sha256: createHash('sha256').update(text).digest('hex'), size: Buffer.byteLength(text) },
  gzip: gzipSync(text).toString('base64'),
});

export const INDEX = '<!doctype html><title>Keepwell</title><script type="module" src="/assets/app-1a2b.js"></script>';
export const SCRIPT = 'console.log(1);';
export const PAGE = [
  built('/index.html', 'text/html; charset=utf-8', INDEX),
  built('/assets/app-1a2b.js', 'text/javascript; charset=utf-8', SCRIPT),
];

export const SPEC: DashboardSpec = {
  ...{ host: '127.0.0.1', port: 0, allowRemote: false, tls: null, reverseProxy: [], hosts: [], metrics: 'token' },
};

export interface Ask {
  readonly headers?: Record<string, string | string[]>;
  readonly token?: string | null;
  readonly body?: unknown;
}

export class ServedPage implements AsyncDisposable {
  readonly control = new FakeControl();
  readonly logged: unknown[][] = [];
  readonly directory = mkdtempSync(join(tmpdir(), 'kw-page-'));
  readonly tokens: Tokens;
  readonly server: ApiServer;

  constructor(spec: Partial<DashboardSpec>, limits: Partial<ServerLimits>) {
    const keep = (...line: unknown[]) => void this.logged.push(line);
    const log: Log = { info: keep, warn: keep, error: keep };
    this.tokens = loadTokens(join(this.directory, 'token'));
    const file = join(this.directory, 'assets.json');
    writeFileSync(file, JSON.stringify(PAGE));
    const door = openDoor({
      ...{ clock: systemClock, log, spec: { ...SPEC, ...spec }, page: loadPage(file), roleOf: roleFinder(this.tokens) },
    });
    const metrics = () => Promise.resolve('up 1\n');
    this.server = createHttpServer({ control: this.control, log, version: '0.1.0', door, limits, metrics });
  }

  static async open(spec: Partial<DashboardSpec> = {}, limits: Partial<ServerLimits> = {}): Promise<ServedPage> {
    const served = new ServedPage(spec, limits);
    served.server.listen(0, '127.0.0.1');
    await once(served.server, 'listening');
    return served;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  async ask(method: string, path: string, { headers = {}, token = null, body }: Ask = {}) {
    const sent = request({
      ...{ host: '127.0.0.1', port: this.port, method, path, agent: false },
      headers: {
        Host: this.host,
        ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = await once(sent, 'response');
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const answered = response.headers as IncomingHttpHeaders;
    const isPacked = answered['content-encoding'] === 'gzip';
    const text = (isPacked && bytes.length > 0 ? gunzipSync(bytes) : bytes).toString();
    return { status: response.statusCode as number, headers: answered, text, json: parsed(text) };
  }

  /** Bytes in, bytes out, until the server closes. */
  async talk(bytes: string): Promise<string> {
    const socket = connect(this.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(bytes);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    await once(socket, 'close');
    return Buffer.concat(chunks).toString();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
    rmSync(this.directory, { recursive: true, force: true });
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came back
function parsed(text: string): any {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
