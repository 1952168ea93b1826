/**
 * The page of a project on another machine: served on the loopback of this one for as long as somebody looks, behind the same guard and with
 * tokens of its own. What may pass goes to the daemon there through its forwarded socket; nothing is opened on the other machine.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as ask, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type Address, callJson, connectionError, over } from '../api/client/call.ts';
import { STREAMING } from '../api/route.ts';
import { type Admitted, createGuardedServer } from '../api/server.ts';
import type { StreamSet } from '../api/streams.ts';
import { systemClock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { pageFile } from '../base/program-file.ts';
import { loadPage } from '../dashboard/assets.ts';
import { openDoor } from '../dashboard/door.ts';
import { pageOrigin } from '../dashboard/rules/access.ts';
import type { AccessView, PageView } from '../dashboard/rules/views.ts';
import type { DashboardSpec } from '../dashboard/spec.ts';
import { roleFinder, type Tokens } from '../dashboard/tokens.ts';

const HOST = '127.0.0.1';
const SPEC: DashboardSpec = {
  ...{ host: HOST, port: 0, allowRemote: false, tls: null, reverseProxy: [], hosts: [], metrics: 'token' },
};
const ACCESS_MS = 15_000;

/** Of a request, what the daemon there looks at. */
const PASSED_ON = ['accept', 'content-type', 'if-none-match', 'last-event-id'] as const;
/** Of its answer, what is not about the connection. */
const PASSED_BACK = ['content-type', 'cache-control', 'etag', 'content-disposition', 'retry-after'] as const;

export interface RemotePage extends AsyncDisposable {
  find(role: PageView['role']): PageView;
}

/** Until it is disposed of. `address`: the way to the daemon. */
export async function serveRemotePage(address: Address, log: Log): Promise<RemotePage> {
  const token = () => randomBytes(32).toString('base64url');
  const tokens: Tokens = { control: token(), read: token(), metrics: token() };
  const page = loadPage(pageFile());
  const door = openDoor({ clock: systemClock, log, spec: SPEC, page, roleOf: roleFinder(tokens) });
  const server = createGuardedServer({ log, door }, (streams) => (route, call) => {
    if (route.path === '/v1/access') return accessOf(address, call);
    return passOn(address, call, streams);
  });
  const isListening = once(server, 'listening');
  server.listen({ host: HOST, port: 0, exclusive: true });
  await isListening;
  const origin = `${pageOrigin(HOST, (server.address() as AddressInfo).port, false)}/`;
  return {
    find: (role) => ({ schema_version: 1, url: `${origin}#token=${tokens[role]}`, address: origin, role }),
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The daemon there takes everybody for its owner; what the token allows is known here only. */
async function accessOf(address: Address, { access }: Admitted): Promise<AccessView> {
  const theirs = await callJson<AccessView>(address, { method: 'GET', path: '/v1/access', timeoutMs: ACCESS_MS });
  return { ...theirs, role: access === 'read' ? 'read' : 'control' };
}

async function passOn(address: Address, call: Admitted, streams: StreamSet): Promise<typeof STREAMING> {
  const { request, response } = call;
  const gone = new AbortController();
  response.once('close', () => gone.abort(new Error('whoever asked is gone')));
  if (/\btext\/event-stream\b/.test(request.headers.accept ?? '')) streams.add(response, () => response.destroy());
  const answer = await over(address, gone.signal, (socket) => sendTo(socket, call, gone.signal));
  response.statusCode = answer.statusCode ?? 502;
  for (const name of PASSED_BACK) {
    const value = answer.headers[name];
    if (value !== undefined) response.setHeader(name, value);
  }
  pour(answer, response);
  return STREAMING;
}

/** An answer that is cut off there is cut off here: it must not look complete. */
function pour(answer: IncomingMessage, response: ServerResponse): void {
  response.flushHeaders();
  answer.pipe(response);
  answer.once('error', () => response.destroy());
  answer.once('close', () => void (answer.complete || response.destroy()));
}

async function sendTo(socket: string, { request, body }: Admitted, signal: AbortSignal): Promise<IncomingMessage> {
  const payload = request.method === 'POST' ? Buffer.from(JSON.stringify(body)) : null;
  const kept = PASSED_ON.flatMap((name) => {
    const value = request.headers[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const sent = ask({
    ...{ createConnection: () => connect(socket), method: request.method, path: request.url, signal },
    headers: {
      ...Object.fromEntries(kept),
      Host: 'keepwell',
      ...(payload === null ? {} : { 'Content-Length': payload.length }),
    },
  });
  sent.end(payload ?? undefined);
  return await new Promise((resolve, reject) => {
    sent.once('response', resolve);
    sent.on('error', (error) => reject(connectionError(error, signal)));
  });
}
