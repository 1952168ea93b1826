/** A real server on a real unix socket in a directory of its own, and a raw way to talk to it. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiServer, createHttpServer, type ServerLimits } from '../../../src/api/server.ts';
import type { Log } from '../../../src/base/log.ts';
import { FakeControl } from './fake-control.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came back
  readonly json: any;
}

export interface Ask {
  readonly headers?: Record<string, string | string[]>;
  readonly body?: unknown;
  /** Sent as it is. */
  readonly raw?: string | Buffer;
}

export class Served implements AsyncDisposable {
  readonly control = new FakeControl();
  readonly logged: unknown[][] = [];
  /** Why it is not ready; empty: it is. */
  readonly reasons: string[] = [];
  readonly server: ApiServer;
  readonly directory = mkdtempSync(join(tmpdir(), 'kw-http-'));
  readonly socket = join(this.directory, 'keepwell.sock');

  constructor(limits: Partial<ServerLimits> = {}) {
    const keep = (...line: unknown[]) => void this.logged.push(line);
    const log: Log = { info: keep, warn: keep, error: keep };
    this.server = createHttpServer({
      control: this.control,
      log,
      version: '0.1.0',
      limits,
      unready: () => this.reasons,
    });
  }

  static async open(limits: Partial<ServerLimits> = {}): Promise<Served> {
    const served = new Served(limits);
    served.server.listen(served.socket);
    await once(served.server, 'listening');
    return served;
  }

  async ask(method: string, path: string, { headers = {}, body, raw }: Ask = {}): Promise<Answer> {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const sent = request({
      socketPath: this.socket,
      method,
      path,
      agent: false,
      headers: { Host: 'localhost', ...type, ...headers },
    });
    sent.end(payload);
    const [response] = await once(sent, 'response');
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    let json: unknown = null;
    try {
      json = JSON.parse(text);
    } catch {}
    return { status: response.statusCode, headers: response.headers, text, json };
  }

  /** Bytes in, bytes out, until the server closes. */
  async talk(bytes: string | Buffer): Promise<string> {
    const socket = connect(this.socket);
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
