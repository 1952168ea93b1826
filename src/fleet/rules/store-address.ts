/** The address of the database that hosts share: read from `postgres://…`, and written so that it shows no password. Pure. */
import { nearest } from '../../base/pure/suggest.ts';

export const TLS_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type TlsMode = (typeof TLS_MODES)[number];

export interface StoreAddress {
  /** A name, an address, or the directory of a unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string | null;
  readonly database: string;
  /** As libpq: `prefer` when nothing is said. */
  readonly tls: TlsMode;
  /** A file with the certificates that are believed; null: those of Node. */
  readonly tlsRoot: string | null;
}

export const ADDRESS_FORM = `For example: postgres://keepwell:\${FLEET_PASSWORD}@db.example.com/keepwell?sslmode=verify-full`;

const DEFAULT_PORT = 5432;
const MAX_PORT = 65_535;
const SCHEME = /^postgres(?:ql)?:\/\//;
const PARTS =
  /^postgres(?:ql)?:\/\/(?:([^:@/?#]*)(?::([^@/?#]*))?@)?(\[[0-9A-Fa-f:.]+\]|[^@:/?#,[\]]*)(?::(\d{1,5}))?(?:\/([^/?#]*))?(?:\?([^#]*))?$/;
const PARAMETERS = ['sslmode', 'sslrootcert', 'host', 'port'];

/** No problem names any part of the text: it may hold a password. */
export function parseStoreAddress(text: string): StoreAddress | { readonly problem: string } {
  if (!SCHEME.test(text)) return { problem: 'must begin with postgres:// or postgresql://' };
  const found = PARTS.exec(text);
  if (found === null)
    return {
      problem:
        'is not the address of a database; write characters such as @ : / ? # in a password as %40 %3A %2F %3F %23',
    };
  const [, user = '', password, host = '', port, database = '', query = ''] = found.map((part) => decoded(part));
  const parameters = new Map<string, string>();
  for (const each of query === '' ? [] : query!.split('&')) {
    const [name = '', value = ''] = each.split('=');
    if (!PARAMETERS.includes(name)) return { problem: `has a parameter that is not known${suggestion(name)}` };
    parameters.set(name, decoded(value) ?? '');
  }
  const tls = parameters.get('sslmode') ?? 'prefer';
  if (!isTlsMode(tls)) return { problem: `has an sslmode that is none of ${TLS_MODES.join(', ')}` };
  const at = parameters.get('host') ?? host!.replace(/^\[|\]$/g, '');
  const number = Number(parameters.get('port') ?? port ?? DEFAULT_PORT);
  if (at === '') return { problem: 'names no host' };
  if (!(number >= 1 && number <= MAX_PORT)) return { problem: 'has a port that is none' };
  if (user === '') return { problem: 'names no user' };
  if (database === '') return { problem: 'names no database' };
  return {
    ...{ host: at, port: number, user: user!, password: password ?? null, database: database! },
    ...{ tls, tlsRoot: parameters.get('sslrootcert') ?? null },
  };
}

const isTlsMode = (text: string): text is TlsMode => (TLS_MODES as readonly string[]).includes(text);

function suggestion(name: string): string {
  const known = nearest(name, PARAMETERS);
  return `: ${known === null ? `known are ${PARAMETERS.join(', ')}` : `did you mean ${known}?`}`;
}

function decoded(part: string | undefined): string | undefined {
  try {
    return part === undefined ? part : decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** "postgres://keepwell@db.example.com/shop": for people, without what must not be seen. */
export function shownAddress({ host, port, user, database }: StoreAddress): string {
  const at = host.includes(':') ? `[${host}]` : host;
  return host.startsWith('/')
    ? `postgres://${user}@/${database}?host=${host}`
    : `postgres://${user}@${at}${port === DEFAULT_PORT ? '' : `:${port}`}/${database}`;
}
