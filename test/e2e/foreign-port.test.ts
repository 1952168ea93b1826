import { createServer, type Server } from 'node:net';
import { describe, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

/** A stranger that accepts every connection: this very process. */
async function stranger(): Promise<{ server: Server; port: number } & AsyncDisposable> {
  const server = createServer((socket) => socket.on('error', () => {}).end());
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  const close = () => new Promise<void>((done) => server.close(() => done()));
  return { server, port, [Symbol.asyncDispose]: close };
}

describe('a port that somebody else holds', () => {
  test('is named, and does not make a component ready that is about to find out', async () => {
    await using held = await stranger();
    await using project = new TestProject(`components:
  cache:
    process: { command: [sh, -c, "until test -e go; do sleep 0.05; done; exec node listen.cjs"] }
    readiness: { tcp: ${held.port}, period: 200ms }
    restart: { policy: never }
`);
    project.write('listen.cjs', `require('node:net').createServer().listen(${held.port}, '127.0.0.1');`);
    const up = project.cli('up', '--timeout', '110s');
    await waitFor('the stranger to be named', async () => {
      const { components } = await project.status();
      return components.some(({ note }) => note?.includes('is held by'));
    });
    project.write('go', '');
    const { code, stderr, stdout } = await up;
    expect(stdout).not.toContain('is up');
    expect(stderr).toMatch(new RegExp(`port ${held.port} is held by .* \\(pid ${process.pid}\\), not by cache`));
    expect(stderr).toMatch(/EADDRINUSE|exit code 1/);
    expect(code).toBe(1);
  });

  test('a component that holds its port with a child in a session of its own is ready', async () => {
    const port = await freePort();
    await using project = new TestProject(`components:
  own:
    process: { command: "setsid node listen.cjs & wait", shell: true }
    readiness: { tcp: ${port}, period: 200ms }
  other:
    process: { command: [sleep, "1000"] }
    readiness: { tcp: ${port}, period: 200ms }
    depends_on: { own: ready }
`);
    project.write('listen.cjs', `require('node:net').createServer().listen(${port}, '127.0.0.1');`);
    const { code, stderr } = await project.cli('up', '--timeout', '60s');
    expect(stderr).not.toContain('is held by');
    expect(code).toBe(0);
  });
});
