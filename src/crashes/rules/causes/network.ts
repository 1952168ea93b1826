/** The network: ports, peers that do not answer, names, certificates, time. */
import type { CrashContext } from '../crash.ts';
import { firstMatch, type Rule } from './cause.ts';

const IN_USE =
  /EADDRINUSE|[Aa]ddress already in use|[Pp]ort \d{1,5} (?:is|was) already in use|port is already allocated|Only one usage of each socket address|WSAEADDRINUSE/;
const PORTS: readonly RegExp[] = [
  /[Pp]ort[ =:]+(\d{1,5})\b/,
  /\('[^']{0,100}', (\d{1,5})\)/,
  /(?:listen tcp\d? |bind\(\) to |bind to |bind on |listening on |EADDRINUSE[^\n]{0,40}? |address |for )[^\s,]{0,100}?:(\d{1,5})\b/,
  /https?:\/\/[^\s:/]{1,100}:(\d{1,5})/,
  /(?:\d{1,3}(?:\.\d{1,3}){3}|\[::1?\]|:::?1?|localhost|\*):(\d{1,5})\b/,
  /\bport (\d{1,5})\b/i,
];

const portInUse: Rule = ({ text, context }) => {
  if (!IN_USE.test(text)) return null;
  const port = firstMatch(text, PORTS);
  if (port === null) return 'the address it wants to listen on is in use by another process';
  const holder = context.portHolder?.(Number(port)) ?? null;
  return holder === null
    ? `port ${port} is in use by another process: stop that, or choose another port`
    : `port ${port} is in use by ${holder}: stop that, or choose another port`;
};

const PRIVILEGED =
  /(?:listen|bind)[^\n]{0,120}(?:EACCES|permission denied)|(?:EACCES|Permission denied)[^\n]{0,60}(?:bind|listen|:\d{1,3}\b)/i;

const privilegedPort: Rule = ({ text }) => {
  const port = PRIVILEGED.test(text) ? firstMatch(text, PORTS) : null;
  if (port === null || Number(port) >= 1024) return null;
  return `it may not listen on port ${port}: ports below 1024 need root or CAP_NET_BIND_SERVICE`;
};

const REFUSED = /ECONNREFUSED|[Cc]onnection refused|actively refused|ConnectionRefused/;
const TARGETS: readonly RegExp[] = [
  /ECONNREFUSED (\S{1,100}:\d{1,5})\b/,
  /dial (?:tcp|udp)\d? (\S{1,100}?:\d{1,5}):/,
  /server at "([^"]{1,100})"[^\n]{0,60}, port (\d{1,5})/,
  /for "([^"]{1,100})" port (\d{1,5})/,
  /Connection to ([^\s:]{1,100}:\d{1,5}) refused/,
  /host='([^']{1,100})', port=(\d{1,5})/,
  /connect(?:ing|ion)? to ([\w.-]{1,100}:\d{1,5})\b/i,
  /\(([\w.-]{1,100}:\d{1,5})\)/,
  /\('([^']{1,100})', (\d{1,5})\)/,
  /\b(localhost:\d{1,5}|\d{1,3}(?:\.\d{1,3}){3}:\d{1,5})\b/,
];

const refused: Rule = ({ text, context, place }) => {
  if (!REFUSED.test(text)) return null;
  const target = targetOf(text);
  if (target === null)
    return `a server that it calls refused the connection${place('called in')}: it is not running, or listens elsewhere`;
  const peer = peerOf(target, context);
  return peer === null
    ? `nothing listens on ${target}${place('called in')}: the server there is not running, or listens elsewhere`
    : `its dependency ${peer} refused the connection (${target})${place('called in')}: it was not running or not ready`;
};

function targetOf(text: string): string | null {
  for (const expression of TARGETS) {
    const [, host, port] = expression.exec(text) ?? [];
    if (host !== undefined) return port === undefined ? host : `${host}:${port}`;
  }
  return null;
}

function peerOf(target: string, { dependencies = [] }: CrashContext): string | null {
  const port = Number(target.slice(target.lastIndexOf(':') + 1));
  return dependencies.find(({ ports }) => ports.includes(port))?.name ?? null;
}

