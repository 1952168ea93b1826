/** A tiny name server: answers what it is told, or nothing at all. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { finallyDo } from './probe-world.ts';

/** Addresses (v4 in the usual form, v6 in full), 'none' for a name that does not exist, 'broken', or 'silent'. */
export type Reply = readonly string[] | 'none' | 'broken' | 'silent';

export interface NameServer {
  /** For `createNames({ servers })`. */
  readonly address: string;
  /** Every question, as "A db.example". */
  readonly asked: readonly string[];
}

const KINDS: Readonly<Record<number, string>> = { 1: 'A', 28: 'AAAA' };
const CODES = { none: 3, broken: 2 } as const;

export async function nameServer(reply: (name: string, kind: string) => Reply): Promise<NameServer> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, kind, end } = parse(query);
    asked.push(`${kind} ${name}`);
    const answer = reply(name, kind);
    if (answer !== 'silent') socket.send(response(query.subarray(0, end), answer, kind), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  finallyDo(async () => {
    const closed = once(socket, 'close');
    socket.close();
    await closed;
  });
  return { address: `127.0.0.1:${socket.address().port}`, asked };
}

function parse(query: Buffer): { readonly name: string; readonly kind: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let size = query[at] ?? 0; size > 0; size = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + size));
    at += size + 1;
  }
  const kind = KINDS[query.readUInt16BE(at + 1)] ?? '?';
  return { name: labels.join('.').toLowerCase(), kind, end: at + 5 };
}

function response(question: Buffer, answer: Exclude<Reply, 'silent'>, kind: string): Buffer {
  const addresses = typeof answer === 'string' ? [] : answer.filter((each) => each.includes(':') === (kind === 'AAAA'));
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180 | (typeof answer === 'string' ? CODES[answer] : 0), 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8); // no further sections
  return Buffer.concat([head, ...addresses.map(record)]);
}

function record(address: string): Buffer {
  const data = address.includes(':')
    ? Buffer.from(
        address
          .split(':')
          .map((group) => group.padStart(4, '0'))
          .join(''),
        'hex',
      )
    : Buffer.from(address.split('.').map(Number));
  const head = Buffer.from([0xc0, 12, 0, data.length === 4 ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, data.length]);
  return Buffer.concat([head, data]);
}
