/** A connection to PostgreSQL: one question at a time, over TCP, TLS or a unix socket. Whatever happens to it is told to whoever asked. */
import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import {
  Authentication,
  columnsOf,
  connectionError,
  goodBye,
  MessageReader,
  question,
  rowOf,
  type ServerError,
  type ServerMessage,
  serverError,
  sslRequest,
  startup,
} from './protocol.ts';

export type Row = Readonly<Record<string, string | null>>;

export interface ClientOptions {
  /** A directory: the unix socket in it. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string | null;
  readonly database: string;
  /** Null: without TLS. */
  readonly tls: ConnectionOptions | null;
  /** Without TLS when the server has none. */
  readonly isTlsOptional: boolean;
  /** Settings of the session. */
  readonly settings: Readonly<Record<string, string>>;
}

const TLS_YES = 'S'.charCodeAt(0);
const TLS_NO = 'N'.charCodeAt(0);
const KEEP_ALIVE_MS = 30_000;

export class Client {
  readonly #options: ClientOptions;
  #socket: Socket | null = null;
  #isEncrypted = false;
  #lost: Error | null = null;
  readonly #reader = new MessageReader();
  readonly #messages: ServerMessage[] = [];
  #heard: (() => void) | null = null;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  isLost(): boolean {
    return this.#lost !== null;
  }

  /** Connects and logs in. Throws what the network, TLS or the server says. */
  async open(): Promise<void> {
    const { host, port, user, password, database, settings, tls } = this.#options;
    const isLocal = host.startsWith('/');
    const socket = isLocal ? connect(`${host}/.s.PGSQL.${port}`) : connect({ host, port });
    this.#use(socket);
    await this.#until(socket, 'connect');
    socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
    const last = tls !== null && !isLocal ? await this.#encrypted(socket, tls) : socket;
    last.on('data', (chunk: Buffer) => this.#take(chunk));
    last.write(startup({ user, database, client_encoding: 'UTF8', ...settings }));
    const authentication = new Authentication({ user, password, isPrivate: isLocal || this.#isEncrypted });
    for (;;) {
      const message = await this.#next();
      if (message.type === 'E') throw serverError(message);
      if (message.type === 'Z') return;
      if (message.type !== 'R') continue;
      const answer = await authentication.answer(message);
      if (answer !== null) last.write(answer);
    }
  }

  /** Never two at a time. Throws a ServerError, or why the connection broke. */
  async ask(sql: string, values: readonly (string | null)[]): Promise<readonly Row[]> {
    if (this.#lost !== null) throw this.#lost;
    this.#socket!.write(question(sql, values));
    let columns: readonly string[] = [];
    const rows: Row[] = [];
    let error: ServerError | null = null;
    for (;;) {
      const message = await this.#next();
      if (message.type === 'T') columns = columnsOf(message);
      else if (message.type === 'D') rows.push(rowOf(message, columns));
      else if (message.type === 'E') error = serverError(message);
      else if (message.type === 'Z') break;
    }
    if (error !== null) throw error;
    return rows;
  }

  /** Whoever waits for an answer is told `why`. */
  close(why: Error = connectionError('CONNECTION_ENDED', 'the connection was closed')): void {
    const socket = this.#socket;
    if (this.#lost === null && socket?.writable) socket.write(goodBye());
    this.#lose(why);
    socket?.destroy();
  }

  #use(socket: Socket): void {
    this.#socket = socket;
    socket.on('error', (error) => this.#lose(error));
    socket.on('close', () =>
      this.#lose(connectionError('CONNECTION_CLOSED', 'the connection was closed by the other side')),
    );
  }

  #lose(error: Error): void {
    this.#lost ??= error;
    this.#heard?.();
  }

  /** The answer is one byte. More would come from somebody in between, and must not be taken for the server's. */
  async #encrypted(socket: Socket, tls: ConnectionOptions): Promise<Socket> {
    const answered = new Promise<Buffer>((resolve) => socket.once('data', resolve));
    socket.write(sslRequest());
    const answer = await Promise.race([answered, this.#until(socket, 'close')]);
    if (!Buffer.isBuffer(answer)) throw this.#lost!;
    if (answer.length === 1 && answer[0] === TLS_NO && this.#options.isTlsOptional) return socket;
    if (answer.length !== 1 || answer[0] !== TLS_YES)
      throw connectionError('CONNECTION_WITHOUT_TLS', 'the server has no TLS, and sslmode asks for it');
    const secure = connectTls({ ...tls, socket });
    this.#use(secure);
    await this.#until(secure, 'secureConnect');
    this.#isEncrypted = true;
    return secure;
  }

  async #until(socket: Socket, event: 'connect' | 'secureConnect' | 'close'): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      socket.once(event, () => resolve());
      if (event === 'close') return;
      socket.once('error', reject);
      socket.once('close', () =>
        reject(this.#lost ?? connectionError('CONNECTION_CLOSED', 'the connection was closed by the other side')),
      );
    });
  }

  #take(chunk: Buffer): void {
    try {
      this.#messages.push(...this.#reader.take(chunk));
      this.#heard?.();
    } catch (error) {
      this.close(error as Error);
    }
  }

  /** What came before the end is still heard: the server says why it goes. */
  async #next(): Promise<ServerMessage> {
    for (;;) {
      const message = this.#messages.shift();
      if (message !== undefined) return message;
      if (this.#lost !== null) throw this.#lost;
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
      this.#heard = null;
    }
  }
}
