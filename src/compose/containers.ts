/** The containers of a project, found by the labels that Compose writes. */

import { AppError } from '../base/pure/errors.ts';
import type { ContainerSetup, ContainerState, ContainerSummary, EngineClient } from '../docker/ports.ts';
import { COMPOSE } from './rules/project.ts';

export interface Inspected {
  readonly state: ContainerState;
  readonly setup: ContainerSetup;
}

/** In the order of their numbers. Throws ENGINE_UNREACHABLE. */
export async function containersOf(
  engine: EngineClient,
  project: string,
  service: string,
  signal: AbortSignal,
): Promise<readonly Inspected[]> {
  const labels = [`${COMPOSE.project}=${project}`, `${COMPOSE.service}=${service}`, `${COMPOSE.oneOff}=False`];
  const rows = await listed(engine, labels, signal);
  const inOrder = [...rows].sort((a, b) => numberOf(a) - numberOf(b));
  const all = await Promise.all(inOrder.map(({ id }) => engine.inspect(id, signal)));
  return all.flatMap((one) => {
    if (one.kind === 'unreachable') throw unreachable(one.why);
    return one.kind === 'found' ? [one] : [];
  });
}

/** Throws ENGINE_UNREACHABLE. */
export async function listed(
  engine: EngineClient,
  labels: readonly string[],
  signal: AbortSignal,
): Promise<readonly ContainerSummary[]> {
  const listing = await engine.list(labels, signal);
  if (listing.kind === 'unreachable') throw unreachable(listing.why);
  return listing.items;
}

export const unreachable = (problem: string): AppError =>
  new AppError('ENGINE_UNREACHABLE', { problem: `${problem}.` });

const numberOf = ({ labels }: ContainerSummary): number => Number(labels[COMPOSE.number] ?? 0);
