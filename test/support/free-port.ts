/**
 * Ports for tests that need to know a number before anybody listens on it. A port that the kernel chose and that was closed again may
 * be given to the next one who asks, or to a connection that somebody makes; tests run side by side and do both all the time. So these
 * are below the range the kernel chooses from, and claimed: no other test process gets the same one while this one lives.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type ListenOptions } from 'node:net';

/** Below it are servers that a machine may really have. */
const FIRST = 10_000;
/** Where the kernel chooses from nearly all ports, it can only be hoped that it chooses others. */
const END = Math.max(Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split('\t')[0]), 20_000);

/** A port of 127.0.0.1 that nobody listens on, and that is given to nobody else. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (END - FIRST));
    // In the abstract namespace: it takes neither a file nor a port, and goes with this process.
    const claim = await listening({ path: `\0keepwell-test-port-${port}` });
    if (claim === null) continue;
    claim.unref();
    const probe = await listening({ host: '127.0.0.1', port });
    if (probe === null) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}

/** Null: somebody else has it. */
async function listening(where: ListenOptions) {
  const server = createServer().listen(where);
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return null;
    throw error;
  }
}
