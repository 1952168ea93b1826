/** Renders Keepwell itself for Kubernetes: gathers the configuration and the files that it names, and says what cannot come along. */

import { isAbsolute, relative } from 'node:path';
import { AppError } from '../base/pure/errors.ts';
import type { ResolvedConfig } from '../config/load.ts';
import { fileForCluster, type RenderOptions } from './render.ts';
import type { MountedFile } from './rules/given.ts';
import type { KubernetesObject } from './rules/object.ts';
import { selfObjects } from './rules/self.ts';
import { mountedPaths } from './rules/volumes.ts';
import { yamlDocument, yamlFile } from './yaml.ts';

export interface SelfOptions extends RenderOptions {
  /** With `keepwell` in its PATH. */
  readonly image: string;
  /** A PersistentVolumeClaim for its state; null: that ends with the pod. */
  readonly claim: string | null;
}

export interface SelfRender {
  readonly namespace: string | null;
  readonly objects: readonly KubernetesObject[];
  readonly secrets: readonly string[];
  /** `name`: what the file will be called, for the command at its head. */
  text(name: string): string;
}

/** Throws an AppError with everything that is in the way. */
export function renderSelf(config: ResolvedConfig, { image, claim, ...options }: SelfOptions): SelfRender {
  const { namespace: named, secrets: mode } = options;
  const namespace = named ?? config.kubernetes.namespace;
  const inside = (path: string) => relative(config.baseDir, path);
  const paths = config.components.flatMap(({ driver }) => [
    ...driver.envFiles,
    ...(driver.kind === 'container' ? mountedPaths(driver) : []),
  ]);
  const problems: string[] = [];
  // What "keepwell run" keeps is a configuration like the others.
  const configs = [...config.sources, ...config.kept];
  const files = new Map<string, MountedFile>(
    configs.map(({ path, text }) => [inside(path), { content: text, isText: true }]),
  );
  for (const path of new Set(paths)) for (const [name, file] of filesAt(path, problems)) files.set(inside(name), file);
  for (const path of files.keys())
    if (path.startsWith('..') || isAbsolute(path)) problems.push(`${path} is not in the folder of the configuration`);
  if (problems.length > 0) throw new AppError('KUBERNETES_SELF', { listed: problems.join('\n') });
  const { objects, secretNames } = selfObjects({
    ...{ project: config.name, namespace, image, claim, files, mode },
    configs: configs.map(({ path }) => inside(path)),
    envFiles: new Set(config.components.flatMap(({ driver }) => driver.envFiles).map(inside)),
    ...{ variables: config.variables, secrets: config.secrets },
  });
  const head = (file: string): readonly string[] => [
    `Written by "keepwell render --self ${image}". It runs the daemon of "${config.name}" in the cluster; the daemon applies the components by itself.`,
    ...(namespace === null ? [] : [`It goes into the namespace "${namespace}", which must exist.`]),
    ...(secretNames.length === 0 || mode === 'include'
      ? []
      : [
          `Its Secrets (${secretNames.join(', ')}) are not in here. Make them first:`,
          `  keepwell render --self ${image} --secrets only | kubectl apply -f -`,
        ]),
    'Apply it:',
    `  kubectl apply -f ${file}`,
    ...(claim === null
      ? ['Its history ends with its pod. Name a PersistentVolumeClaim with --claim to keep it, or set store.fleet.']
      : [`The PersistentVolumeClaim "${claim}" must exist; it keeps the history.`]),
  ];
  const documents = objects.map(yamlDocument);
  return {
    ...{ namespace, objects, secrets: secretNames },
    text: (name) => yamlFile(mode === 'only' ? [] : head(name), documents),
  };
}

/** A folder with folders in it is a volume claim for the component, and the daemon needs nothing of it. */
function filesAt(path: string, problems: string[]): readonly (readonly [path: string, file: MountedFile])[] {
  const there = fileForCluster(path);
  if (there.kind === 'unreadable') problems.push(`${path}: ${there.problem}`);
  if (there.kind !== 'files') return [];
  if (!there.isFolder) return Object.values(there.files).map((file) => [path, file]);
  return Object.entries(there.files).map(([name, file]) => [`${path}/${name}`, file]);
}
