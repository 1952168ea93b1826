/** What is known about one container that somebody watches. */
import type { MonoMs } from '../../base/pure/ids.ts';
import { isIdOf } from '../container.ts';
import type { ContainerListener } from '../container-watch.ts';
import type { ContainerSummary, EngineEvent } from '../ports.ts';

export interface Entry {
  /** As it was asked for: a name, or an id that may be a short one. */
  readonly container: string;
  readonly listener: ContainerListener;
  /** Of the container that was seen last; null: none was. */
  id: string | null;
  /** The owner's label of that; null: it has none, or none was seen. */
  owner: string | null;
  /** Whether a look has succeeded at all. */
  isSeen: boolean;
  /** The last look failed, or its Engine cannot be asked: what its listener was told. */
  blind: string | null;
  /** How the last list showed it: '' not at all; null: there was no list yet. */
  row: string | null;
  /** An event told of it since the last list. */
  isHeard: boolean;
  /** The exit code of a `die` event since the last look. */
  died: number | null;
  /** When it is looked at without any reason. */
  lookAgainAt: MonoMs;
}

export function newEntry(container: string, listener: ContainerListener, now: MonoMs): Entry {
  return {
    container,
    listener,
    id: null,
    owner: null,
    isSeen: false,
    blind: null,
    row: null,
    isHeard: false,
    died: null,
    lookAgainAt: now,
  };
}

/** Also when another container takes or gives up its name. */
export function isAbout(event: EngineEvent, { container, id }: Entry): boolean {
  const { name, oldName } = event.attributes;
  return event.id === id || isIdOf(container, event.id) || name === container || oldName === `/${container}`;
}

export function exitCodeIn({ action, attributes }: EngineEvent): number | null {
  const code =
    action === 'die' ? Number(attributes['exitCode'] ?? attributes['containerExitCode'] ?? Number.NaN) : Number.NaN;
  return Number.isInteger(code) ? code : null;
}

/** All of a list that an inspection could tell more about, and whether its image's name stands for another one now. */
export const rowOf = ({ id, status, health, image }: ContainerSummary): string => `${id} ${status} ${health} ${image}`;

/** By id and by name. */
export function indexed(items: readonly ContainerSummary[]): ReadonlyMap<string, ContainerSummary> {
  return new Map(items.flatMap((item) => [item.id, ...item.names].map((key) => [key, item] as const)));
}
