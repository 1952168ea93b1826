/** A private Docker Engine for a benchmark, and the few calls that it needs. It goes when this process does. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';

/** The only image in it: busybox. */
export const IMAGE = 'keepwell-test';

export async function openEngine() {
  const keeper = spawn(process.execPath, [resolve('test/support/engine-keeper.mjs')], {
    detached: true, // an interrupt at the keyboard is not for it
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exit = once(keeper, 'exit');
  const lines = createInterface(keeper.stdout)[Symbol.asyncIterator]();
  const answer = async () => JSON.parse((await lines.next()).value ?? '{}');
  const told = (order) => {
    keeper.stdin.write(`${order}\n`);
    return answer();
  };
  const { socketPath, pid, problem } = await answer();
  if (!socketPath) throw new Error(problem ?? 'no Docker Engine came up');
  const engine = {
    socketPath,
    pid,
    /** kill -9 of the Engine itself, and a new one over the same data. */
    kill: () => told('SIGKILL'),
    begin: async () => {
      engine.pid = (await told('begin')).pid;
    },
    call: (method, path, body) => call(socketPath, method, path, body),
    events: (filters, onEvent) => events(socketPath, filters, onEvent),
    /** Runs a command in a container and does not wait for it. */
    exec: async (container, command) => {
      const { Id } = await call(socketPath, 'POST', `/containers/${container}/exec`, { Cmd: command });
      await call(socketPath, 'POST', `/exec/${Id}/start`, { Detach: true });
    },
    close: async () => {
      keeper.stdin.end();
      await exit;
    },
  };
  return engine;
}

async function call(socketPath, method, path, body) {
  const headers = { 'Content-Type': 'application/json' };
  const asked = request({ socketPath, method, path, headers, agent: false });
  asked.end(body === undefined ? undefined : JSON.stringify(body));
  const [answer] = await once(asked, 'response');
  const text = await textOf(answer);
  if (answer.statusCode >= 400) throw new Error(`${method} ${path}: ${text}`);
  return text === '' ? null : JSON.parse(text);
}

async function textOf(stream) {
  let text = '';
  for await (const chunk of stream.setEncoding('utf8')) text += chunk;
  return text;
}

/** Resolves once the Engine listens, with the function that ends it. */
async function events(socketPath, filters, onEvent) {
  const path = `/events?filters=${encodeURIComponent(JSON.stringify(filters))}`;
  const asked = request({ socketPath, path, agent: false });
  asked.on('error', () => {}); // the Engine has ended
  asked.end();
  const [answer] = await once(asked, 'response');
  const lines = createInterface(answer);
  lines.on('line', (line) => onEvent(JSON.parse(line)));
  for (const stream of [lines, answer]) stream.on('error', () => {}); // the Engine has ended
  return () => asked.destroy();
}
