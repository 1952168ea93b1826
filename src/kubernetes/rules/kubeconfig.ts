/** Which cluster a kubeconfig leads to, and as whom: several files as one, a context, and whatever cannot be used said by name. */

/** Text that stands in the file (already decoded), or a file that is read when it is needed. */
export type Material = { readonly text: string } | { readonly file: string };

/** A program that prints credentials. */
export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint: string | null;
}

export interface Account {
  readonly certificate: Material | null;
  readonly key: Material | null;
  readonly token: Material | null;
  readonly exec: ExecPlugin | null;
}

export interface ClusterAccess {
  /** What people call it: the context, or "in-cluster". */
  readonly name: string;
  /** "https://10.0.0.1:6443", without a slash at the end. */
  readonly server: string;
  /** Null: those that this machine trusts. */
  readonly ca: Material | null;
  /** False only where the file says `insecure-skip-tls-verify: true`. */
  readonly verify: boolean;
  readonly serverName: string | null;
  readonly namespace: string | null;
  readonly account: Account;
}

/** One kubeconfig as it was read. */
export interface KubeconfigFile {
  readonly path: string;
  readonly content: unknown;
}

export type FoundAccess = { readonly access: ClusterAccess } | { readonly problem: string };

/** What the rules cannot do themselves. */
export interface KubeconfigTools {
  /** A path of the file, relative to its folder. */
  absolute(path: string, file: string): string;
  decode(base64: string): string;
}

/** `context`: null means the current one. Of things with the same name the first file's counts, as with kubectl. */
export function accessOf(
  files: readonly KubeconfigFile[],
  context: string | null,
  { absolute, decode }: KubeconfigTools,
): FoundAccess {
  const current = files.map(({ content }) => textIn(content, 'current-context')).find((name) => name !== null) ?? null;
  const name = context ?? current;
  const where = files.map(({ path }) => path).join(', ');
  if (name === null) return { problem: `${where} names no current context` };
  const found = named(files, 'contexts', 'context', name);
  if (found === null) return { problem: missing('context', name, namesIn(files, 'contexts'), where) };
  const clusterName = textIn(found.value, 'cluster');
  const userName = textIn(found.value, 'user');
  const cluster = clusterName === null ? null : named(files, 'clusters', 'cluster', clusterName);
  if (cluster === null) return { problem: `the context "${name}" of ${where} has no cluster "${clusterName ?? ''}"` };
  const user = userName === null ? null : named(files, 'users', 'user', userName);
  if (userName !== null && user === null)
    return { problem: `the context "${name}" of ${where} has no user "${userName}"` };
  const refusal = refusalOf(cluster.value, user?.value);
  if (refusal !== null) return { problem: `the context "${name}" ${refusal}` };
  const server = textIn(cluster.value, 'server');
  if (server === null || !/^https?:\/\/[^/]/.test(server))
    return { problem: `the cluster "${clusterName}" of ${where} has no address that can be used (server)` };
  const material = (from: Found | null, key: string): Material | null => {
    const data = textIn(from?.value, `${key}-data`);
    if (data !== null) return { text: decode(data) };
    const file = textIn(from?.value, key);
    return file === null || from === null ? null : { file: absolute(file, from.path) };
  };
  return {
    access: {
      name,
      server: server.replace(/\/+$/, ''),
      ca: material(cluster, 'certificate-authority'),
      verify: fieldOf(cluster.value, 'insecure-skip-tls-verify') !== true,
      serverName: textIn(cluster.value, 'tls-server-name'),
      namespace: textIn(found.value, 'namespace'),
      account: {
        certificate: material(user, 'client-certificate'),
        key: material(user, 'client-key'),
        token: tokenOf(user, absolute),
        exec: execOf(user, absolute),
      },
    },
  };
}

/** A token in the file counts more than a file with one, but only the latter may change. */
function tokenOf(user: Found | null, absolute: KubeconfigTools['absolute']): Material | null {
  const file = textIn(user?.value, 'tokenFile');
  if (file !== null && user !== null) return { file: absolute(file, user.path) };
  const token = textIn(user?.value, 'token');
  return token === null ? null : { text: token };
}

const EXEC_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

function execOf(user: Found | null, absolute: KubeconfigTools['absolute']): ExecPlugin | null {
  const exec = fieldOf(user?.value, 'exec');
  const command = textIn(exec, 'command');
  if (user === null || command === null) return null;
  const env = listOf(fieldOf(exec, 'env')).map((each) => [textIn(each, 'name') ?? '', textIn(each, 'value') ?? '']);
  return {
    apiVersion: textIn(exec, 'apiVersion') ?? EXEC_VERSIONS[0]!,
    // A name is looked for in PATH; a path is relative to the file.
    command: command.includes('/') ? absolute(command, user.path) : command,
    args: listOf(fieldOf(exec, 'args')).map(String),
    env: Object.fromEntries(env.filter(([name]) => name !== '')),
    installHint: textIn(exec, 'installHint'),
  };
}

/** Whatever would be left out without a word is refused with one. */
function refusalOf(cluster: unknown, user: unknown): string | null {
  if (textIn(cluster, 'proxy-url') !== null) return 'goes through a proxy (proxy-url), which is not supported';
  if (fieldOf(user, 'auth-provider') !== undefined)
    return 'uses an auth-provider, which Kubernetes has given up: use an exec plugin';
  if (textIn(user, 'username') !== null) return 'uses a name and a password, which Kubernetes has given up';
  if (textIn(user, 'as') !== null) return 'acts as somebody else (as), which is not supported';
  const exec = fieldOf(user, 'exec');
  const version = textIn(exec, 'apiVersion');
  if (exec !== undefined && version !== null && !EXEC_VERSIONS.includes(version))
    return `has an exec plugin of ${version}; known are ${EXEC_VERSIONS.join(' and ')}`;
  return null;
}

function missing(what: string, name: string, known: readonly string[], where: string): string {
  return `there is no ${what} "${name}" in ${where}${known.length === 0 ? '' : ` (there are ${known.join(', ')})`}`;
}

interface Found {
  readonly path: string;
  readonly value: unknown;
}

function named(files: readonly KubeconfigFile[], list: string, key: string, name: string): Found | null {
  for (const { path, content } of files) {
    const entry = listOf(fieldOf(content, list)).find((each) => textIn(each, 'name') === name);
    if (entry !== undefined) return { path, value: fieldOf(entry, key) };
  }
  return null;
}

const namesIn = (files: readonly KubeconfigFile[], list: string): readonly string[] =>
  files.flatMap(({ content }) => listOf(fieldOf(content, list)).flatMap((each) => textIn(each, 'name') ?? []));

const fieldOf = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function textIn(value: unknown, key: string): string | null {
  const field = fieldOf(value, key);
  return typeof field === 'string' && field !== '' ? field : null;
}

// What an exec plugin printed.

export interface Credential {
  readonly token: string | null;
  readonly certificate: string | null;
  readonly key: string | null;
  /** Epoch milliseconds; null: for as long as the server takes it. */
  readonly expiresAt: number | null;
}

/** Null: it makes no sense. */
export function credentialIn(answer: unknown): Credential | null {
  const status = fieldOf(answer, 'status');
  const token = textIn(status, 'token');
  const certificate = textIn(status, 'clientCertificateData');
  const key = textIn(status, 'clientKeyData');
  if (token === null && (certificate === null || key === null)) return null;
  const expires = Date.parse(textIn(status, 'expirationTimestamp') ?? '');
  return { token, certificate, key, expiresAt: Number.isNaN(expires) ? null : expires };
}
