/** A configuration as objects of Kubernetes, in the order in which they are applied, and everything that is lost on the way. */

import { secretValues } from '../../base/pure/redact.ts';
import type { ComponentSpec } from '../../supervision/spec.ts';
import { type Given, type Loss, type MountedFile, Notes, type Path, type Refusal, type SecretMode } from './given.ts';
import { noteLosses, SECTIONS } from './losses.ts';
import { collisions, labelValue, objectName } from './names.ts';
import { ANNOTATIONS, compact, type KubernetesObject, LABELS, MANAGER, type Plain, unlessEmpty } from './object.ts';
import { isRunnable, type Pod, podOf } from './pod.ts';
import { openPorts } from './ports.ts';
import { isJob, noteDependencies, type Stage, stagesOf } from './stages.ts';

export interface RenderedObject {
  readonly stage: number;
  readonly component: string;
  readonly object: KubernetesObject;
}

export interface Rendered {
  readonly namespace: string | null;
  readonly objects: readonly RenderedObject[];
  readonly stages: readonly Stage[];
  /** Names of the Secrets that the objects refer to. */
  readonly secrets: readonly string[];
  readonly losses: readonly Loss[];
  /** Not empty: the objects are not whole, and nobody may have them. */
  readonly refusals: readonly Refusal[];
}

export interface RenderSettings {
  readonly namespace: string | null;
  readonly secrets: SecretMode;
}

export function renderObjects(given: Given, { namespace, secrets: mode }: RenderSettings): Rendered {
  const rendered = given.components.filter(isRunnable);
  const stages = stagesOf(given.components, rendered, namespace);
  const whole = new Notes(null, given.isWritten);
  for (const [section, message] of Object.entries(SECTIONS)) whole.loseWritten([section], message);
  refuseCollisions(rendered, whole);
  const left = given.components.filter((spec) => !isRunnable(spec)).map((spec) => leaveOut(spec, given));
  const parts = stages.flatMap(({ number, components }) =>
    components.map((name) => renderComponent(rendered.find((spec) => spec.name === name)!, number, given, namespace)),
  );
  const notes = [whole, ...left, ...parts.map((part) => part.notes)];
  const isWanted = ({ object }: RenderedObject): boolean =>
    mode === 'include' || (object.kind === 'Secret') === (mode === 'only');
  const objects = parts.flatMap((part) => part.objects);
  return {
    namespace,
    objects: objects.filter(isWanted),
    stages,
    secrets: parts.flatMap((part) => part.secrets),
    losses: notes.flatMap(({ losses }) => losses),
    refusals: notes.flatMap(({ refusals }) => refusals),
  };
}

function refuseCollisions(rendered: readonly ComponentSpec[], notes: Notes): void {
  for (const group of collisions(rendered.map(({ name }) => name))) {
    const [first, ...others] = group;
    for (const name of others) {
      const message = `"${name}" and "${first}" would both be called "${objectName(name)}" on Kubernetes`;
      notes.refuse(['components', name], message, 'Rename one of them: Kubernetes takes a-z, 0-9 and dash only.');
    }
  }
}

function leaveOut({ name, driver }: ComponentSpec, given: Given): Notes {
  const notes = new Notes(name, given.isWritten);
  notes.lose(
    [driver.kind],
    driver.kind === 'external'
      ? 'is run by somebody else and is not rendered'
      : 'is described in a compose file and is not rendered: write it as a container',
  );
  return notes;
}

interface Part {
  readonly notes: Notes;
  readonly objects: readonly RenderedObject[];
  readonly secrets: readonly string[];
}

function renderComponent(
  spec: ComponentSpec & { readonly driver: Parameters<typeof podOf>[0]['driver'] },
  stage: number,
  given: Given,
  namespace: string | null,
): Part {
  const notes = new Notes(spec.name, given.isWritten);
  const name = objectName(spec.name);
  if (name !== spec.name)
    notes.lose([], `is called "${name}" on Kubernetes, which does not take the name "${spec.name}"`);
  const own = { [LABELS.name]: name, [LABELS.project]: labelValue(given.project) };
  const labels = { ...own, [LABELS.manager]: MANAGER };
  const metadata = (of: string): KubernetesObject['metadata'] => ({
    name: of,
    ...(namespace === null ? {} : { namespace }),
    labels: { ...labels, [LABELS.stage]: String(stage) },
    ...(name === spec.name ? {} : { annotations: { [ANNOTATIONS.component]: spec.name } }),
  });
  const known = [...new Set([...given.secrets, ...secretValues(spec.driver.env)])];
  const pod = podOf(spec, name, { ...given, secrets: known }, notes);
  noteLosses(spec, isJob(spec), notes);
  noteAddresses(spec, given.components, notes);
  noteDependencies(spec, given.components.filter(isRunnable), notes);
  const template = (restartPolicy: string): Plain => ({
    metadata: compact({ labels, annotations: unlessEmpty(pod.annotations) }),
    spec: { restartPolicy, ...pod.spec },
  });
  const objects = [
    ...dataObjects(pod, metadata),
    ...serviceObjects(spec, metadata(name), own),
    isJob(spec)
      ? jobObject(spec, metadata(name), template('Never'))
      : deploymentObject(metadata(name), own, template('Always')),
  ];
  return {
    notes,
    objects: objects.map((object) => ({ stage, component: spec.name, object })),
    secrets: [...pod.variables.secrets.keys(), ...(pod.volumes?.secrets.keys() ?? [])],
  };
}

