/** Makes the container of a session, step by step. Whatever goes wrong, the caller clears away by the session's label. */

import { createHash } from 'node:crypto';
import { after } from '../base/pure/ids.ts';
import type { Runtime } from '../base/runtime.ts';
import type { ContainerPlan, Creation, EngineClient, Unreachable } from '../docker/ports.ts';
import { LABELS } from '../docker/rules/labels.ts';
import type { Lease } from './rules/lease.ts';
import { labelsOf } from './rules/sweep.ts';
import type { SessionTemplate } from './rules/template.ts';
import { SESSION_HOST, type SessionRecord, type SessionTerms } from './spec.ts';

interface MakeParts extends Pick<Runtime, 'clock' | 'failpoints'> {
  readonly engine: EngineClient;
  readonly owner: string;
  environmentOf(template: SessionTemplate): Readonly<Record<string, string>>;
  network(signal: AbortSignal): Promise<NetworkResult>;
}

export type Made =
  | { readonly kind: 'made'; readonly port: number | null }
  /** Somebody wants it ended before it had begun. */
  | { readonly kind: 'called-off' }
  | { readonly kind: 'failed'; readonly why: string }
  /** It is about the Engine or its machine, a full disk say, and not about what was asked for. */
  | { readonly kind: 'engine-fault'; readonly why: string }
  | { readonly kind: 'unreachable'; readonly why: string };

interface Progress {
  /** The container exists. */
  created(containerId: string): void;
  isCalledOff(): boolean;
}

const CALLED_OFF: Made = { kind: 'called-off' };

export async function make(
  record: SessionRecord,
  template: SessionTemplate,
  parts: MakeParts,
  progress: Progress,
  signal: AbortSignal,
): Promise<Made> {
  const { engine, failpoints, owner } = parts;
  const network = template.network === 'none' ? null : await parts.network(signal);
  if (network !== null && network.kind !== 'there') return network;
  failpoints.hit('session.after-network');
  if (progress.isCalledOff()) return CALLED_OFF;
  const plan = planOf(record, template, {
    owner,
    env: parts.environmentOf(template),
    network: network?.id ?? null,
  });
  const creation = await create(engine, record, plan, signal);
  if (creation.kind === 'unreachable' || creation.kind === 'engine-fault') return creation;
  if (creation.kind !== 'created') return { kind: 'failed', why: creation.why };
  failpoints.hit('session.after-create');
  progress.created(creation.id);
  if (progress.isCalledOff()) return CALLED_OFF;
  const started = await engine.start(creation.id, signal);
  if (started.kind === 'unreachable' || started.kind === 'engine-fault') return started;
  if (started.kind === 'missing') return { kind: 'failed', why: 'somebody removed its container' };
  if (started.kind !== 'done') return { kind: 'failed', why: started.why };
  failpoints.hit('session.after-start');
  return portOf(creation.id, template.port !== null, parts, progress, signal);
}

/** Labels say whose it is, so where the name for people is taken, another one does as well. */
async function create(
  engine: EngineClient,
  record: SessionRecord,
  plan: Parameters<EngineClient['create']>[1],
  signal: AbortSignal,
): Promise<Creation> {
  const creation = await engine.create(nameOf(record), plan, signal);
  return creation.kind === 'name-taken' ? engine.create(null, plan, signal) : creation;
}

/** The Engine publishes a port a moment after it says that the container has started. */
const PORT_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 100;

/** Where its port is published, as soon as that is known. */
export async function portOf(
  containerId: string,
  isPublished: boolean,
  { engine, clock }: Pick<MakeParts, 'engine' | 'clock'>,
  progress: Pick<Progress, 'isCalledOff'>,
  signal: AbortSignal,
): Promise<Made> {
  const deadline = after(clock.now(), PORT_WITHIN_MS);
  for (;;) {
    const look = await engine.inspect(containerId, signal);
    if (progress.isCalledOff()) return CALLED_OFF;
    if (look.kind === 'unreachable') return look;
    if (look.kind === 'missing') return { kind: 'failed', why: 'somebody removed its container' };
    const { state, setup } = look;
    if (!state.running) return { kind: 'failed', why: `it ended at once with exit code ${state.exitCode}` };
    if (!isPublished) return { kind: 'made', port: null };
    const published = setup.ports[0];
    if (published) return { kind: 'made', port: published.hostPort };
    if (clock.now() >= deadline) return { kind: 'failed', why: 'the Engine did not publish its port' };
    await clock.sleepUntil(after(clock.now(), LOOK_EVERY_MS), signal);
  }
}

