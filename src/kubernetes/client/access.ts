/** Finds the cluster: a kubeconfig, or the place that Kubernetes prepares in every pod. */

import { existsSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { AppError } from '../../base/pure/errors.ts';
import { accessOf, type ClusterAccess, type KubeconfigFile } from '../rules/kubeconfig.ts';

export interface AccessOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Null: the current one. */
  readonly context: string | null;
  /** Where a pod finds its account; only tests have another. */
  readonly podDir?: string;
}

const POD_DIR = '/var/run/secrets/kubernetes.io/serviceaccount';
const MAX_BYTES = 2 ** 20;

/** Throws an AppError that says what is missing. */
export function findAccess({ env, context, podDir = POD_DIR }: AccessOptions): ClusterAccess {
  const named = env['KUBECONFIG'];
  const home = env['HOME'];
  const paths = named ? named.split(':').filter((path) => path !== '') : home ? [join(home, '.kube', 'config')] : [];
  const there = paths.map((path) => resolve(path)).filter((path) => existsSync(path));
  if (there.length === 0 && context === null && env['KUBERNETES_SERVICE_HOST'] && existsSync(join(podDir, 'token')))
    return inCluster(env, podDir);
  if (there.length === 0) {
    const looked = paths.length === 0 ? 'neither KUBECONFIG nor HOME is set' : `there is no ${paths.join(', ')}`;
    throw new AppError('KUBERNETES_NO_CLUSTER', { problem: looked });
  }
  const found = accessOf(there.map(readKubeconfig), context, {
    absolute: (path, file) => (isAbsolute(path) ? path : resolve(dirname(file), path)),
    decode: (base64) => Buffer.from(base64, 'base64').toString('utf8'),
  });
  if ('problem' in found) throw new AppError('KUBERNETES_NO_CLUSTER', { problem: found.problem });
  return found.access;
}

function readKubeconfig(path: string): KubeconfigFile {
  try {
    const text = readFileSync(path, 'utf8');
    if (text.length > MAX_BYTES) throw new Error('it is too large');
    return { path, content: parse(text) as unknown };
  } catch (error) {
    const problem = `${path} cannot be read: ${(error as Error).message.split('\n')[0]}`;
    throw new AppError('KUBERNETES_NO_CLUSTER', { problem }, { cause: error });
  }
}

function inCluster(env: AccessOptions['env'], dir: string): ClusterAccess {
  const host = env['KUBERNETES_SERVICE_HOST']!;
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443';
  const namespace = join(dir, 'namespace');
  return {
    name: 'in-cluster',
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    ca: { file: join(dir, 'ca.crt') },
    verify: true,
    serverName: null,
    namespace: existsSync(namespace) ? readFileSync(namespace, 'utf8').trim() : null,
    account: { certificate: null, key: null, token: { file: join(dir, 'token') }, exec: null },
  };
}
