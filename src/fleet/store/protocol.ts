/**
 * As much of PostgreSQL's protocol (version 3) as one client needs that asks one thing at a time: messages out and in, and how a password is
 * proved. All values travel as text.
 */
import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** An error in the words of the server: `code` is its SQLSTATE. */
export class ServerError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** What there is to say about the connection itself, by a code of our own. */
export const connectionError = (code: string, message: string): Error => Object.assign(new Error(message), { code });

// Messages to the server.

const VERSION_3 = 196_608;
const SSL_REQUEST = 80_877_103;

const text = (value: string): Buffer => Buffer.from(`${value}\0`, 'utf8');
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const int16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
};

function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type, 'latin1'), int32(body.length + 4), body]);
}

export const sslRequest = (): Buffer => Buffer.concat([int32(8), int32(SSL_REQUEST)]);

export function startup(parameters: Readonly<Record<string, string>>): Buffer {
  const pairs = Object.entries(parameters).flatMap(([name, value]) => [text(name), text(value)]);
  const body = Buffer.concat([int32(VERSION_3), ...pairs, Buffer.from([0])]);
  return Buffer.concat([int32(body.length + 4), body]);
}

/** Several statements at once can be asked only without values. */
export const question = (sql: string, values: readonly (string | null)[]): Buffer =>
  values.length === 0
    ? message('Q', text(sql))
    : Buffer.concat([
        message('P', text(''), text(sql), int16(0)),
        message('B', text(''), text(''), int16(0), int16(values.length), ...values.map(valueOf), int16(0)),
        message('D', Buffer.from('P', 'latin1'), text('')),
        message('E', text(''), int32(0)),
        message('S'),
      ]);

function valueOf(value: string | null): Buffer {
  if (value === null) return int32(-1);
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([int32(bytes.length), bytes]);
}

export const goodBye = (): Buffer => message('X');
export const passwordMessage = (password: string): Buffer => message('p', text(password));

// Messages from the server.

export interface ServerMessage {
  readonly type: string;
  readonly body: Buffer;
}

/** A status with very many components is far below; what is longer is no answer of a database. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const HEAD_BYTES = 5;

/** Cuts what arrives into messages. Throws when it cannot be PostgreSQL that speaks. */
export class MessageReader {
  #waiting: Buffer[] = [];
  #bytes = 0;

  take(chunk: Buffer): readonly ServerMessage[] {
    this.#waiting.push(chunk);
    this.#bytes += chunk.length;
    const messages: ServerMessage[] = [];
    while (this.#bytes >= HEAD_BYTES) {
      const head = this.#joined(HEAD_BYTES);
      const length = head.readInt32BE(1);
      if (length < 4 || length > MAX_MESSAGE_BYTES)
        throw connectionError('CONNECTION_NOT_POSTGRES', 'what answers there does not speak as PostgreSQL does');
      if (this.#bytes < length + 1) break;
      const all = this.#joined(length + 1);
      messages.push({ type: String.fromCharCode(all[0]!), body: all.subarray(HEAD_BYTES, length + 1) });
      this.#waiting = [all.subarray(length + 1), ...this.#waiting.slice(1)];
      this.#bytes -= length + 1;
    }
    return messages;
  }

  /** The first piece, with as many of the next as are needed: a long message is put together once. */
  #joined(bytes: number): Buffer {
    const [first] = this.#waiting;
    if (first!.length >= bytes) return first!;
    const all = Buffer.concat(this.#waiting);
    this.#waiting = [all];
    return all;
  }
}

export function serverError({ body }: ServerMessage): ServerError {
  const fields = new Map(
    body
      .toString('utf8')
      .split('\0')
      .filter((field) => field !== '')
      .map((field) => [field[0]!, field.slice(1)]),
  );
  return new ServerError(fields.get('C') ?? 'XX000', fields.get('M') ?? 'no reason given');
}

export function columnsOf({ body }: ServerMessage): readonly string[] {
  const names: string[] = [];
  let at = 2;
  for (let left = body.readInt16BE(0); left > 0; left--) {
    const end = body.indexOf(0, at);
    names.push(body.toString('utf8', at, end));
    at = end + 19; // its table, number, type, length, modifier and format
  }
  return names;
}

export function rowOf({ body }: ServerMessage, columns: readonly string[]): Record<string, string | null> {
  const row: Record<string, string | null> = {};
  let at = 2;
  for (const column of columns) {
    const length = body.readInt32BE(at);
    at += 4;
    row[column] = length < 0 ? null : body.toString('utf8', at, at + length);
    at += Math.max(0, length);
  }
  return row;
}

// Who we are: what the server may ask, and what is answered.

export interface Login {
  readonly user: string;
  readonly password: string | null;
  /** Nobody can listen in: TLS, or a unix socket. */
  readonly isPrivate: boolean;
}

const AUTH = { ok: 0, clear: 3, md5: 5, sasl: 10, saslContinue: 11, saslFinal: 12 } as const;
const SCRAM = 'SCRAM-SHA-256';
const KEY_BYTES = 32;
/** The server says how much work the proof is: nobody keeps us busy for ever. */
const MAX_ITERATIONS = 1_000_000;
const NONCE_BYTES = 18;

const derived = promisify(pbkdf2);
const hmac = (key: Buffer, value: string): Buffer => createHmac('sha256', key).update(value).digest();
const sha256 = (value: Buffer): Buffer => createHash('sha256').update(value).digest();
const md5 = (...parts: readonly (string | Buffer)[]): string =>
  parts.reduce((hash, part) => hash.update(part), createHash('md5')).digest('hex');

/** Answers one request after the other, until the server is satisfied. */
export class Authentication {
  readonly #login: Login;
  readonly #nonce = randomBytes(NONCE_BYTES).toString('base64');
  #expected: Buffer | null = null;

