/** Passes when an HTTP request gets a good answer. A fresh connection each time, and redirects are not followed. */
import type { OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { hangUp } from '../base/hang-up.ts';
import type { Inquiry } from '../supervision/ports/prober.ts';
import type { Answer, ProbeQuestion } from '../supervision/rules/health/probe.ts';
import { fail, pass } from './answers.ts';
import { type Deadline, within } from './deadline.ts';
import { inquiry } from './inquiry.ts';
import type { Names } from './names/names.ts';
import { connect } from './net/connect.ts';
import { head, isPlainPath, plainStatus, search } from './net/request.ts';
import { secure } from './net/tls.ts';

type HttpQuestion = Extract<ProbeQuestion, { kind: 'http' }>;

const MAX_BODY_BYTES = 10 * 1024;
const DEFAULT_PORTS = { http: 80, https: 443 };

export const httpInquiry = (question: HttpQuestion, names: Names): Inquiry =>
  inquiry((timeoutMs, signal) =>
    within(timeoutMs, signal, async (deadline) => {
      const socket = await reach(question, names, deadline);
      let hearOut = false;
      try {
        const answer = await exchange(question, socket, deadline);
        hearOut = true; // a server that cannot write all of its answer takes that for an error
        return answer;
      } finally {
        void hangUp(socket, { hearOut });
      }
    }),
  );

async function reach(question: HttpQuestion, names: Names, deadline: Deadline): Promise<Socket> {
  const { scheme, host, insecure } = question;
  const socket = await connect(question, names, deadline);
  if (scheme === 'http') return socket;
  // The name of a virtual host is the one in its header; a port and the brackets of an address are not part of it.
  const name =
    given(question, 'host')
      ?.replace(/:\d+$/, '')
      .replace(/^\[|\]$/g, '') ?? host;
  return secure(socket, { name, insecure, protocol: 'http/1.1' }, deadline);
}

async function exchange(question: HttpQuestion, socket: Socket, deadline: Deadline): Promise<Answer> {
  const { method, path, contains } = question;
  const options = {
    method,
    path,
    host: bareHost(question),
    port: question.port,
    defaultPort: DEFAULT_PORTS[question.scheme],
    headers: headersOf(question),
  };
  if (contains === null && isPlainPath(path)) {
    const host = given(question, 'host') === undefined ? { host: hostHeader(question) } : {};
    const headers = { ...host, ...options.headers };
    return judged(await plainStatus({ method, path, headers }, socket, deadline), question);
  }
  const response = await head(options, socket, deadline);
  const { statusCode: status = 0 } = response;
  if (contains === null || !isGood(status, question)) return judged(status, question);
  deadline.missing = `HTTP ${status}, but no whole body`;
  const text = JSON.stringify(contains);
  switch (await search(response, { text: contains, maxBytes: MAX_BODY_BYTES }, deadline)) {
    case 'found':
      return pass(`HTTP ${status} with ${text}`);
    case 'not-there':
      return fail(`HTTP ${status}, but ${text} is not in the answer`);
    case 'not-in-the-part-read':
      return fail(`HTTP ${status}, but ${text} is not in the first 10 KiB of the answer`);
    case 'cut-off':
      return fail(`HTTP ${status}, but the connection was closed in the middle of the answer`);
  }
}

const judged = (status: number, question: HttpQuestion): Answer =>
  isGood(status, question) ? pass(`HTTP ${status}`) : fail(`HTTP ${status}`);

/** For the Host header, where the zone of an address means nothing. */
const bareHost = ({ host }: Pick<HttpQuestion, 'host'>): string => host.replace(/%.*$/, '');

/** As Node would write it. */
function hostHeader({ host, port, scheme }: HttpQuestion): string {
  const name = bareHost({ host });
  const bracketed = name.includes(':') ? `[${name}]` : name;
  return port === DEFAULT_PORTS[scheme] ? bracketed : `${bracketed}:${port}`;
}

const isGood = (status: number, { status: wanted }: HttpQuestion): boolean =>
  wanted === null ? status >= 200 && status <= 399 : wanted.includes(status);

function given({ headers }: HttpQuestion, wanted: string): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1];
}

function headersOf(question: HttpQuestion): OutgoingHttpHeaders {
  const defaults = { 'user-agent': 'keepwell-probe', accept: '*/*' };
  const missing = Object.entries(defaults).filter(([name]) => given(question, name) === undefined);
  return { ...Object.fromEntries(missing), ...question.headers, connection: 'close' };
}
