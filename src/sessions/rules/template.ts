/** What a session is made from: a template of the configuration, complete and checked. */
import type { HealthCheckTimes } from '../../supervision/rules/container-health.ts';
import type { BackoffSpec, LimitSpec } from '../../supervision/spec.ts';

export interface SessionTemplate {
  readonly name: string;
  readonly image: string;
  /** In the container; published on the loopback address. Null: nothing is published. */
  readonly port: number | null;
  /** How long a session lives unless somebody says otherwise, and how long it can be extended to, both from its beginning. */
  readonly ttlMs: number;
  readonly maxTtlMs: number;
  /** How many of this template one user may have at once. */
  readonly perUser: number;
  /** Null: as the image says. */
  readonly command: readonly string[] | null;
  readonly entrypoint: readonly string[] | null;
  readonly env: Readonly<Record<string, string>>;
  /** Absolute paths, read again for each session; later files win, `env` wins over files. */
  readonly envFiles: readonly string[];
  readonly user: string | null;
  readonly workdir: string | null;
  /** 'none': that of the image is switched off; null: as the image says. */
  readonly healthcheck: { readonly command: readonly string[]; readonly times: HealthCheckTimes } | 'none' | null;
  readonly readOnly: boolean;
  /** Paths that can be written to: memory, gone with the container. */
  readonly tmpfs: readonly string[];
  /** All others are dropped. */
  readonly addCapabilities: readonly string[];
  readonly noNewPrivileges: boolean;
  /** isolated: sessions reach neither each other nor the world, and are reached by their port only. none: no network at all. */
  readonly network: 'isolated' | 'none';
  readonly limits: { readonly memoryBytes: number; readonly cpus: number; readonly pids: number };
  readonly restart: { readonly backoff: BackoffSpec; readonly limit: LimitSpec };
  /** How long a spawn that waits for health waits. */
  readonly readyTimeoutMs: number;
}

/** What the configuration says about sessions. */
export interface SessionsSpec {
  readonly templates: readonly SessionTemplate[];
  /** Of all users and templates together. */
  readonly max: number;
}

export const NO_SESSIONS: SessionsSpec = { templates: [], max: 0 };

// Who may have one more session. What exists is counted, as the Engine lists it, and not what we believe to have made.

/** A session that takes a place: its container exists, or is just being made. */
export interface Place {
  readonly id: string;
  readonly user: string;
  readonly template: string;
}

export type Refusal =
  | { readonly kind: 'user'; readonly sessions: readonly string[] }
  | { readonly kind: 'total'; readonly count: number };

export function refusal(
  { user, template, max }: { readonly user: string; readonly template: SessionTemplate; readonly max: number },
  places: Iterable<Place>,
): Refusal | null {
  // By id, because one that is being made may be in the Engine's list already.
  const taken = [...new Map([...places].map((place) => [place.id, place])).values()];
  const own = taken.filter((place) => place.user === user && place.template === template.name);
  if (own.length >= template.perUser) return { kind: 'user', sessions: own.map(({ id }) => id) };
  return taken.length >= max ? { kind: 'total', count: taken.length } : null;
}
