/** Tells people by mail, through a mail server of theirs. */

import { z } from 'zod';
import { formatDuration } from '../../../base/pure/format.ts';
import { bareText, optional, text } from '../../../config/leaves.ts';
import { refuse } from '../../../config/readers.ts';
import { type DeliveryResult, later, refused } from '../../delivery-queue.ts';
import type { ChannelKind } from '../kind.ts';
import { type AlertMessage, linesOf } from '../rules/message.ts';

export interface EmailChannel {
  readonly kind: 'email';
  readonly server: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly user?: string;
  readonly password?: string;
}

const schema = optional(
  z.strictObject({
    server: bareText.meta({
      description:
        'The mail server: `smtp://` (port 587, encrypted as soon as the server offers it) or `smtps://` (port 465, encrypted from the start).',
      example: 'smtp://mail.example.org',
    }),
    user: optional(text, { description: 'Who logs in.', defaultNote: 'nobody', example: 'keepwell' }),
    password: optional(text, {
      description: 'The password of `user`. Take it from a variable.',
      defaultNote: 'none',
      example: `\${SMTP_PASSWORD}`,
    }),
    from: text.meta({ description: 'The sender.', example: 'keepwell@example.org' }),
    to: z.array(text).meta({ description: 'Who gets it.', example: ['oncall@example.org'] }),
  }),
  { description: 'A mail.', defaultNote: 'none' },
);

const FORM = 'Write, for example: server: smtp://mail.example.org';

/** Null: it is no mail server. A password in an address would need escaping, and would be shown with it. */
function serverOf(written: string): URL | null {
  if (!URL.canParse(written)) return null;
  const url = new URL(written);
  return ['smtp:', 'smtps:'].includes(url.protocol) && url.hostname !== '' && url.username === '' ? url : null;
}

const isMailbox = (written: string): boolean => /^[^\p{Cc}@]*[^\s\p{Cc}@]@[^\s\p{Cc}@]+$/u.test(written);

export const email = {
  schema,
  missing: {
    server: refuse('the mail server is missing', FORM),
    from: refuse('the sender is missing', 'Write: from: keepwell@example.org'),
    to: refuse('nobody gets it', 'Write: to: [oncall@example.org]'),
  },
  words: ['mail', 'smtp'],
  inside: {
    server: ['smtp', 'url', 'host', 'smarthost', 'uri'],
    user: ['username', 'login', 'authusername'],
    password: ['pass', 'authpassword'],
    from: ['sender', 'fromaddress'],
    to: ['recipients', 'receiver', 'rcpt', 'toaddress'],
  },
  check: ({ server, from, to, user, password }, _written, path, say) => {
    if (password !== undefined && user === undefined)
      say([...path, 'password'], 'whose it is is missing', 'Write: user: keepwell');
    if (server !== undefined && serverOf(server) === null)
      say([...path, 'server'], 'is not the address of a mail server (user and password are keys of their own)', FORM);
    if (from !== undefined && !isMailbox(from))
      say([...path, 'from'], 'is not an address', 'For example: keepwell@example.org');
    if (to?.length === 0) say([...path, 'to'], 'nobody gets it', 'Write: to: [oncall@example.org]');
    for (const [index, mailbox] of (to ?? []).entries())
      if (mailbox !== undefined && !isMailbox(mailbox))
        say([...path, 'to', index], 'is not an address', 'For example: oncall@example.org');
  },
  place: ({ server, to }) => (server === undefined || to === undefined ? undefined : `${server} ${to.join(' ')}`),
  resolve: ({ server, from, to, user, password }): EmailChannel => ({
    ...{ kind: 'email', server, from, to },
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
  }),
  describe: ({ server }) => `email by ${serverOf(server)?.host ?? 'a mail server'}`,
  send: (channel, message, _parts, signal) => send(channel, message, signal),
} satisfies ChannelKind<typeof schema, EmailChannel>;

const TIMEOUT_MS = 15_000;
const MAX_LINES = 50;
const MAX_SUBJECT_CHARS = 200;
const LOOPBACK: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/** Never in the clear: a password, except to this very machine. */
function transportOf({ hostname, port, protocol }: URL, { user, password = '' }: EmailChannel) {
  const secure = protocol === 'smtps:';
  const auth = user === undefined ? {} : { auth: { user, pass: password } };
  const limits = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  return {
    ...{
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port) || (secure ? 465 : 587),
      secure,
      ...auth,
      ...limits,
    },
    requireTLS: !secure && user !== undefined && !LOOPBACK.includes(hostname),
    // What stands in a message is text: nothing in it is a file or an address to read.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

async function send(channel: EmailChannel, message: AlertMessage, signal: AbortSignal): Promise<DeliveryResult> {
  const server = serverOf(channel.server);
  if (server === null) return refused('the address of the mail server cannot be read');
  const { createTransport } = await import('nodemailer');
  const sent = createTransport(transportOf(server, channel)).sendMail({
    from: channel.from,
    to: [...channel.to],
    subject: message.text.slice(0, MAX_SUBJECT_CHARS),
    text: `${linesOf(message, MAX_LINES).join('\n')}\n`,
    // The same when it is sent again: mail programs show such a one once.
    messageId: `<${message.id}@keepwell>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
  });
  const end = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const over = new Promise<DeliveryResult>((resolve) => {
    const late = () => resolve(later(`${server.host} did not take it within ${formatDuration(TIMEOUT_MS)}`));
    end.addEventListener('abort', late, { once: true });
  });
  return await Promise.race([over, sent.then((): DeliveryResult => ({ ok: true }), failure(server))]);
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNECTION: 'no connection',
  ESOCKET: 'no connection',
  ETIMEDOUT: 'no answer',
  EDNS: 'no such host',
  ETLS: 'no encrypted connection',
};

/** Of what the server answered only the code is told: the text may repeat what was sent. */
const failure =
  ({ host }: URL) =>
  (error: unknown): DeliveryResult => {
    const { responseCode, code } = error as { responseCode?: number; code?: string };
    if (code === 'EAUTH') return refused(`${host} does not accept user and password`);
    if (responseCode === undefined) return later(`${host} cannot be asked: ${WORDS[code ?? ''] ?? code ?? 'failed'}`);
    const problem = `${host} answered ${responseCode}`;
    return responseCode >= 500 ? refused(problem) : later(problem);
  };
