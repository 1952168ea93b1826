/** The pod of a component: its image, command, variables, files, probes and limits. */

import { ROLES } from '../../supervision/rules/health/probe.ts';
import type { ComponentSpec, ContainerSpec, ProcessSpec } from '../../supervision/spec.ts';
import type { Given, Notes } from './given.ts';
import { isAnnotationKey, isVariableName } from './names.ts';
import { ANNOTATIONS, compact, type Plain, unlessEmpty } from './object.ts';
import { insidePort, openPorts } from './ports.ts';
import { healthcheckProbes, probeObject } from './probe.ts';
import { isSecretVariable, literally, SecretArguments } from './secret.ts';
import { type Volumes, volumesOf } from './volumes.ts';

export interface Pod {
  /** Without `restartPolicy`, which its workload decides. */
  readonly spec: { readonly [key: string]: Plain };
  readonly annotations: Readonly<Record<string, string>>;
  readonly variables: Variables;
  readonly volumes: Volumes | null;
}

type Runnable = ProcessSpec | ContainerSpec;

export function podOf(
  spec: ComponentSpec & { readonly driver: Runnable },
  object: string,
  given: Given,
  notes: Notes,
): Pod {
  const { driver } = spec;
  const { secrets } = given;
  const inArguments = new SecretArguments(secrets);
  const command = commandOf(driver, inArguments);
  const variables = variablesOf(spec, object, secrets, inArguments, given, notes);
  const volumes = driver.kind === 'container' ? volumesOf(driver, object, secrets, given, notes) : null;
  const container = compact({
    name: object,
    image: imageOf(spec, given, notes),
    imagePullPolicy: pullPolicy(driver, notes),
    ...command,
    workingDir: driver.kind === 'container' ? driver.workdir : null,
    ports: portsOf(spec),
    envFrom: unlessEmpty(variables.envFrom),
    env: unlessEmpty(variables.env),
    resources: resourcesOf(spec),
    securityContext: accountOf(driver, notes),
    volumeMounts: unlessEmpty(volumes?.mounts ?? []),
    ...probesOf(spec, secrets, notes),
    // The last words of a crash come with the state of the pod, before its log is gone.
    terminationMessagePolicy: 'FallbackToLogsOnError',
  });
  return {
    spec: {
      ...compact({ terminationGracePeriodSeconds: Math.ceil(spec.stop.graceMs / 1_000) }),
      // At home nobody gets a key to the cluster, or a dozen variables about his neighbours.
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      containers: [container],
      ...compact({ volumes: unlessEmpty(volumes?.volumes ?? []) }),
    },
    annotations: {
      ...labelsOf(driver),
      ...(volumes?.hash ? { [ANNOTATIONS.files]: volumes.hash } : {}),
    },
    variables,
    volumes,
  };
}

function imageOf({ name, driver }: ComponentSpec & { readonly driver: Runnable }, { settings }: Given, notes: Notes) {
  if (driver.kind === 'container') return driver.image;
  const image = Object.hasOwn(settings.images, name) ? settings.images[name]! : settings.image;
  if (image === null) {
    const hint = `Write beside components: kubernetes: { image: NAME:TAG }, or for it alone: kubernetes: { images: { ${name}: NAME:TAG } }`;
    notes.refuse(['process'], 'is a process, and on Kubernetes everything runs from an image', hint);
  }
  return image;
}

function commandOf(driver: Runnable, secret: SecretArguments): { readonly command?: Plain; readonly args?: Plain } {
  const written = (words: readonly string[] | null): Plain | null => words?.map((word) => secret.write(word)) ?? null;
  return driver.kind === 'process'
    ? compact({ command: written(driver.command) })
    : compact({ command: written(driver.entrypoint), args: written(driver.command) });
}

/** At home an image is never fetched unless that is asked for; on a cluster somebody has to. */
function pullPolicy(driver: Runnable, notes: Notes): string | null {
  if (driver.kind !== 'container' || !notes.isWritten('container', 'pull')) return null;
  return { never: 'Never', missing: 'IfNotPresent', always: 'Always' }[driver.pull];
}

function portsOf(spec: ComponentSpec): Plain | null {
  const ports = new Map(openPorts(spec).map((port) => [`${port.protocol}-${port.inside}`, port]));
  if (ports.size === 0) return null;
  return [...ports].map(([name, { inside, protocol }]) =>
    compact({ name, containerPort: inside, protocol: protocol.toUpperCase() }),
  );
}

const MEBI = 2 ** 20;
const GIBI = 2 ** 30;

export function memoryText(bytes: number): string {
  if (bytes % GIBI === 0) return `${bytes / GIBI}Gi`;
  return bytes % MEBI === 0 ? `${bytes / MEBI}Mi` : `${bytes}`;
}

