/**
 * The beginning of a run: the component's container is found and taken over, started again, or made anew. What the Engine could
 * not answer may have been done all the same, so after every doubt it begins with a look.
 */
import type { SpawnProblem } from '../../base/pure/exit.ts';
import { after } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { Composer } from '../../compose/ports.ts';
import type { ContainerSetup, ContainerState, ContainerSummary, EngineClient } from '../../docker/ports.ts';
import { LABELS } from '../../docker/rules/labels.ts';
import type { ContainerLaunch } from '../../supervision/ports/driver.ts';
import { isUnasked } from '../../supervision/rules/lifecycle/state.ts';
import type { ContainerSpec } from '../../supervision/spec.ts';
import { type Patience, patiently } from './patience.ts';
import { labelsOf, nameOf, type Ownership, otherNameOf, planOf } from './plan.ts';

export interface Up {
  readonly kind: 'up';
  readonly state: ContainerState;
  readonly setup: ContainerSetup;
}
export type Begun = Up | { readonly kind: 'failed'; readonly problem: SpawnProblem };
/** Null: something has changed meanwhile; look again. */
type Attempted = Begun | null;

/** So many failures in a row that starting the same container again has not helped: the next one is made anew. */
export const ANEW_AFTER_FAILURES = 3;
/** Containers that vanish or change under our hands so often belong to somebody else, too. */
export const MAX_TRIES = 10;
export const TRY_PAUSE_MS = 200;

const KEPT = 'the container is started with the image that it has: a newer one could not be fetched';

/** Rejects only when a signal aborts. */
export async function begin(launch: ContainerLaunch, parts: BeginParts): Promise<Begun> {
  const { engine, clock, signal } = parts;
  // Who asks for a start wants what the name of the image stands for now; what failed by itself is brought back as it was.
  const image = isUnasked(launch.attempt) ? null : await imageNow(launch.spec, parts);
  for (let round = 0; round < MAX_TRIES; round++) {
    if (round > 0) await clock.sleepUntil(after(clock.now(), TRY_PAUSE_MS), signal);
    const { items } = await patiently(parts, (until) => engine.list(labelsOf(parts, launch.component), until));
    const kept = choose(items, launch, image);
    if (kept !== null && image?.problem)
      parts.log.warn(KEPT, { component: launch.component, why: image.problem.message });
    if (!(await removeOthers(items, kept, parts))) continue;
    const made = kept === null ? await make(launch, image, parts) : { kind: 'made' as const, id: kept.id };
    if (made === null) continue;
    if (made.kind === 'failed') return made;
    const begun = await startOf(made.id, parts);
    if (begun?.kind === 'failed' && !begun.problem.heals) await engine.remove(made.id, parts.closing); // the next one is made anew
    if (begun !== null) return begun;
  }
  return RESTLESS;
}

const message = 'its container is changed by somebody else again and again while it is being started';
export const RESTLESS: Begun = { kind: 'failed', problem: { code: 'engine', message, heals: true } };

/** The one to go on with: that runs before that ran, newer before older. Null: one has to be made. */
function choose(
  items: readonly ContainerSummary[],
  { containerHash, failures = 0, anew = false }: ContainerLaunch,
  image: ImageNow | null,
): ContainerSummary | null {
  if (anew) return null;
  // One whose image has lost its name, and cannot be made again, is better than none.
  const isOutdated = ({ imageId }: ContainerSummary) => image !== null && image.id !== null && imageId !== image.id;
  const fits = items.filter((item) => item.labels[LABELS.spec] === containerHash && !isOutdated(item));
  const newest = [...fits].sort((a, b) => b.createdAt - a.createdAt);
  const live = newest.find(isLive);
  if (live) return live;
  return failures >= ANEW_AFTER_FAILURES ? null : (newest.find(({ status }) => status === 'exited') ?? null);
}

export const isLive = ({ status }: ContainerSummary): boolean =>
  status === 'running' || status === 'paused' || status === 'restarting';

/** False: look again. */
async function removeOthers(
  items: readonly ContainerSummary[],
  kept: ContainerSummary | null,
  { engine, failpoints, closing, log }: BeginParts,
): Promise<boolean> {
  for (const { id, status } of items) {
    if (id === kept?.id) continue;
    failpoints.hit('container.before-remove');
    const { kind, ...rest } = await engine.remove(id, closing);
    if (kind === 'done' || kind === 'missing') continue;
    log.warn('a container that is of no use any more could not be removed', { container: id, status, ...rest });
    return false;
  }
  return true;
}

/** Null: look again. Removes nothing: it may be somebody else's. */
export async function startOf(id: string, parts: BeginParts): Promise<Attempted> {
  const { engine, failpoints, closing, signal } = parts;
  const found = await patiently(parts, (until) => engine.inspect(id, until));
  if (found.kind === 'missing') return null;
  const { state, setup } = found;
  await parts.takePolicy(id, setup);
  if (state.restarting) {
    await engine.kill(id, 'SIGKILL', closing); // it waits for its next start by a policy that is none any more
    return null;
  }
  if (state.running) return { kind: 'up', state, setup };
  parts.chosen(id, state.startedAt);
  signal.throwIfAborted();
  failpoints.hit('container.before-start');
  const action = await engine.start(id, closing);
  failpoints.hit('container.after-start');
  if (action.kind === 'unreachable' || action.kind === 'missing') return null;
  if (action.kind === 'done') return looked(id, parts);
  return { kind: 'failed', problem: problemOf(action) };
}

/** It has begun, and may have ended already. */
async function looked(id: string, parts: BeginParts): Promise<Attempted> {
  const found = await patiently({ ...parts, signal: parts.closing }, (until) => parts.engine.inspect(id, until));
  return found.kind === 'missing' ? null : { kind: 'up', state: found.state, setup: found.setup };
}

