/**
 * A cluster without nodes for tests: a real etcd and kube-apiserver where `KEEPWELL_KUBE_BIN` names a folder with both, otherwise the fake of
 * fake-kubernetes.ts. In both nobody starts anything: `Hand` does by hand, through the API, what controllers and kubelets would do.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeKubernetes } from './fake-kubernetes.ts';
import { freePort } from './free-port.ts';
import { waitFor } from './wait-for.ts';

const TOKEN = 'test-token';

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes, as the test knows them
  readonly body: any;
}

export interface TestCluster extends AsyncDisposable {
  readonly kubeconfig: string;
  readonly url: string;
  readonly dir: string;
  /** Null: this is a real API server. */
  readonly fake: FakeKubernetes | null;
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** The API server goes away, and comes back with everything it knew. */
  down(): Promise<void>;
  up(): Promise<void>;
}

export const KUBE_BIN = process.env['KEEPWELL_KUBE_BIN'] ?? null;

export async function openCluster(): Promise<TestCluster> {
  const dir = mkdtempSync(join(tmpdir(), 'keepwell-cluster-'));
  const server = KUBE_BIN === null ? await fakeServer(dir) : await realServer(dir, KUBE_BIN);
  const kubeconfig = join(dir, 'kubeconfig');
  writeFileSync(kubeconfig, JSON.stringify(config(server.url, server.ca)));
  const call = (method: string, path: string, body?: unknown) => ask(server.url, method, path, body);
  return {
    ...server,
    dir,
    kubeconfig,
    call,
    async [Symbol.asyncDispose]() {
      await server.end();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

const config = (server: string, ca: string) => ({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'test', cluster: { server, 'certificate-authority': ca } }],
  users: [{ name: 'admin', user: { token: TOKEN } }],
  contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin', namespace: 'default' } }],
  'current-context': 'test',
});

/** For localhost and 127.0.0.1. */
function makeCertificate(dir: string): { key: string; cert: string } {
  const [key, cert] = [join(dir, 'tls.key'), join(dir, 'tls.crt')];
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1';
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=test', '-addext', names];
  const made = spawnSync('openssl', [...args, '-keyout', key, '-out', cert], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`openssl is needed for a certificate: ${made.stderr}`);
  return { key, cert };
}

async function fakeServer(dir: string) {
  const { key, cert } = makeCertificate(dir);
  const fake = new FakeKubernetes({ key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') });
  await fake.up();
  return { fake, url: fake.url, ca: cert, up: () => fake.up(), down: () => fake.down(), end: () => fake.down() };
}

async function realServer(dir: string, bin: string) {
  const { key, cert } = makeCertificate(dir);
  const [port, clients, peers] = [await freePort(), await freePort(), await freePort()];
  writeFileSync(join(dir, 'tokens.csv'), `${TOKEN},admin,admin,system:masters\n`);
  const etcdUrl = `http://127.0.0.1:${clients}`;
  const url = `https://127.0.0.1:${port}`;
  const run = (name: string, args: readonly string[]): ChildProcess =>
    spawn(join(bin, name), args, { stdio: 'ignore', cwd: dir });
  const etcd = run('etcd', [
    ...['--data-dir', join(dir, 'etcd'), '--unsafe-no-fsync'],
    ...['--listen-client-urls', etcdUrl, '--advertise-client-urls', etcdUrl],
    ...['--listen-peer-urls', `http://127.0.0.1:${peers}`],
  ]);
  const begin = () =>
    run('kube-apiserver', [
      ...[`--etcd-servers=${etcdUrl}`, '--bind-address=127.0.0.1', '--advertise-address=127.0.0.1'],
      ...[`--secure-port=${port}`, `--tls-cert-file=${cert}`, `--tls-private-key-file=${key}`, `--cert-dir=${dir}`],
      ...[`--token-auth-file=${join(dir, 'tokens.csv')}`, '--authorization-mode=RBAC', '--allow-privileged=true'],
      ...['--service-cluster-ip-range=10.96.0.0/16', '--service-account-issuer=https://test'],
      ...[`--service-account-signing-key-file=${key}`, `--service-account-key-file=${key}`],
      '--disable-admission-plugins=ServiceAccount', // nobody makes accounts here
    ]);
  let server = begin();
  const isReady = async () => (await ask(url, 'GET', '/readyz').catch(() => null))?.status === 200;
  const ready = () => waitFor('the API server', isReady);
  const end = async (child: ChildProcess) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  };
  await ready();
  await waitFor('the namespace', async () => (await ask(url, 'GET', '/api/v1/namespaces/default')).status === 200);
  return {
    fake: null,
    url,
    ca: cert,
    down: () => end(server),
    up: async () => {
      server = begin();
      await ready();
    },
    end: async () => {
      await end(server);
      await end(etcd);
    },
  };
}

function ask(url: string, method: string, path: string, body?: unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
    const asked = request(`${url}${path}`, { method, headers, rejectUnauthorized: false, agent: false }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('error', reject);
      answer.on('end', () => {
        const text = Buffer.concat(pieces).toString('utf8');
        const isJson = String(answer.headers['content-type']).includes('json');
        resolve({ status: answer.statusCode ?? 0, body: isJson ? JSON.parse(text) : text });
      });
    });
    asked.on('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