function resourcesOf({ limits }: ComponentSpec): Plain | null {
  const { memoryBytes, cpus } = limits;
  const given = compact({
    cpu: cpus === undefined ? null : `${Math.round(cpus * 1_000)}m`,
    memory: memoryBytes === null ? null : memoryText(memoryBytes),
  });
  return unlessEmpty(given) && { limits: given };
}

/** Kubernetes knows accounts by their numbers only. */
function accountOf(driver: Runnable, notes: Notes): Plain | null {
  const [user, ofUser] = driver.user?.split(':') ?? [];
  const group = driver.kind === 'process' ? driver.group : ofUser;
  const number = (text: string | undefined, ...path: readonly string[]): number | null => {
    if (text === undefined) return null;
    if (/^\d+$/.test(text)) return Number(text);
    notes.lose(path, `Kubernetes knows accounts by number, not "${text}": it runs as the image says`);
    return null;
  };
  return unlessEmpty(
    compact({
      runAsUser: number(user, driver.kind, 'user'),
      runAsGroup: number(group, driver.kind, driver.kind === 'process' ? 'group' : 'user'),
    }),
  );
}

function probesOf(spec: ComponentSpec & { readonly driver: Runnable }, secrets: readonly string[], notes: Notes) {
  const asked = { notes, secrets, inside: (port: number) => insidePort(spec, port) };
  const own = ROLES.map((role) => [role, spec.probes[role] && probeObject(role, spec.probes[role], asked)] as const);
  const health = spec.driver.kind === 'container' ? healthcheckProbes(spec.driver, asked) : null;
  const at = ['container', 'healthcheck'];
  return Object.fromEntries(
    own.map(([role, probe]) => {
      const docker = health?.[role] ?? null;
      if (probe && docker)
        notes.lose(at, `Kubernetes asks one ${role} probe, and the component has its own: this one is not asked`);
      return [`${role}Probe`, probe ?? docker];
    }),
  );
}

const labelsOf = (driver: Runnable): Readonly<Record<string, string>> =>
  driver.kind === 'container'
    ? Object.fromEntries(Object.entries(driver.labels).filter(([name]) => isAnnotationKey(name)))
    : {};

export const isRunnable = (spec: ComponentSpec): spec is ComponentSpec & { readonly driver: Runnable } =>
  spec.driver.kind === 'process' || spec.driver.kind === 'container';

interface Variables {
  readonly env: readonly { readonly [key: string]: Plain }[];
  readonly envFrom: readonly { readonly [key: string]: Plain }[];
  /** Values by the name of their Secret; null: they are only named, so nobody has read them. */
  readonly secrets: ReadonlyMap<string, Readonly<Record<string, string>> | null>;
}

const envSecret = (object: string): string => `${object}-env`;
const envFileSecret = (object: string): string => `${object}-env-file`;

function variablesOf(
  { driver }: ComponentSpec,
  object: string,
  known: readonly string[],
  inArguments: SecretArguments,
  { envFiles }: Pick<Given, 'envFiles'>,
  notes: Notes,
): Variables {
  const kept: Record<string, string> = {};
  const env: { readonly [key: string]: Plain }[] = [];
  const refer = (name: string, value: string): void => {
    kept[name] = value;
    env.push({ name, valueFrom: { secretKeyRef: { name: envSecret(object), key: name } } });
  };
  for (const [name, value] of Object.entries(driver.env)) {
    if (!isVariableName(name))
      notes.lose([driver.kind, 'env', name], 'Kubernetes takes no variable of this name: it is left out');
    else if (isSecretVariable(name, value, known)) refer(name, value);
    else env.push({ name, value: literally(value) });
  }
  for (const [name, value] of inArguments.values) refer(name, value);
  const secrets = new Map<string, Readonly<Record<string, string>> | null>();
  if (Object.keys(kept).length > 0) secrets.set(envSecret(object), kept);
  if (driver.envFiles.length > 0) secrets.set(envFileSecret(object), fileVariables(driver.envFiles, envFiles));
  const envFrom = driver.envFiles.length > 0 ? [{ secretRef: { name: envFileSecret(object) } }] : [];
  return { env, envFrom, secrets };
}

/** Later files over earlier ones. A file of variables is taken for secret as a whole. */
function fileVariables(paths: readonly string[], read: Given['envFiles']): Readonly<Record<string, string>> | null {
  const texts = paths.map((path) => read.get(path));
  if (texts.some((text) => text === undefined)) return null;
  const merged = Object.assign({}, ...texts) as Readonly<Record<string, string>>;
  return Object.fromEntries(Object.entries(merged).filter(([name]) => isVariableName(name)));
}