// The record of a session that has just begun, for whoever makes it.

/** Until somebody has looked at its container. */
export const NOT_SEEN = { status: 'unknown', reason: 'not checked yet' } as const;

export const newRecord = (
  { id, user, template }: Pick<SessionRecord, 'id' | 'user' | 'template'>,
  lease: Lease,
  terms: SessionTerms,
): SessionRecord => ({
  id,
  user,
  template,
  state: 'spawning',
  lease,
  containerId: null,
  port: null,
  health: NOT_SEEN,
  restarts: 0,
  terms,
  end: null,
});

// The container of a session: everything is closed that its template does not open.

/** Memory that looks like a disk counts as memory of the container; this keeps one file system from taking all of it. */
const TMPFS_OPTIONS = 'rw,nosuid,nodev,size=64m,mode=1777';

interface PlanParts {
  readonly owner: string;
  readonly env: Readonly<Record<string, string>>;
  /** Of the isolated network. */
  readonly network: string | null;
}

const planOf = (
  record: SessionRecord,
  template: SessionTemplate,
  { owner, env, network }: PlanParts,
): ContainerPlan => ({
  image: template.image,
  command: template.command,
  entrypoint: template.entrypoint,
  env,
  labels: labelsOf(record, owner),
  user: template.user,
  workdir: template.workdir,
  init: true,
  stopSignal: null,
  healthCheck: template.healthcheck,
  network: network ?? 'none',
  ports: template.port === null ? [] : [{ port: template.port, protocol: 'tcp', hostIp: SESSION_HOST, hostPort: null }],
  binds: [],
  tmpfs: Object.fromEntries(template.tmpfs.map((path) => [path, TMPFS_OPTIONS])),
  readOnly: template.readOnly,
  dropCapabilities: ['ALL'],
  addCapabilities: template.addCapabilities,
  noNewPrivileges: template.noNewPrivileges,
  memoryBytes: template.limits.memoryBytes,
  cpus: template.limits.cpus,
  pids: template.limits.pids,
  nofile: null,
});

/** For people who look at `docker ps`; the labels say whose it is. */
const nameOf = ({ id, template }: SessionRecord): string => `keepwell-${template}-${id.slice(0, 8)}`;

// The network of isolated sessions: one bridge for all of them, on which containers cannot reach each other and from which nothing
// is translated to the world. One bridge each would run out of address ranges after some thirty (decision 0021).

/** Always the same for an owner, and always with this beginning: the guide has firewall rules for "kw-+". The kernel allows 15. */
const bridgeOf = (owner: string): string => `kw-${createHash('sha256').update(owner).digest('hex').slice(0, 12)}`;

const optionsOf = (owner: string) => ({
  'com.docker.network.bridge.name': bridgeOf(owner),
  'com.docker.network.bridge.enable_icc': 'false',
  'com.docker.network.bridge.enable_ip_masquerade': 'false',
});
/** On the network it says nothing about one session. */
const MARK = 'network';

type NetworkResult =
  | { readonly kind: 'there'; readonly id: string }
  | { readonly kind: 'failed'; readonly why: string }
  | Unreachable;

const labels = (owner: string): readonly string[] => [`${LABELS.owner}=${owner}`, `${LABELS.session}=${MARK}`];

/** Looks, and makes it if it is not there. The caller sees to it that nobody else does at the same time. */
export async function ensureNetwork(engine: EngineClient, owner: string, signal: AbortSignal): Promise<NetworkResult> {
  const listing = await engine.networks(labels(owner), signal);
  if (listing.kind === 'unreachable') return listing;
  const there = listing.items[0];
  if (there) return { kind: 'there', id: there.id };
  const network = {
    name: `keepwell-sessions-${owner}`,
    labels: { [LABELS.owner]: owner, [LABELS.session]: MARK },
    internal: false,
    options: optionsOf(owner),
  };
  const made = await engine.createNetwork(network, signal);
  if (made.kind === 'created') return { kind: 'there', id: made.id };
  if (made.kind === 'unreachable') return made;
  return { kind: 'failed', why: `the network of sessions could not be made: ${made.why}` };
}

/** For when there is no session any more. What does not go now goes another time. */
export async function removeNetworks(engine: EngineClient, owner: string, signal: AbortSignal): Promise<void> {
  const listing = await engine.networks(labels(owner), signal);
  if (listing.kind === 'unreachable') return;
  for (const { id } of listing.items) await engine.removeNetwork(id, signal);
}
