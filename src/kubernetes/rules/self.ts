/** Keepwell itself as objects of Kubernetes: its account with no more rights than it uses, its configuration, and one pod that runs the daemon. */

import { shortHash } from '../../base/pure/hash.ts';
import type { MountedFile, SecretMode } from './given.ts';
import { leaseName } from './lease.ts';
import { labelValue } from './names.ts';
import { compact, type KubernetesObject, LABELS, type Plain, unlessEmpty } from './object.ts';
import { isSecretFile } from './secret.ts';

export interface SelfGiven {
  readonly project: string;
  readonly namespace: string | null;
  /** With `keepwell` in its PATH. */
  readonly image: string;
  /** A PersistentVolumeClaim for its state; null: that ends with the pod. */
  readonly claim: string | null;
  /** The configuration, in the order in which it is read: paths in `files`. */
  readonly configs: readonly string[];
  /** Everything that it needs beside it, too, by path relative to its folder. */
  readonly files: ReadonlyMap<string, MountedFile>;
  /** Those of `files` that are read for their variables: taken for secret as a whole. */
  readonly envFiles: ReadonlySet<string>;
  /** Variables that stand in it, with their values. */
  readonly variables: Readonly<Record<string, string>>;
  /** Values that nobody may see. */
  readonly secrets: readonly string[];
  readonly mode: SecretMode;
}

export interface Self {
  readonly objects: readonly KubernetesObject[];
  /** Names of the Secrets that the objects refer to. */
  readonly secretNames: readonly string[];
}

/** Laid over the configuration: whatever it says, here components run on the cluster. */
const ENGINE_FILE = 'keepwell-engine.yaml';
const DIR = '/etc/keepwell';
const STATE = '/var/lib/keepwell';
/** Of `node` in most images; the state must be writable by it. */
const USER = 1000;

export function selfObjects(given: SelfGiven): Self {
  const { project, namespace, variables, secrets, mode } = given;
  const name = leaseName(project);
  // Not the label of what it manages: "down" removes that, and this is applied by somebody else.
  const selector = { [LABELS.name]: name, [LABELS.project]: labelValue(project) };
  const metadata = (of: string): KubernetesObject['metadata'] => ({
    ...{ name: of, ...(namespace === null ? {} : { namespace }), labels: selector },
  });
  const files = new Map([...given.files, [ENGINE_FILE, { content: 'engine: kubernetes\n', isText: true }]]);
  const keyed = [...files].map(([path, file], index) => ({ path, key: keyOf(path, index), file }));
  const isSecret = ({ path, file }: (typeof keyed)[number]) =>
    given.envFiles.has(path) || isSecretFile(path, file.isText ? file.content : '', secrets);
  const [hidden, open] = [keyed.filter(isSecret), keyed.filter((each) => !isSecret(each))];
  const [envName, filesName] = [`${name}-env`, `${name}-files`];
  const hasEnv = Object.keys(variables).length > 0;
  const data = (list: typeof keyed, texts: string, others: string) =>
    compact({
      [texts]: unlessEmpty(
        Object.fromEntries(list.filter(({ file }) => file.isText).map(({ key, file }) => [key, file.content])),
      ),
      [others]: unlessEmpty(
        Object.fromEntries(list.filter(({ file }) => !file.isText).map(({ key, file }) => [key, file.content])),
      ),
    });
  const secretObjects: readonly KubernetesObject[] = [
    ...(hasEnv ? [{ apiVersion: 'v1', kind: 'Secret', metadata: metadata(envName), stringData: variables }] : []),
    ...(hidden.length > 0
      ? [{ apiVersion: 'v1', kind: 'Secret', metadata: metadata(filesName), ...data(hidden, 'stringData', 'data') }]
      : []),
  ];
  const items = (list: typeof keyed): Plain => list.map(({ key, path }) => ({ key, path }));
  const sources: Plain = [
    { configMap: { name: filesName, items: items(open) } },
    ...(hidden.length > 0 ? [{ secret: { name: filesName, items: items(hidden) } }] : []),
  ];
  const rest: readonly KubernetesObject[] = [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: metadata(name) },
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: metadata(name), rules: rules(name) },
    {
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: metadata(name) },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, ...(namespace === null ? {} : { namespace }) }],
    },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata(filesName), ...data(open, 'data', 'binaryData') },
    {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: metadata(name) },
      spec: {
        ...{ replicas: 1, strategy: { type: 'Recreate' }, selector: { matchLabels: selector } },
        template: {
          // It reads its files when it starts.
          metadata: { labels: selector, annotations: { 'keepwell.files': shortHash(JSON.stringify([...files])) } },
          spec: podSpec(given, { name, sources, env: hasEnv ? envName : null }),
        },
      },
    },
  ];
  const isWithSecrets = mode !== 'refer';
  return {
    objects: mode === 'only' ? secretObjects : [...(isWithSecrets ? secretObjects : []), ...rest],
    secretNames: secretObjects.map(({ metadata: { name: of } }) => of),
  };
}

function podSpec(
  { image, claim, configs }: SelfGiven,
  { name, sources, env }: { readonly name: string; readonly sources: Plain; readonly env: string | null },
): Plain {
  const container = compact({
    ...{ name: 'keepwell', image },
    command: ['keepwell', 'daemon', ...[...configs, ENGINE_FILE].flatMap((file) => ['-f', `${DIR}/${file}`])],
    env: [{ name: 'KEEPWELL_HOME', value: STATE }],
    envFrom: env === null ? null : [{ secretRef: { name: env } }],
    terminationMessagePolicy: 'FallbackToLogsOnError',
    livenessProbe: {
      exec: { command: ['keepwell', 'daemon', '--livez', '-f', `${DIR}/${configs[0]}`] },
      ...{ initialDelaySeconds: 10, periodSeconds: 20, timeoutSeconds: 10, failureThreshold: 3 },
    },
    resources: { requests: { memory: '128Mi' }, limits: { memory: '512Mi' } },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    volumeMounts: [
      { name: 'files', mountPath: DIR, readOnly: true },
      { name: 'state', mountPath: STATE },
    ],
  });
  return {
    ...{ serviceAccountName: name, enableServiceLinks: false, terminationGracePeriodSeconds: 30 },
    securityContext: { runAsNonRoot: true, runAsUser: USER, runAsGroup: USER, fsGroup: USER },
    containers: [container],
    volumes: [
      { name: 'files', projected: { sources } },
      { name: 'state', ...(claim === null ? { emptyDir: {} } : { persistentVolumeClaim: { claimName: claim } }) },
    ],
  };
}

/** What the daemon asks the API server for, and nothing else. */
const rules = (lease: string): Plain => [
  { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'list', 'create', 'patch', 'delete'] },
  { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get', 'list', 'create', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['services', 'configmaps', 'secrets'], verbs: ['list', 'create', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
  { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
  { apiGroups: [''], resources: ['events'], verbs: ['list'] },
  // A name cannot be asked for where the object is still to be made.
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    resourceNames: [lease],
    verbs: ['get', 'update', 'delete'],
  },
];

const keyOf = (path: string, index: number): string =>
  `${index}-${path.replace(/[^-._a-zA-Z0-9]/g, '_')}`.slice(0, 253);