const NAMES: readonly RegExp[] = [
  /(?:ENOTFOUND|EAI_AGAIN) ([\w.-]{1,253})/,
  /lookup ([\w.-]{1,253})(?: on \S{1,100})?: (?:no such host|server misbehaving|Temporary failure)/,
  /UnknownHostException: ([\w.-]{1,253})/,
  /could not translate host name "([^"]{1,253})"/,
  /Failed to resolve '([^']{1,253})'/,
  /host='([^']{1,253})'[^\n]{0,400}(?:Name or service not known|name resolution|nodename nor servname)/,
  /(?:Name or service not known|No such host is known)[^\n]{0,5}\(([\w.-]{1,253})(?::\d{1,5})?\)/,
  /Name or service not known|Temporary failure in name resolution|nodename nor servname|getaddrinfo failed|No such host is known|failed to lookup address information|getaddrinfo: /,
];

const unknownName: Rule = ({ text, place }) => {
  const name = firstMatch(text, NAMES);
  if (name === null) return null;
  const what = name === '' ? 'a host name' : `the host name ${name}`;
  return `${what} could not be resolved${place('called in')}: check its spelling and the DNS of this machine`;
};

const TLS: readonly (readonly [RegExp, string])[] = [
  [
    /certificate has expired|CERT_HAS_EXPIRED|certificate expired|NotAfter/i,
    'the certificate of the server has expired',
  ],
  [
    /self[- ]signed certificate|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_CERT/i,
    'the certificate of the server is not signed by an authority that this machine trusts (self-signed)',
  ],
  [
    /ERR_TLS_CERT_ALTNAME_INVALID|Hostname mismatch|doesn't match|certificate is valid for .{1,200}, not |RemoteCertificateNameMismatch/,
    'the certificate of the server is for another host name',
  ],
  [
    /CERTIFICATE_VERIFY_FAILED|unable to verify the first certificate|UNABLE_TO_VERIFY_LEAF|unable to get local issuer|PKIX path building failed|signed by unknown authority|RemoteCertificate(?:ChainErrors|NotAvailable)|certificate verify failed|remote certificate is invalid/i,
    'the certificate of the server is not signed by an authority that this machine trusts',
  ],
  [
    /WRONG_VERSION_NUMBER|wrong version number|first record does not look like a TLS handshake|EPROTO|Unsupported or unrecognized SSL message/,
    'the server does not speak TLS on that port',
  ],
  [
    /SSLHandshakeException|SSLError|tls: |SSL routines|handshake failure/,
    'the encrypted connection (TLS) could not be set up',
  ],
];

const tls: Rule = ({ text, place }) => {
  const found = TLS.find(([expression]) => expression.test(text));
  return found ? `${found[1]}${place('called in')}` : null;
};

const LOGIN =
  /password authentication failed for user "?([\w.@-]{1,100})|Access denied for user '([^']{1,100})'|(?:invalid|incorrect) (?:api key|x-api-key|credentials|username or password)|\b401 (?:Client Error: )?Unauthorized|NOAUTH Authentication required|WRONGPASS|authentication_error|InvalidAccessKeyId|Authentication failed/i;

const login: Rule = ({ text, place }) => {
  const found = LOGIN.exec(text);
  if (!found) return null;
  const user = found[1] ?? found[2];
  return `the server refused the credentials${user === undefined ? '' : ` of user ${user}`}${place('called in')}: check the password, key or token`;
};

const LATE =
  /ETIMEDOUT|ESOCKETTIMEDOUT|TimeoutError|TimeoutException|ReadTimeout|ConnectTimeout|context deadline exceeded|i\/o timeout|[Tt]imed out|Net::(?:Open|Read)Timeout|DeadlineExceeded|UND_ERR_(?:CONNECT|HEADERS)_TIMEOUT/;

const late: Rule = ({ text, place, context }) => {
  if (!LATE.test(text)) return null;
  const target = targetOf(text);
  const peer = target === null ? null : peerOf(target, context);
  const whom = peer !== null ? `its dependency ${peer} (${target})` : (target ?? 'something that it waited for');
  return `${whom} did not answer in time${place('in')}`;
};

export const NETWORK: readonly Rule[] = [portInUse, privilegedPort, tls, unknownName, refused, login];
/** Asked last: what timed out is often told better by something else. */
export const LATE_RULES: readonly Rule[] = [late];
