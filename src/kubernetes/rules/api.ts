/** Where objects of Kubernetes are found, by kind, and what a list or a watch brings. */

/** The kinds that Keepwell makes or looks at. */
const KINDS = {
  Deployment: { group: 'apis/apps/v1', plural: 'deployments' },
  Job: { group: 'apis/batch/v1', plural: 'jobs' },
  Service: { group: 'api/v1', plural: 'services' },
  ConfigMap: { group: 'api/v1', plural: 'configmaps' },
  Secret: { group: 'api/v1', plural: 'secrets' },
  Pod: { group: 'api/v1', plural: 'pods' },
  Event: { group: 'api/v1', plural: 'events' },
  Lease: { group: 'apis/coordination.k8s.io/v1', plural: 'leases' },
} as const;

export type Kind = keyof typeof KINDS;

/** Those that are made, what pods need first: they are removed the other way round. */
export const MADE: readonly Kind[] = ['Secret', 'ConfigMap', 'Service', 'Deployment', 'Job'];

export const isKind = (kind: string): kind is Kind => Object.hasOwn(KINDS, kind);

/** "/apis/apps/v1/namespaces/shop/deployments/api" */
export function pathOf(kind: Kind, namespace: string, name?: string): string {
  const { group, plural } = KINDS[kind];
  const path = `/${group}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
  return name === undefined ? path : `${path}/${encodeURIComponent(name)}`;
}

/** What every object has. */
export interface Stored {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion?: string;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

export interface Listed<T> {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items: readonly T[];
}

export type WatchLine<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: T }
  | { readonly type: 'ERROR'; readonly object: { readonly code?: number; readonly message?: string } };

/** The place in the stream is too old, and what happened since is not known any more. */
export const isExpired = (status: number, reason: string): boolean =>
  status === 410 || reason === 'Expired' || reason === 'Gone';

/** The kubelet answers so, with status 200, when the container is gone already. */
export const isMissingLog = (text: string): boolean =>
  /^(?:unable to retrieve container logs for|failed to (?:try resolving symlinks|get container status)|rpc error:)/.test(
    text.trimStart(),
  ) && text.trim().split('\n').length === 1;
