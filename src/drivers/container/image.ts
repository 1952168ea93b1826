/** The image that a container should be made from: which one its name stands for now, fetched first where that is wanted. */

import type { SpawnProblem } from '../../base/pure/exit.ts';
import type { EngineClient } from '../../docker/ports.ts';
import type { ContainerSpec } from '../../supervision/spec.ts';
import { type Patience, patiently } from './patience.ts';

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
  const deed = await patiently(parts, (until) => engine.pull(image, until));
  const id = await idOf(image, parts);
  if (deed.kind === 'done') return { id, problem: null };
  const why = deed.kind === 'missing' ? 'there is no such image' : deed.why;
  const message = `the image "${image}" could not be fetched: ${why}`;
  return { id, problem: { code: 'image', message, heals: deed.kind === 'engine-fault' } };
}

async function idOf(image: string, parts: ImageParts): Promise<string | null> {
  const found = await patiently(parts, (until) => parts.engine.imageOf(image, until));
  return found.kind === 'found' ? found.id : null;
}
