/**
 * The listener of the page: opened, moved and closed as the configuration says, or opened by hand. What keeps it from opening is said and
 * tried again; nothing else in the daemon waits for it.
 */
import { once } from 'node:events';
import { statSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { everyAligned } from '../base/aligned.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { AppError } from '../base/pure/errors.ts';
import { readRegularFile } from '../base/regular-file.ts';
import type { PageStatus } from '../supervision/rules/views.ts';
import { loadPage } from './assets.ts';
import { openDoor } from './door.ts';
import type { Serve, TlsKeys } from './ports.ts';
import { isLoopback, pageOrigin, plainAddress } from './rules/access.ts';
import type { PageView } from './rules/views.ts';
import type { DashboardSpec } from './spec.ts';
import { loadTokens, roleFinder, type Tokens } from './tokens.ts';

export interface DashboardParts {
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly tokenFile: string;
  /** Where the built page is; null: this installation has none. */
  pageFile(): string | null;
  /** As the configuration says now. */
  configured(): DashboardSpec | null;
  readonly onConfig: (listener: () => void) => void;
  readonly serve: Serve;
  tell(type: string, data: Readonly<Record<string, unknown>>): void;
}

interface Open {
  readonly key: string;
  readonly server: Server;
  readonly origin: string;
  readonly tokens: Tokens;
}

/** How soon it is tried again, and how soon new tokens or certificates are noticed. */
const LOOK_MS = 5_000;
const MAX_PEM_BYTES = 256 * 1024;

/** For `keepwell dashboard` where the configuration has none. */
const BY_HAND: DashboardSpec = {
  ...{ host: '127.0.0.1', port: 0, allowRemote: false, tls: null, reverseProxy: [], hosts: [], metrics: 'token' },
};

export class Dashboard {
  readonly #parts: DashboardParts;
  #byHand: DashboardSpec | null = null;
  #open: Open | null = null;
  #problem: string | null = null;
  #look: Disposable | null = null;
  #isClosed = false;
  /** One change after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(parts: DashboardParts) {
    this.#parts = parts;
    parts.onConfig(() => void this.#settle());
  }

  /** Opens it if the configuration wants it. Nobody waits for that. */
  begin(): void {
    void this.#settle();
  }

  view(): PageStatus | null {
    if (this.#wanted() === null) return null;
    return { address: this.#open && `${this.#open.origin}/`, problem: this.#problem };
  }

  /** Where it is. Rejects with DASHBOARD_CLOSED. */
  async find(role: PageView['role']): Promise<PageView> {
    if (this.#isClosed) throw new AppError('DAEMON_CLOSING');
    if (this.#wanted() === null) this.#byHand = BY_HAND;
    await this.#settle();
    if (this.#open === null)
      throw new AppError('DASHBOARD_CLOSED', { problem: this.#problem ?? 'it is just closing.' });
    const address = `${this.#open.origin}/`;
    return { schema_version: 1, url: `${address}#token=${this.#open.tokens[role]}`, address, role };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#settle();
  }

  #wanted(): DashboardSpec | null {
    return this.#isClosed ? null : (this.#parts.configured() ?? this.#byHand);
  }

  /** Never rejects. */
  #settle(): Promise<void> {
    this.#last = this.#last.then(() => this.#bringAbout(this.#wanted()));
    return this.#last;
  }

  async #bringAbout(spec: DashboardSpec | null): Promise<void> {
    this.#watch(spec !== null);
    if (spec === null) {
      await this.#shut();
      this.#problem = null;
      return;
    }
    try {
      const tokens = loadTokens(this.#parts.tokenFile);
      if (this.#open?.key === keyOf(spec, tokens, this.#parts.pageFile())) return;
      const tls = spec.tls && readKeys(spec.tls);
      await this.#shut();
      this.#open = await this.#listen(spec, tokens, tls);
      this.#problem = null;
      this.#parts.log.info('the page is served', { address: this.#open.origin });
      this.#parts.tell('dashboard.opened', { address: `${this.#open.origin}/` });
    } catch (error) {
      await this.#shut(); // it must not go on with tokens or an address that are no longer meant
      this.#fail(error as Error);
    }
  }

  async #listen(spec: DashboardSpec, tokens: Tokens, tls: TlsKeys | null): Promise<Open> {
    const { clock, log, serve, pageFile } = this.#parts;
    const file = pageFile();
    const page = loadPage(file);
    if (page.problem !== null) log.warn('the page itself is missing; its API is served', { problem: page.problem });
    const server = serve(openDoor({ clock, log, spec, page, roleOf: roleFinder(tokens) }), tls);
    try {
      const isListening = once(server, 'listening');
      server.listen({ host: spec.host, port: spec.port, exclusive: true });
      await isListening;
    } catch (error) {
      throw new Error(whyNot(error as NodeJS.ErrnoException, spec));
    }
    server.on('error', (error) => log.warn('the listener of the page has a problem', { problem: error.message }));
    const { address, port } = server.address() as AddressInfo;
    if (!spec.allowRemote && !isLoopback(plainAddress(address))) {
      await stop(server);
      throw new Error(`${spec.host} is ${address}, which other machines can reach, and allow_remote is not set.`);
    }
    const kept = spec === this.#byHand ? { ...spec, port } : spec; // opened anew by hand, it is where it was
    if (kept !== spec) this.#byHand = kept;
    return { key: keyOf(kept, tokens, file), server, origin: originFor(spec, address, port), tokens };
  }

  async #shut(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    if (open === null) return;
    await stop(open.server);
    this.#parts.log.info('the page is no longer served', { address: open.origin });
    if (!this.#isClosed) this.#parts.tell('dashboard.closed', { address: `${open.origin}/` });
  }

  /** The same problem is said once. */
  #fail({ message }: Error): void {
    if (message === this.#problem) return;
    this.#problem = message;
    this.#parts.log.warn('the page cannot be served; trying again', { problem: message });
    this.#parts.tell('dashboard.failed', { problem: message });
  }

  #watch(isWanted: boolean): void {
    if (isWanted) this.#look ??= everyAligned(LOOK_MS, () => void this.#settle());
    else {
      this.#look?.[Symbol.dispose]();
      this.#look = null;
    }
  }
}

/** What a person types: behind a proxy its origin, else the address, and for all addresses the one of this machine itself. */
function originFor({ host, tls, reverseProxy, hosts }: DashboardSpec, address: string, port: number): string {
  const isEvery = address === '0.0.0.0' || address === '::';
  if (reverseProxy.length > 0 && (isEvery || !isLoopback(plainAddress(address)))) return reverseProxy[0]!;
  const [named = isEvery ? '127.0.0.1' : host] = hosts;
  return pageOrigin(named, port, tls !== null);
}

async function stop(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** What makes another listener: another address, other tokens, renewed certificates, another page. */
const keyOf = (spec: DashboardSpec, tokens: Tokens, page: string | null): string =>
  JSON.stringify([spec, tokens, [spec.tls?.cert, spec.tls?.key, page].map((file) => file && stampOf(file))]);

const stampOf = (file: string): string => {
  const { ino, mtimeMs, size } = statSync(file, { throwIfNoEntry: false }) ?? { ino: 0, mtimeMs: 0, size: 0 };
  return `${ino} ${mtimeMs} ${size}`;
};

function readKeys({ cert, key }: NonNullable<DashboardSpec['tls']>): TlsKeys {
  const read = (what: string, file: string): string => {
    try {
      return readRegularFile(file, { maxBytes: MAX_PEM_BYTES, follow: true });
    } catch (error) {
      throw new Error(`the ${what} of tls cannot be read: ${(error as Error).message}`);
    }
  };
  return { cert: read('cert', cert), key: read('key', key) };
}

function whyNot({ code, message }: NodeJS.ErrnoException, { host, port, tls }: DashboardSpec): string {
  if (code === 'EADDRINUSE') return `another program listens on ${host}:${port} already.`;
  if (code === 'EADDRNOTAVAIL') return `this machine has no address ${host}.`;
  if (code === 'EACCES') return `this user may not listen on port ${port}; ports from 1024 on need no rights.`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return `nobody knows the name ${host}.`;
  return tls !== null && code?.startsWith('ERR_OSSL') ? `cert and key of tls do not work: ${message}` : message;
}
