/**
 * The beginning of a run: the component's container is found and taken over, started again, or made anew. What the Engine could
 * not answer may have been done all the same, so after every doubt it begins with a look.
 */
import { LABELS } from '../../docker/rules/labels.ts';
import type { SpawnProblem } from '../../base/pure/exit.ts';
import { after } from '../../base/pure/ids.ts';
import { isUnasked } from '../../supervision/rules/lifecycle/state.ts';
import type { ContainerLaunch } from '../../supervision/ports/driver.ts';
import type { ContainerSetup, ContainerState, ContainerSummary } from '../../docker/ports.ts';
import type { BeginParts } from './begin-parts.ts';
import { type ImageNow, imageNow } from './image.ts';
import { make } from './make.ts';
import { patiently } from './patience.ts';
import { labelsOf } from './plan.ts';

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
export const MAX_ROUNDS = 10;
export const ROUND_PAUSE_MS = 200;

const KEPT = 'the container is started with the image that it has: a newer one could not be fetched';

/** Rejects only when a signal aborts. */
export async function begin(launch: ContainerLaunch, parts: BeginParts): Promise<Begun> {
  const { engine, clock, signal } = parts;
  // Who asks for a start wants what the name of the image stands for now; what failed by itself is brought back as it was.
  const image = isUnasked(launch.attempt) ? null : await imageNow(launch.spec, parts);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (round > 0) await clock.sleepUntil(after(clock.now(), ROUND_PAUSE_MS), signal);
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
  const deed = await engine.start(id, closing);
  failpoints.hit('container.after-start');
  if (deed.kind === 'unreachable' || deed.kind === 'missing') return null;
  if (deed.kind === 'done') return looked(id, parts);
  return { kind: 'failed', problem: problemOf(deed) };
}

/** It has begun, and may have ended already. */
async function looked(id: string, parts: BeginParts): Promise<Attempted> {
  const found = await patiently({ ...parts, signal: parts.closing }, (until) => parts.engine.inspect(id, until));
  return found.kind === 'missing' ? null : { kind: 'up', state: found.state, setup: found.setup };
}

export const problemOf = ({ kind, why }: { kind: 'refused' | 'engine-fault'; why: string }): SpawnProblem =>
  kind === 'refused' ? { code: 'refused', message: why, heals: false } : { code: 'engine', message: why, heals: true };
