/** Who holds a port. */
import { spawn } from 'node:child_process';
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

test('of a master and the workers that have its sockets, the master is named', async () => {
  const script =
    "const s=require('net').createServer().listen(0,'127.0.0.1',()=>{const c=require('child_process').spawn(process.execPath,['-e','console.log(1);setInterval(()=>{},1e6)'],{stdio:['ignore','pipe','ignore',s._handle]});c.stdout.once('data',()=>console.log(s.address().port));process.on('SIGTERM',()=>{c.kill();process.exit()})})";
  const master = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(master.stdout, 'data')) as [Buffer];
  expect(portHolder(Number(String(line)))).toBe(`node (pid ${master.pid})`);
  master.kill();
  await once(master, 'exit');
});
