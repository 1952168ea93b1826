/** Kubernetes as the engine of a daemon: makes what the configuration says into objects, asks the server what it thinks of them, and runs components there. */

import { AppError } from '../base/pure/errors.ts';
import { redact } from '../base/pure/redact.ts';
import type { Runtime } from '../base/runtime.ts';
import type { ResolvedConfig } from '../config/load.ts';
import { problemText } from '../config/problem.ts';
import type { Driver } from '../supervision/ports/driver.ts';
import { NO_PROBES } from '../supervision/rules/health/probe.ts';
import type { ClusterSpec, ComponentSpec } from '../supervision/spec.ts';
import { findAccess } from './client/access.ts';
import { ApiError } from './client/call.ts';
import { Client } from './client/client.ts';
import { ClusterDriver } from './engine/driver.ts';
import { placed } from './engine/workload.ts';
import { renderKubernetes } from './render.ts';
import { labelValue, objectName } from './rules/names.ts';
import type { KubernetesObject } from './rules/object.ts';
import { isRunnable } from './rules/pod.ts';
import { isJob } from './rules/stages.ts';

export interface ClusterOptions extends Runtime {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where it is written down what runs follow. */
  readonly dir: string;
  /** Who we are in the Lease of the project: the same for every daemon of this state directory on this machine. */
  readonly me: string;
  /** The first one; which cluster and which namespace it is about stays. */
  readonly config: ResolvedConfig;
}

export interface ClusterEngine {
  /** Components as workloads of Kubernetes. Throws an AppError with everything that is in the way. */
  prepare(config: ResolvedConfig): ResolvedConfig;
  /** The server says what it thinks of a prepared configuration, and changes nothing. Rejects with an AppError. */
  dryRun(config: ResolvedConfig): Promise<void>;
  /** Runs components on Kubernetes, and everything else with `local`. */
  driver(local: Driver, config: () => ResolvedConfig): Driver;
  /** Throws an AppError when another Keepwell runs the project there: then nothing can be started or stopped from here. */
  refuseStandby(): void;
  /** Removes everything that carries the labels of the project. */
  removeAll(): Promise<void>;
  close(): Promise<void>;
}

/** Throws an AppError when no cluster is named. Whether it answers is seen later: what runs there goes on without us. */
export function openCluster(options: ClusterOptions): ClusterEngine {
  const { env, clock, log, config: first } = options;
  const access = findAccess({ env, context: first.kubernetes.context });
  const client = new Client(access, env, clock);
  const namespace = first.kubernetes.namespace ?? access.namespace ?? 'default';
  const project = labelValue(first.name);
  let driver: ClusterDriver | null = null;
  let lossesTold = '';
  log.info('components run on Kubernetes', { context: access.name, server: access.server, namespace });
  return {
    prepare: (config) => {
      const { components, losses } = prepared(config, { ...first, namespace });
      if (losses.join('\n') !== lossesTold && losses.length > 0)
        log.warn('Kubernetes does not do all that the configuration says', { losses });
      lossesTold = losses.join('\n');
      return { ...config, components };
    },
    dryRun: (config) => dryRun(config, client, namespace),
    driver: (local, config) => {
      const specOf = (component: string) => specIn(config().components.find(({ name }) => name === component));
      driver = new ClusterDriver({
        ...{ ...options, client, namespace, project, specOf },
        objects: () => new Set(config().components.flatMap((spec) => specIn(spec)?.object ?? [])),
        secrets: () => config().secrets,
      });
      return driver.before(local);
    },
    refuseStandby: () => {
      const holder = driver?.otherHolder ?? null;
      if (holder !== null) throw new AppError('KUBERNETES_STANDBY', { holder });
    },
    removeAll: async () => {
      try {
        const gone = await driver?.removeAll();
        log.info('removed from Kubernetes', { objects: gone });
      } catch (error) {
        log.error('not everything could be removed from Kubernetes', { error: (error as Error).message });
      }
    },
    close: async () => {
      await driver?.close();
      client.close();
    },
  };
}

const specIn = (spec: ComponentSpec | undefined): ClusterSpec | null =>
  spec?.driver.kind === 'kubernetes' ? spec.driver : null;

