/** Makes the objects of a component, takes its workload down to nothing, and removes what carries our labels. */

import type { ClusterObject, ClusterSpec } from '../../supervision/spec.ts';
import type { Client } from '../client/client.ts';
import { type Kind, MADE, type Stored } from '../rules/api.ts';
import { ANNOTATIONS, type KubernetesObject, LABELS, MANAGER } from '../rules/object.ts';

export interface WorkloadOptions {
  readonly client: Client;
  readonly namespace: string;
  /** As a label. */
  readonly project: string;
  readonly signal: AbortSignal;
}

interface StoredWorkload extends Stored {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

export const selectorOf = (project: string): string => `${LABELS.manager}=${MANAGER},${LABELS.project}=${project}`;

export class Workloads {
  readonly #options: WorkloadOptions;

  constructor(options: WorkloadOptions) {
    this.#options = options;
  }

  /** All of it as the configuration says. A Job that is over is made anew: nothing else starts it again. */
  async make(spec: ClusterSpec): Promise<void> {
    const { client, namespace, signal } = this.#options;
    const there = await this.#read(spec);
    if (spec.workload === 'Job' && there !== null && isOver(there))
      await client.remove('Job', namespace, spec.object, signal);
    for (const object of spec.objects) {
      const isWorkload = object.kind === spec.workload && object.metadata.name === spec.object;
      await this.#apply(isWorkload ? scaled(object, replicasOf(there), null) : (object as KubernetesObject));
    }
  }

  /** Whether there is something that will start it by itself. */
  async isAtWork(spec: ClusterSpec): Promise<boolean> {
    const there = await this.#read(spec);
    return there !== null && (spec.workload === 'Job' ? !isOver(there) : (there.spec?.replicas ?? 1) > 0);
  }

  async isThere(spec: ClusterSpec): Promise<boolean> {
    return (await this.#read(spec)) !== null;
  }

  /** In whose words it was taken down; null: it was not, or somebody has scaled it up since. */
  async whyAtRest(spec: ClusterSpec): Promise<string | null> {
    const there = await this.#read(spec);
    return there?.spec?.replicas === 0 ? (there.metadata.annotations?.[ANNOTATIONS.resting] ?? null) : null;
  }

  /** The uids of its pods as they are now. */
  async podsOf({ object }: Pick<ClusterSpec, 'object'>): Promise<ReadonlySet<string>> {
    const { client, namespace, project, signal } = this.#options;
    const labels = `${selectorOf(project)},${LABELS.name}=${object}`;
    const { items } = await client.list('Pod', namespace, { labels }, signal);
    return new Set(items.map(({ metadata }) => metadata.uid));
  }

  /** Nothing of it runs any more. How many there were is written down, so that it comes back as it was. */
  async rest(spec: Pick<ClusterSpec, 'workload' | 'object' | 'objects'>, why: string): Promise<void> {
    const { client, namespace, signal } = this.#options;
    if (spec.workload === 'Job') {
      await client.remove('Job', namespace, spec.object, signal);
      return;
    }
    const there = await this.#read(spec);
    if (there === null || there.spec?.replicas === 0) return;
    const object = spec.objects.find(({ kind }) => kind === 'Deployment');
    if (object)
      await this.#apply(
        scaled(object, 0, { [ANNOTATIONS.replicas]: String(replicasOf(there)), [ANNOTATIONS.resting]: why }),
      );
    else await client.remove('Deployment', namespace, spec.object, signal); // of an earlier configuration
  }

  /** Removes what carries our labels, or only what belongs to a component that `isKept` does not name. Returns what went. */
  async remove(isKept: (object: string) => boolean): Promise<readonly string[]> {
    const { client, namespace, project, signal } = this.#options;
    const gone: string[] = [];
    for (const kind of [...MADE].reverse()) {
      const { items } = await client.list(kind, namespace, { labels: selectorOf(project) }, signal);
      for (const { metadata } of items) {
        if (isKept(metadata.labels?.[LABELS.name] ?? '')) continue;
        if (await client.remove(kind, namespace, metadata.name, signal)) gone.push(`${kind} ${metadata.name}`);
      }
    }
    return gone;
  }

  #read({ workload, object }: Pick<ClusterSpec, 'workload' | 'object'>): Promise<StoredWorkload | null> {
    const { client, namespace, signal } = this.#options;
    return client.get<StoredWorkload>(workload as Kind, namespace, object, signal);
  }

  async #apply(object: KubernetesObject): Promise<void> {
    const { client, namespace, signal } = this.#options;
    await client.apply(placed(object, namespace), {}, signal);
  }
}

export const placed = (object: ClusterObject, namespace: string): KubernetesObject => {
  const whole = object as KubernetesObject;
  return { ...whole, metadata: { ...whole.metadata, namespace } };
};

const isOver = ({ status }: StoredWorkload): boolean =>
  (status?.conditions ?? []).some(
    ({ type, status: is }) => (type === 'Complete' || type === 'Failed') && is === 'True',
  );

/** As many as before it was taken down, or as somebody has set it since. */
function replicasOf(there: StoredWorkload | null): number {
  const remembered = Number(there?.metadata.annotations?.[ANNOTATIONS.replicas]);
  return there?.spec?.replicas || (Number.isInteger(remembered) && remembered > 0 ? remembered : 1);
}

function scaled(object: ClusterObject, replicas: number, annotations: Readonly<Record<string, string>> | null) {
  const whole = object as KubernetesObject & { readonly spec: Readonly<Record<string, unknown>> };
  if (whole.kind !== 'Deployment') return whole;
  const noted = annotations ? { annotations: { ...whole.metadata.annotations, ...annotations } } : {};
  return { ...whole, metadata: { ...whole.metadata, ...noted }, spec: { ...whole.spec, replicas } };
}
