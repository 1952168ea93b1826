/** Who holds a port. */
import { type AddressInfo, createServer, type Server } from 'node:net';
import { expect, test } from 'vitest';
import { portHolder } from '../../../src/drivers/process/port-holder.ts';

async function listening(host: string): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return server;
}

test.each(['127.0.0.1', '::'])('the process that listens on %s is named, and a free port has nobody', async (host) => {
  const server = await listening(host);
  const { port } = server.address() as AddressInfo;
  expect(portHolder(port)).toMatch(new RegExp(`^.+ \\(pid ${process.pid}\\)$`));
  await new Promise((resolve) => server.close(resolve));
  expect(portHolder(port)).toBeNull();
});
