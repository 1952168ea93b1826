import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type TestEngine, useEngine } from '../support/engine.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

const engineFor = useEngine();
const EXAMPLE = resolve('examples/ctf-platform');
const VISITOR = '12345678-1234-1234-1234-123456789abc';

interface Answer {
  readonly session: { readonly sessionId: string; readonly port: number; readonly containerId: string } | null;
  readonly health?: { readonly status: string; readonly reason: string };
  readonly error?: string;
}

/** The platform, in the network of the Engine, where the published ports are; a unix socket leads in from everywhere. */
async function startPlatform(engine: TestEngine, socketPath: string) {
  const [program = '', ...args] = engine.inNetwork([process.execPath, `${EXAMPLE}/platform.mjs`]);
  const child = spawn(program, args, {
    env: { ...process.env, ...engine.env, PORT: socketPath },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  await waitFor('the platform', () => text.includes('open http'));
  return {
    ask: (method: string, path: string) => ask(socketPath, method, path),
    /** It ends by itself: no timer and no connection is left. */
    end: async () => {
      child.kill('SIGTERM');
      const [code] = (await once(child, 'close')) as [number];
      return { code, text };
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}

function ask(socketPath: string, method: string, path: string): Promise<Answer> {
  const headers = { Cookie: `visitor=${VISITOR}` };
  return new Promise((done, fail) => {
    const asked = request({ socketPath, method, path, headers, agent: false }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('end', () => done(JSON.parse(text) as Answer));
    });
    asked.on('error', fail).end();
  });
}

test('the example platform gives a visitor a challenge, heals it when it hangs, and survives its own restart', async ({
  skip,
}) => {
  const engine = engineFor(skip);
  using dir = tempDir();
  const image = spawnSync('sh', [`${EXAMPLE}/make-image.sh`], {
    env: { ...process.env, ...engine.env },
    encoding: 'utf8',
  });
  expect(image).toMatchObject({ status: 0 });

  using platform = await startPlatform(engine, dir.at('first.sock'));
  expect(await platform.ask('GET', '/state')).toEqual({ session: null });
  const { session: first } = await platform.ask('POST', '/start');
  const isHealthy = async () => {
    const { health, session } = await platform.ask('GET', '/state');
    return health?.status === 'healthy' && session;
  };
  await waitFor('a healthy challenge', isHealthy);
  expect((await platform.ask('POST', '/start')).error).toContain('as many sessions');

  await platform.ask('POST', '/hang');
  await waitFor(
    'the hang to be noticed',
    async () => (await platform.ask('GET', '/state')).health?.status !== 'healthy',
  );
  const healed = await waitFor('its recovery', isHealthy);
  expect(healed).toMatchObject({ sessionId: first?.sessionId, containerId: first?.containerId });
  const { code, text } = await platform.end();
  expect(code).toBe(0);
  expect(text).toMatch(/unhealthy health check failed 2 times.*\n.*being restarted[\s\S]*healthy/);

  using next = await startPlatform(engine, dir.at('next.sock'));
  const taken = await waitFor('the take-over', async () => (await next.ask('GET', '/state')).session);
  expect(taken.containerId).toBe(first?.containerId);
  expect((await next.ask('POST', '/stop')).session).toBeNull();
  expect((await next.end()).code).toBe(0);
  await engine.call('DELETE', '/images/ctf-example');
});