  constructor(login: Login) {
    this.#login = login;
  }

  /** Null: nothing is to be answered. Throws when we cannot, or must not. */
  async answer({ body }: ServerMessage): Promise<Buffer | null> {
    const kind = body.readInt32BE(0);
    const rest = body.subarray(4);
    if (kind === AUTH.ok) return null;
    if (kind === AUTH.saslFinal) return this.#verify(rest.toString('utf8'));
    const { user, isPrivate } = this.#login;
    const password = this.#password();
    if (kind === AUTH.clear) {
      if (!isPrivate) throw refusal('it wants the password unencrypted; use sslmode=require or better');
      return passwordMessage(password);
    }
    if (kind === AUTH.md5) return passwordMessage(`md5${md5(md5(password, user), rest)}`);
    if (kind === AUTH.sasl) return this.#begin(rest.toString('utf8').split('\0'));
    if (kind === AUTH.saslContinue) return await this.#prove(rest.toString('utf8'), password);
    throw refusal('it asks for a way to log in that is not known here; use a password');
  }

  #password(): string {
    const { password } = this.#login;
    if (password === null) throw refusal('it wants a password, and the address has none');
    return password;
  }

  #begin(mechanisms: readonly string[]): Buffer {
    if (!mechanisms.includes(SCRAM)) throw refusal(`it does not offer ${SCRAM}`);
    const first = Buffer.from(`n,,n=,r=${this.#nonce}`, 'utf8');
    return message('p', text(SCRAM), int32(first.length), first);
  }

  async #prove(said: string, password: string): Promise<Buffer> {
    const { r = '', s = '', i = '' } = attributes(said);
    const iterations = Number(i);
    if (!r.startsWith(this.#nonce) || r === this.#nonce || !(iterations >= 1 && iterations <= MAX_ITERATIONS))
      throw refusal('what it says about the password makes no sense');
    const salted = await derived(password.normalize('NFKC'), Buffer.from(s, 'base64'), iterations, KEY_BYTES, 'sha256');
    const client = hmac(salted, 'Client Key');
    const final = `c=biws,r=${r}`;
    const all = `n=,r=${this.#nonce},${said},${final}`;
    const signature = hmac(sha256(client), all);
    const proof = Buffer.from(client.map((byte, index) => byte ^ signature[index]!)).toString('base64');
    this.#expected = hmac(hmac(salted, 'Server Key'), all);
    return message('p', Buffer.from(`${final},p=${proof}`, 'utf8'));
  }

  /** A server that does not know the password is not the one we mean. */
  #verify(said: string): null {
    const signature = Buffer.from(attributes(said)['v'] ?? '', 'base64');
    if (this.#expected === null || signature.length !== KEY_BYTES || !timingSafeEqual(signature, this.#expected))
      throw refusal('it does not know the password either, so it is not the server that is meant');
    return null;
  }
}

const refusal = (problem: string): Error => new ServerError('28000', problem);

const attributes = (said: string): Readonly<Record<string, string>> =>
  Object.fromEntries(said.split(',').map((part) => [part.slice(0, 1), part.slice(2)]));
