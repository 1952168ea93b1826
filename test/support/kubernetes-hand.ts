/** Does by hand, through the API, what controllers and kubelets do: makes a pod for every workload, lets containers die and come back. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { TestCluster } from './kubernetes.ts';
import { waitFor } from './wait-for.ts';

const PODS = '/api/v1/namespaces/default/pods';
const WORKLOADS = ['/apis/apps/v1/namespaces/default/deployments', '/apis/batch/v1/namespaces/default/jobs'];
const NAME = 'app.kubernetes.io/name';

export interface Death {
  readonly exitCode: number;
  readonly reason?: string;
  /** Last words. */
  readonly message?: string;
  /** What its log says, where there is one. */
  readonly log?: string;
  /** It is started again in the same pod, as under a Deployment; false: it stays dead. */
  readonly again?: boolean;
}

/** Deep enough for what a test looks at. */
// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes, as the test knows them
type Any = any;

export class Hand implements AsyncDisposable {
  /** Pods of these do not become ready by themselves. */
  readonly unready = new Set<string>();
  readonly #cluster: TestCluster;
  readonly #ending = new AbortController();
  readonly #working: Promise<void>;

  constructor(cluster: TestCluster) {
    this.#cluster = cluster;
    this.#working = this.#work();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#working;
  }

  async pod(object: string): Promise<Any> {
    return waitFor(`a pod of ${object}`, async () =>
      (await this.pods()).find(({ metadata }) => metadata.labels[NAME] === object),
    );
  }

  async pods(): Promise<readonly Any[]> {
    return (await this.#cluster.call('GET', PODS)).body.items ?? [];
  }

  async workload(object: string): Promise<Any | null> {
    for (const path of WORKLOADS) {
      const { status, body } = await this.#cluster.call('GET', `${path}/${object}`);
      if (status === 200) return body;
    }
    return null;
  }

  /** The container of the pod dies, and is started again unless told otherwise. */
  async die(object: string, death: Death): Promise<void> {
    const pod = await this.pod(object);
    const name: string = pod.metadata.name;
    const [old] = pod.status.containerStatuses;
    const ended = {
      exitCode: death.exitCode,
      reason: death.reason ?? (death.exitCode === 0 ? 'Completed' : 'Error'),
      message: death.message ?? '',
      startedAt: old.state.running?.startedAt ?? now(),
      finishedAt: now(),
      containerID: old.containerID,
    };
    if (death.log !== undefined) {
      const stamped = death.log.split('\n').map((line, index) => `${stampOf(index)} ${line}\n`);
      const where = death.again === false ? `${name}/${object}` : `${name}/${object}/previous`;
      this.#cluster.fake?.logs.set(where, stamped.join(''));
    }
    const next =
      death.again === false
        ? { ...old, ready: false, state: { terminated: ended } }
        : {
            ...{ name: object, image: old.image, imageID: '', containerID: `lab://${randomUUID()}`, ready: old.ready },
            ...{ started: true, restartCount: old.restartCount + 1, lastState: { terminated: ended } },
            state: { running: { startedAt: now() } },
          };
    await this.#status(pod, { ...pod.status, containerStatuses: [next] });
  }

  /** Its pod is ended by Kubernetes itself. */
  async evict(object: string): Promise<void> {
    const pod = await this.pod(object);
    await this.#status(pod, { phase: 'Failed', reason: 'Evicted', message: 'The node was low on resource: memory.' });
  }

  async setReady(object: string, ready: boolean): Promise<void> {
    const pod = await this.pod(object);
    const [old] = pod.status.containerStatuses;
    await this.#status(pod, { ...pod.status, containerStatuses: [{ ...old, ready }] });
  }

  async deletePod(name: string): Promise<void> {
    await this.#cluster.call('DELETE', `${PODS}/${name}?gracePeriodSeconds=0`);
  }

  async event(object: string, reason: string, message: string): Promise<void> {
    const pod = await this.pod(object);
    const { name, uid } = pod.metadata;
    await this.#cluster.call('POST', '/api/v1/namespaces/default/events', {
      ...{ apiVersion: 'v1', kind: 'Event', reason, message, count: 1, type: 'Warning' },
      metadata: { name: `${name}.${randomUUID().slice(0, 8)}`, namespace: 'default' },
      involvedObject: { kind: 'Pod', namespace: 'default', name, uid },
      ...{ firstTimestamp: now(), lastTimestamp: now() },
    });
  }

  async #status(pod: Any, status: unknown): Promise<void> {
    const path = `${PODS}/${pod.metadata.name}/status`;
    const answer = await this.#cluster.call('PUT', path, { ...pod, metadata: { ...pod.metadata }, status });
    if (answer.status !== 200) throw new Error(`no status: ${JSON.stringify(answer.body)}`);
  }

  async #work(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      await this.#tick().catch(() => {}); // the server is away: later
      await pause(50, undefined, { signal }).catch(() => {});
    }
  }

  async #tick(): Promise<void> {
    const pods = await this.pods();
    const wanted = new Map<string, Any>();
    for (const path of WORKLOADS) {
      for (const workload of (await this.#cluster.call('GET', path)).body.items ?? [])
        if ((workload.spec.replicas ?? 1) > 0) wanted.set(workload.metadata.name, workload);
    }
    for (const pod of pods) {
      const object = pod.metadata.labels?.[NAME];
      const owner = wanted.get(object);
      if (!owner || owner.metadata.uid !== pod.metadata.annotations?.owner) await this.deletePod(pod.metadata.name);
    }
    for (const [object, workload] of wanted) {
      const own = pods.filter((pod) => pod.metadata.labels?.[NAME] === object && pod.status?.reason !== 'Evicted');
      const isJob = workload.kind === 'Job' || workload.spec.backoffLimit !== undefined;
      if (own.some((pod) => pod.metadata.annotations?.owner === workload.metadata.uid)) continue;
      await this.#make(object, workload, isJob);
    }
  }

  async #make(object: string, { metadata, spec }: Any, isJob: boolean): Promise<void> {
    const name = `${object}-${randomUUID().slice(0, 5)}`;
    const { template } = spec;
    const made = await this.#cluster.call('POST', PODS, {
      ...{ apiVersion: 'v1', kind: 'Pod' },
      metadata: {
        ...{ name, namespace: 'default', labels: template.metadata.labels, annotations: { owner: metadata.uid } },
      },
      spec: { ...template.spec, nodeName: 'node-1', restartPolicy: isJob ? 'Never' : 'Always' },
    });
    if (made.status >= 300) throw new Error(`no pod: ${JSON.stringify(made.body)}`);
    const container = {
      ...{ name: object, image: template.spec.containers[0].image, imageID: '', containerID: `lab://${randomUUID()}` },
      ...{ ready: !this.unready.has(object), started: true, restartCount: 0 },
      state: { running: { startedAt: now() } },
    };
    await this.#status(made.body, { phase: 'Running', containerStatuses: [container] });
  }
}

const now = (): string => `${new Date().toISOString().slice(0, 19)}Z`;
const stampOf = (index: number): string => `2026-01-01T00:00:00.${String(index + 1).padStart(9, '0')}Z`;
