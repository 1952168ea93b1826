/** What the listener of the page offers to the API and needs from it. */
import type { IncomingMessage, Server } from 'node:http';
import type { Access, TokenRole } from './rules/access.ts';

/** Whom a listener lets in, and as whom. */
export interface Door {
  /** Throws REQUEST_REFUSED for what comes from another web site, or by a name that is not ours. */
  admit(request: IncomingMessage): void;
  /** What its token allows; null: it has none. Throws TOKEN_WRONG and TOO_MANY_WRONG_TOKENS. */
  accessOf(request: IncomingMessage): Access | null;
  /** The part of the page at this path; null: there is none. Its paths are fixed: nothing is looked for on the disk. */
  asset(path: string): Asset | null;
  /** Sent with every answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly metrics: 'token' | 'open' | 'off';
}

export interface Asset {
  readonly type: string;
  readonly etag: string;
  /** Its name changes with its content. */
  readonly isHashed: boolean;
  readonly plain: Buffer;
  /** Null: not worth it. */
  readonly gzip: Buffer | null;
}

/** PEM texts. */
export interface TlsKeys {
  readonly cert: string;
  readonly key: string;
}

/** Makes a server over the routes that is not listening yet. */
export type Serve = (door: Door, tls: TlsKeys | null) => Server;

/** Where the page is, for whom. */
export interface PageAddress {
  readonly origin: string;
  token(role: TokenRole): string;
}
