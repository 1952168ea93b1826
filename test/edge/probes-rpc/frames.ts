/** HTTP/2 by hand, for servers that misbehave below gRPC. */
import type { Socket } from 'node:net';
import { type Served, serve } from '../probes/probe-world.ts';

const TYPES = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goaway: 7 } as const;
export const END_STREAM = 1;
const END_HEADERS = 4;

export function frame(
  type: keyof typeof TYPES,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = TYPES[type];
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

export function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}

/** What a server says first, and that it has heard the client's. */
export const HELLO = Buffer.concat([frame('settings', 0, 0), frame('settings', 1, 0)]);

const short = (text: string): Buffer => Buffer.concat([Buffer.of(text.length), Buffer.from(text)]);

/** Headers of the first stream, none of them compressed; names and values shorter than 127 characters. */
export const headers = (fields: Readonly<Record<string, string>>, flags = 0): Buffer =>
  frame(
    'headers',
    END_HEADERS | flags,
    1,
    Buffer.concat(Object.entries(fields).flatMap(([name, value]) => [Buffer.of(0), short(name), short(value)])),
  );

export const GOOD = headers({ ':status': '200', 'content-type': 'application/grpc' });
export const OK = headers({ 'grpc-status': '0' }, END_STREAM);

/** A message as it is on its way; `length`: what it claims to be. */
export const message = (bytes: Buffer, { flag = 0, length = bytes.length } = {}): Buffer =>
  Buffer.concat([Buffer.of(flag), numbers(length), bytes]);

/** `HealthCheckResponse { status: SERVING }` */
export const SERVING = Buffer.of(8, 1);

export const data = (bytes: Buffer, flags = 0): Buffer => frame('data', flags, 1, bytes);

/** Does this once the client has said something. */
export const whenAsked = (act: (socket: Socket) => void): Promise<Served> =>
  serve((socket) => socket.once('data', () => act(socket)));

export const answering = (...parts: readonly Buffer[]): Promise<Served> =>
  whenAsked((socket) => socket.write(Buffer.concat([HELLO, ...parts])));
