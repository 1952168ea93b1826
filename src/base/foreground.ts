/**
 * What a daemon in the foreground says on its standard output, for journalctl, `docker logs` and whoever looks on. Nobody may hold up
 * supervision by not reading: a pipe is written to without waiting, and what nobody takes is dropped.
 */
import { fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { withoutEscapes } from './pure/escapes.ts';

const STDOUT = 1;
const MAX_WAITING_BYTES = 256 * 1024;

export interface Foreground extends Disposable {
  write(line: string): void;
}

export function openForeground(fd = STDOUT): Foreground {
  const stream = pipeTo(fd);
  return {
    write: (raw) => {
      const line = withoutEscapes(raw).replace(/\p{Cc}/gu, ' '); // it may quote what a component wrote
      if (stream === null) writeNow(fd, line);
      else if (stream.writable && stream.writableLength < MAX_WAITING_BYTES) stream.write(`${line}\n`);
    },
    [Symbol.dispose]: () => {
      stream?.end();
      stream?.unref();
    },
  };
}

/** Null: a file or a terminal, which takes what it is given. */
function pipeTo(fd: number): Socket | null {
  try {
    const stat = fstatSync(fd);
    if (!stat.isFIFO() && !stat.isSocket()) return null;
    const stream = new Socket({ fd, readable: false, writable: true });
    stream.on('error', () => {}); // nobody reads any more: daemon.log has it all
    stream.unref();
    return stream;
  } catch {
    return null;
  }
}

function writeNow(fd: number, line: string): void {
  try {
    writeSync(fd, `${line}\n`);
  } catch {
    // closed, or a full disk: daemon.log has it
  }
}
