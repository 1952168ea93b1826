/** Files of this machine that a container mounts, as ConfigMaps and Secrets; folders and volumes as claims that must be there. */

import { shortHash } from '../../base/pure/hash.ts';
import type { ContainerSpec } from '../../supervision/spec.ts';
import type { Given, Mounted, MountedFile, Notes } from './given.ts';
import { isDataKey, objectName } from './names.ts';
import { compact, type Plain } from './object.ts';
import { isSecretFile } from './secret.ts';

export interface Volumes {
  readonly volumes: readonly { readonly [key: string]: Plain }[];
  readonly mounts: readonly { readonly [key: string]: Plain }[];
  /** Files by the name of the object that has them. */
  readonly configMaps: ReadonlyMap<string, Readonly<Record<string, MountedFile>>>;
  readonly secrets: ReadonlyMap<string, Readonly<Record<string, MountedFile>>>;
  /** Of what is in the ConfigMaps; null: there are none. */
  readonly hash: string | null;
}

interface Volume {
  readonly from: string;
  readonly to: string;
  readonly isReadOnly: boolean;
}

function parse(text: string): Volume {
  const [from = '', to = '', options = ''] = text.split(':');
  return { from, to, isReadOnly: options.split(',').includes('ro') };
}

/** Paths of this machine that it mounts. */
export const mountedPaths = ({ volumes }: ContainerSpec): readonly string[] =>
  volumes.map((text) => parse(text).from).filter((from) => from.startsWith('/'));

export function volumesOf(
  { volumes: written }: ContainerSpec,
  object: string,
  known: readonly string[],
  given: Pick<Given, 'mounts'>,
  notes: Notes,
): Volumes {
  const parts = written.map((text, index) => volumeOf(parse(text), index, object, known, given, notes));
  const filed = (kind: Filed['kind']) =>
    new Map(parts.flatMap(({ filed }) => (filed?.kind === kind ? [[filed.holder, filed.files] as const] : [])));
  const configMaps = filed('ConfigMap');
  return {
    volumes: parts.map(({ name, source }) => ({ name, ...source })),
    mounts: parts.map(({ name, mount }) => ({ name, ...mount })),
    configMaps,
    secrets: filed('Secret'),
    hash: configMaps.size === 0 ? null : shortHash(JSON.stringify([...configMaps])),
  };
}

/** Files, and the object that has them. */
interface Filed {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly holder: string;
  readonly files: Readonly<Record<string, MountedFile>>;
}

interface Part {
  readonly name: string;
  /** Where its content comes from. */
  readonly source: { readonly [key: string]: Plain };
  readonly mount: { readonly [key: string]: Plain };
  readonly filed: Filed | null;
}

function volumeOf(
  volume: Volume,
  index: number,
  object: string,
  known: readonly string[],
  { mounts }: Pick<Given, 'mounts'>,
  notes: Notes,
): Part {
  const name = `volume-${index + 1}`;
  const at = ['container', 'volumes', index];
  const isPath = volume.from.startsWith('/');
  const mounted = isPath ? mounts.get(volume.from) : undefined;
  if (mounted?.kind === 'unreadable') {
    const hint = 'Its content becomes part of what is rendered: put it there, or remove the volume.';
    notes.refuse(at, `${volume.from} cannot be read: ${mounted.problem}`, hint);
  }
  const files = mounted?.kind === 'files' ? filesOf(mounted, volume) : null;
  if (mounted?.kind === 'files' && files !== null) {
    if (!volume.isReadOnly) notes.lose(at, 'is a copy on Kubernetes: what the component writes is not kept');
    const filed: Filed = { kind: kindOf(files, known), holder: `${object}-files-${index + 1}`, files };
    const source =
      filed.kind === 'Secret' ? { secret: { secretName: filed.holder } } : { configMap: { name: filed.holder } };
    const subPath = mounted.isFolder ? null : Object.keys(files)[0];
    return { name, source, mount: compact({ mountPath: volume.to, subPath, readOnly: true }), filed };
  }
  const claim = isPath ? `${object}-volume-${index + 1}` : objectName(volume.from.toLowerCase());
  const what = isPath ? 'this folder' : 'this volume of Docker';
  notes.lose(
    at,
    `${what} is not on the cluster: a PersistentVolumeClaim "${claim}" must exist, or its pods do not start`,
  );
  return {
    name,
    source: { persistentVolumeClaim: { claimName: claim } },
    mount: compact({ mountPath: volume.to, readOnly: volume.isReadOnly ? true : null }),
    filed: null,
  };
}

const kindOf = (files: Filed['files'], known: readonly string[]): Filed['kind'] =>
  Object.entries(files).some(([file, { content, isText }]) => isSecretFile(file, isText ? content : '', known))
    ? 'Secret'
    : 'ConfigMap';

/** Null: they cannot be the content of a ConfigMap. A folder that is written to is data, and data needs a place of its own. */
function filesOf(mounted: Mounted & { readonly kind: 'files' }, { isReadOnly }: Volume) {
  if (mounted.isFolder && !isReadOnly) return null;
  const names = Object.keys(mounted.files);
  return names.length > 0 && names.every(isDataKey) ? mounted.files : null;
}