export const problemOf = ({ kind, why }: { kind: 'refused' | 'engine-fault'; why: string }): SpawnProblem =>
  kind === 'refused' ? { code: 'refused', message: why, heals: false } : { code: 'engine', message: why, heals: true };

// What the beginning of a run needs from the rest of its driver.

export interface BeginParts extends Pick<Runtime, 'clock' | 'log' | 'failpoints'>, Patience, Ownership {
  readonly engine: EngineClient;
  readonly compose: Composer;
  /** Ends what must not be left half-done only with this daemon. */
  readonly closing: AbortSignal;
  /** From now on the Engine does not restart this container by itself. */
  takePolicy(container: string, setup: ContainerSetup): Promise<void>;
  /** This container will be started; it had been started before at `before`. Written down before anything is done. */
  chosen(container: string, before: string): void;
}

// Makes a container for a run, and says whose fault it is when that cannot be done.

/** Null: it is not certain what became of it; look again. */
export type Made =
  | { readonly kind: 'made'; readonly id: string }
  | { readonly kind: 'failed'; readonly problem: SpawnProblem }
  | null;

/** `image`: as it was looked for already; null: it is looked for here. */
export async function make(launch: ContainerLaunch, image: ImageNow | null, parts: BeginParts): Promise<Made> {
  const { problem } = image ?? (await imageNow(launch.spec, parts));
  if (problem !== null) return { kind: 'failed', problem };
  const first = await create(nameOf(launch, parts), launch, parts);
  if (first?.kind !== 'name-taken') return first;
  const other = otherNameOf(launch, parts);
  const second = other === null ? first : await create(other, launch, parts);
  return second?.kind === 'name-taken' ? nameTaken(second, launch, parts) : second;
}

type NameTaken = { readonly kind: 'name-taken'; readonly name: string; readonly why: string };

async function create(name: string, launch: ContainerLaunch, parts: BeginParts): Promise<Made | NameTaken> {
  const { engine, failpoints, clock, closing, signal, log } = parts;
  signal.throwIfAborted();
  failpoints.hit('container.before-create');
  const plan = planOf(launch, parts, new Date(clock.wallNow()).toISOString());
  const creation = await engine.create(name, plan, closing);
  failpoints.hit('container.after-create');
  switch (creation.kind) {
    case 'created':
      for (const warning of creation.warnings)
        log.warn('the Docker Engine warns about a container', { component: launch.component, warning });
      return { kind: 'made', id: creation.id };
    case 'name-taken':
      return { ...creation, name };
    case 'no-image':
      return failed('image', `${creation.why}: fetch or build it, or write "pull: missing"`, false);
    case 'refused':
      return failed('refused', creation.why, false);
    case 'engine-fault':
      return failed('engine', creation.why, true);
    case 'unreachable':
      return null;
    default:
      throw new Error(`no such creation: ${JSON.stringify(creation satisfies never)}`);
  }
}

const failed = (code: SpawnProblem['code'], message: string, heals: boolean): Made => ({
  kind: 'failed',
  problem: { code, message, heals },
});

/** Labels are the identity: what has our name and not our labels is somebody else's, and is not touched. */
async function nameTaken({ name }: NameTaken, launch: ContainerLaunch, parts: BeginParts): Promise<Made> {
  const found = await patiently(parts, (until) => parts.engine.inspect(name, until));
  if (found.kind === 'missing') return null; // it has just gone
  const { state, setup } = found;
  // Our own, which is just being removed.
  if (setup.labels[LABELS.owner] === parts.owner && setup.labels[LABELS.component] === launch.component) return null;
  const who = `container ${state.id.slice(0, 12)} (image ${setup.image}, ${state.status})`;
  const message = `the name "${name}" is taken by ${who}, ${madeBy(setup, parts)}: remove it, or choose another name`;
  return failed('name-taken', message, false);
}

function madeBy({ labels }: ContainerSetup, { owner }: BeginParts): string {
  const component = labels[LABELS.component];
  if (labels[LABELS.owner] === owner) return `which belongs to component "${component ?? '?'}" of this project`;
  if (labels[LABELS.owner] === undefined) return 'which was not made by Keepwell';
  return `which was made by another Keepwell project, "${labels[LABELS.project] ?? '?'}"`;
}

// The image that a container should be made from: which one its name stands for now, fetched first where that is wanted.

export interface ImageParts extends Patience {
  readonly engine: Pick<EngineClient, 'imageOf' | 'pull'>;
}

export interface ImageNow {
  /** Null: there is none of that name. */
  readonly id: string | null;
  /** Why it could not be fetched; null: it was, or was not to be. */
  readonly problem: SpawnProblem | null;
}

/** Rejects only when the signal aborts. */
export async function imageNow(
  { image, pull }: Pick<ContainerSpec, 'image' | 'pull'>,
  parts: ImageParts,
): Promise<ImageNow> {
  const { engine } = parts;
  const before = pull === 'always' ? null : await idOf(image, parts);
  if (pull === 'never' || before !== null) return { id: before, problem: null };
  const action = await patiently(parts, (until) => engine.pull(image, until));
  const id = await idOf(image, parts);
  if (action.kind === 'done') return { id, problem: null };
  const why = action.kind === 'missing' ? 'there is no such image' : action.why;
  const message = `the image "${image}" could not be fetched: ${why}`;
  return { id, problem: { code: 'image', message, heals: action.kind === 'engine-fault' } };
}

async function idOf(image: string, parts: ImageParts): Promise<string | null> {
  const found = await patiently(parts, (until) => parts.engine.imageOf(image, until));
  return found.kind === 'found' ? found.id : null;
}