/** What the pod reads: before it, because it does not start without. */
function dataObjects(pod: Pod, metadata: (name: string) => KubernetesObject['metadata']): readonly KubernetesObject[] {
  const ofFiles = (name: string, files: Readonly<Record<string, MountedFile>>, kind: 'ConfigMap' | 'Secret') => {
    const texts = Object.entries(files).filter(([, { isText }]) => isText);
    const others = Object.entries(files).filter(([, { isText }]) => !isText);
    const content = (list: typeof texts) =>
      unlessEmpty(Object.fromEntries(list.map(([file, { content }]) => [file, content])));
    const keys = kind === 'Secret' ? { text: 'stringData', other: 'data' } : { text: 'data', other: 'binaryData' };
    return {
      apiVersion: 'v1',
      kind,
      metadata: metadata(name),
      ...compact({ [keys.text]: content(texts), [keys.other]: content(others) }),
    };
  };
  const variables = [...pod.variables.secrets].flatMap(([name, values]) =>
    values === null ? [] : [{ apiVersion: 'v1', kind: 'Secret', metadata: metadata(name), stringData: values }],
  );
  return [
    ...variables,
    ...[...(pod.volumes?.secrets ?? [])].map(([name, files]) => ofFiles(name, files, 'Secret')),
    ...[...(pod.volumes?.configMaps ?? [])].map(([name, files]) => ofFiles(name, files, 'ConfigMap')),
  ];
}

type Labels = Readonly<Record<string, string>>;

/** Others find a component by its name, at the ports that it has at home. */
function serviceObjects(spec: ComponentSpec, metadata: KubernetesObject['metadata'], selector: Labels) {
  const ports = openPorts(spec).map(({ outside, inside, protocol }) =>
    compact({
      name: `${protocol}-${outside}`,
      port: outside,
      targetPort: inside,
      protocol: protocol.toUpperCase(), // server-side apply takes no port without it
    }),
  );
  return ports.length === 0 ? [] : [{ apiVersion: 'v1', kind: 'Service', metadata, spec: { selector, ports } }];
}

function deploymentObject(metadata: KubernetesObject['metadata'], selector: Labels, template: Plain): KubernetesObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    // As at home: one at a time, and the new one begins when the old one is gone.
    spec: { replicas: 1, strategy: { type: 'Recreate' }, selector: { matchLabels: selector }, template },
  };
}

/** A new pod for each try: what a failed one wrote can be read until the Job is deleted. */
function jobObject(
  { restart }: ComponentSpec,
  metadata: KubernetesObject['metadata'],
  template: Plain,
): KubernetesObject {
  const backoffLimit = restart.policy === 'never' ? 0 : restart.limit.max;
  return { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { backoffLimit, template } };
}

const LOCAL = /(?<![\w.-])(localhost|127\.0\.0\.1|\[::1\])(?::(\d{1,5})(?!\d))?(?![\w-])/g;

function noteAddresses(spec: ComponentSpec, all: readonly ComponentSpec[], notes: Notes): void {
  const own = new Set(openPorts(spec).flatMap(({ inside, outside }) => [inside, outside]));
  for (const [path, text] of textsOf(spec)) {
    for (const [written, , digits] of text.matchAll(LOCAL)) {
      const port = digits === undefined ? null : Number(digits);
      if (port !== null && own.has(port))
        notes.lose(
          path,
          `"${written}" is only reached from inside its pod: listen on 0.0.0.0:${port}, or the kubelet's probes fail`,
        );
      else notes.lose(path, `"${written}" is the pod itself on Kubernetes${elsewhere(port, spec, all)}`);
    }
  }
}

function elsewhere(port: number | null, { name }: ComponentSpec, all: readonly ComponentSpec[]): string {
  const owner = all.find((other) => other.name !== name && openPorts(other).some(({ outside }) => outside === port));
  return owner ? `: ${owner.name} is found at "${objectName(owner.name)}:${port}"` : ', not this machine';
}

function textsOf({ driver }: ComponentSpec): readonly (readonly [path: Path, text: string])[] {
  const listed = (key: string, words: readonly string[] | null) =>
    (words ?? []).map((word, index) => [[driver.kind, key, index], word] as const);
  const env = Object.entries(driver.env).map(([name, value]) => [[driver.kind, 'env', name], value] as const);
  if (driver.kind === 'process')
    return [
      ...(driver.shell
        ? [[['process', 'command'], driver.command.at(-1)!] as const]
        : listed('command', driver.command)),
      ...env,
    ];
  return driver.kind === 'container'
    ? [...listed('entrypoint', driver.entrypoint), ...listed('command', driver.command), ...env]
    : [];
}
