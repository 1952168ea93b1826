/** Objects of Kubernetes as they are handed over: plain data, keys in the order in which people read them. */

export type Plain = string | number | boolean | readonly Plain[] | { readonly [key: string]: Plain };

export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [rest: string]: unknown;
}

/** By these what was rendered is found again. */
export const LABELS = {
  name: 'app.kubernetes.io/name',
  project: 'app.kubernetes.io/part-of',
  manager: 'app.kubernetes.io/managed-by',
  /** Only on the objects, not on their pods: a new order must restart nobody. */
  stage: 'keepwell.stage',
} as const;

export const ANNOTATIONS = {
  /** The name at home, where Kubernetes does not take it. */
  component: 'keepwell.component',
  /** Changes with the mounted files, so that pods are restarted with the new ones. */
  files: 'keepwell.files',
  /** How many there were before it was taken down. */
  replicas: 'keepwell.replicas',
  /** Why it was taken down. */
  resting: 'keepwell.resting',
} as const;

export const MANAGER = 'keepwell';

type Given = Readonly<Record<string, Plain | undefined | null>>;

/** Without what is not there. */
export const compact = (fields: Given): { readonly [key: string]: Plain } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)) as {
    readonly [key: string]: Plain;
  };

/** Null when there is nothing in it. */
export const unlessEmpty = <T extends object>(value: T): T | null => (Object.keys(value).length === 0 ? null : value);
