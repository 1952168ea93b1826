/** Who holds a port. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { expect, test } from 'vitest';
import { portHolder } from '../../../src/drivers/process/port-holder.ts';

async function listening(host: string): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return server;
}

test.each(['127.0.0.1', '::'])(
  'the process that listens on %s is named, and a port without a listener has nobody',
  async (host) => {
    const server = await listening(host);
    const { port } = server.address() as AddressInfo;
    expect(portHolder(port)).toMatch(new RegExp(`^.+ \\(pid ${process.pid}\\)$`));
    // The other end of a connection has its port as long as it is open: a port that was closed again is anybody's.
    const client = connect(port, host === '::' ? '::1' : host);
    await once(client, 'connect');
    expect(portHolder(client.localPort!)).toBeNull();
    client.destroy();
    await new Promise((resolve) => server.close(resolve));
  },
);