/** What Keepwell does itself where it watches the cluster. */
const KEPT =
  /^(?:components\.[^.]+\.(?:restart\.(?:limit|success_codes|never_on|dependents)|min_uptime|logs|cleanup|depends_on)|(?:alerts|tickets|telemetry|dashboard|store|checks|health|logs|sessions|agents)\b)/;

/** Rounded up, and with time for the kubelet to tell of the end: it kills by itself what does not end in time. */
const TOLD_WITHIN_MS = 20_000;

function prepared(
  config: ResolvedConfig,
  running: { readonly name: string; readonly engine: string; readonly namespace: string },
): { readonly components: readonly ComponentSpec[]; readonly losses: readonly string[] } {
  if (config.engine !== 'kubernetes')
    throw new AppError('ENGINE_CHANGED', { asked: config.engine, running: 'kubernetes' });
  if (config.name !== running.name)
    throw new AppError('ENGINE_CHANGED', { asked: `kubernetes, name: ${config.name}`, running: running.name });
  refuseCompose(config);
  const { objects, losses } = renderKubernetes(config, { namespace: running.namespace, secrets: 'include' });
  const components = config.components.map((spec): ComponentSpec => {
    if (!isRunnable(spec)) return spec;
    const { heartbeat: _, ...rest } = spec;
    const { cwd, env, envFiles } = spec.driver;
    return {
      ...rest,
      driver: {
        ...{ kind: 'kubernetes', cwd, env, envFiles, object: objectName(spec.name) },
        workload: isJob(spec) ? 'Job' : 'Deployment',
        objects: objects.filter(({ component }) => component === spec.name).map(({ object }) => object),
      },
      probes: NO_PROBES,
      crashPatterns: [],
      stop: { ...spec.stop, graceMs: Math.ceil(spec.stop.graceMs / 1_000) * 1_000 + TOLD_WITHIN_MS },
    };
  });
  const told = losses.filter(({ path }) => !KEPT.test(path)).map((loss) => problemText(loss, config.baseDir));
  return { components, losses: told };
}

function refuseCompose({ components }: ResolvedConfig): void {
  const compose = components.filter(({ driver }) => driver.kind === 'compose').map(({ name }) => name as string);
  if (compose.length === 0) return;
  const listed = compose
    .map((name) => `components.${name}.compose: a service of a compose file does not run on Kubernetes`)
    .join('\n');
  throw new AppError('KUBERNETES_REFUSED', { listed }, { hint: 'Write these as containers.' });
}

const AT_ONCE = 10;

async function dryRun(config: ResolvedConfig, client: Client, namespace: string): Promise<void> {
  const { signal } = new AbortController();
  const asked = config.components.flatMap((spec) =>
    (specIn(spec)?.objects ?? []).map((object) => ({ component: spec.name, object: placed(object, namespace) })),
  );
  const problems: string[] = [];
  for (let from = 0; from < asked.length; from += AT_ONCE) {
    const answers = asked.slice(from, from + AT_ONCE).map(async ({ component, object }) => {
      try {
        await client.apply(asNew(object), { dryRun: true }, signal);
      } catch (error) {
        // With status 500 a server may also say what it does not like.
        if (!(error instanceof ApiError) || (error.isUnanswered && error.status !== 500))
          throw new AppError('KUBERNETES_UNREACHABLE', { problem: (error as Error).message }, { cause: error });
        const said = redact(error.message, config.secrets);
        problems.push(`components.${component}: ${object.kind} ${object.metadata.name}: ${said}`);
      }
    });
    await Promise.all(answers);
  }
  if (problems.length > 0) throw new AppError('KUBERNETES_INVALID', { listed: problems.join('\n') });
}

/** A Job cannot be changed; one that is there is replaced, so what counts is whether a new one would be taken. */
function asNew(object: KubernetesObject): KubernetesObject {
  if (object.kind !== 'Job') return object;
  const { name } = object.metadata;
  return { ...object, metadata: { ...object.metadata, name: `${name.slice(0, 55)}-dry-run` } };
}
