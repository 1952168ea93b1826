/** The sockets of the network that a process sees, by inode: "tcp 127.0.0.1:7234 listening", "tcp 10.0.0.5:40412 -> 10.0.0.9:5432". */
import { closeSync, openSync, readSync } from 'node:fs';

export type SocketTables = ReadonlyMap<string, string>;

/** A machine may have hundreds of thousands: the first few thousand have to do. */
const MAX_BYTES = 512 * 1024;
const LISTENING = '0A';
const ESTABLISHED = '01';
const STATES: Readonly<Record<string, string>> = {
  [ESTABLISHED]: '',
  '02': ' (connecting)',
  '08': ' (closed by the other side)',
};

export function socketTables(pid: number): SocketTables {
  const tables = new Map<string, string>();
  for (const kind of ['tcp', 'tcp6', 'udp', 'udp6'] as const) {
    for (const line of head(`/proc/${pid}/net/${kind}`).split('\n').slice(1)) {
      const [, local, remote, state, , , , , , inode] = line.trim().split(/\s+/);
      if (local === undefined || remote === undefined || state === undefined || !inode || inode === '0') continue;
      tables.set(inode, describe(kind.slice(0, 3), local, remote, state));
    }
  }
  for (const line of head(`/proc/${pid}/net/unix`).split('\n').slice(1)) {
    const [, , , , , , inode, path] = line.trim().split(/\s+/);
    if (inode && path) tables.set(inode, `unix ${path}`);
  }
  return tables;
}

/** The inode of the socket of this line of /proc/net/tcp, if somebody listens with it on this port. */
export function isListeningOn(line: string, port: number): string | null {
  const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
  if (state !== LISTENING || !inode || Number.parseInt(local?.split(':')[1] ?? '', 16) !== port) return null;
  return inode;
}

function describe(kind: string, local: string, remote: string, state: string): string {
  if (kind === 'tcp' && state === LISTENING) return `tcp ${address(local)} listening`;
  if (/^0+:0+$/.test(remote)) return `${kind} ${address(local)}`;
  return `${kind} ${address(local)} -> ${address(remote)}${STATES[state] ?? ' (closing)'}`;
}

/** "0100007F:1C42" is 127.0.0.1:7234: words in the order of this machine, which is little-endian wherever Node runs here. */
export function address(hex: string): string {
  const [ip = '', port = ''] = hex.split(':');
  const bytes = (ip.match(/.{8}/g) ?? []).flatMap((word) => (word.match(/../g) ?? []).reverse());
  const number = Number.parseInt(port, 16);
  const isMapped = bytes.length === 16 && bytes.slice(0, 12).join('') === '00000000000000000000ffff'.toUpperCase();
  if (bytes.length === 4 || isMapped)
    return `${bytes
      .slice(-4)
      .map((byte) => Number.parseInt(byte, 16))
      .join('.')}:${number}`;
  const groups = Array.from({ length: 8 }, (_, at) => bytes[at * 2]! + bytes[at * 2 + 1]!);
  const text = groups.map((group) => group.toLowerCase().replace(/^0{1,3}/, '')).join(':');
  return `[${text.replace(/(?:^|:)(?:0(?::|$)){2,}/, '::')}]:${number}`;
}

function head(path: string): string {
  let fd = -1;
  try {
    fd = openSync(path, 'r');
    const buffer = Buffer.allocUnsafe(MAX_BYTES);
    let length = 0;
    for (let read = -1; read !== 0 && length < MAX_BYTES; length += read)
      read = readSync(fd, buffer, length, MAX_BYTES - length, null);
    return buffer.toString('latin1', 0, length);
  } catch {
    return '';
  } finally {
    if (fd >= 0) closeSync(fd);
  }
}
