/** Makes a container for a run, and says whose fault it is when that cannot be done. */
import { LABELS } from '../../docker/rules/labels.ts';
import type { SpawnProblem } from '../../base/pure/exit.ts';
import type { ContainerLaunch } from '../../supervision/ports/driver.ts';
import type { ContainerSetup } from '../../docker/ports.ts';
import type { BeginParts } from './begin-parts.ts';
import { type ImageNow, imageNow } from './image.ts';
import { patiently } from './patience.ts';
import { nameOf, otherNameOf, planOf } from './plan.ts';

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
