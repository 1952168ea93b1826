/**
 * Where cgroups with limits can be made: with v2 where the controllers are, or can be, handed down; else with v1. Found and tried,
 * not guessed, because it depends on delegation, ownership and what else uses a controller.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Controller, cgroupsAround, homeName, ownCgroupV1, removeEmpty, tryOut } from '../tree/cgroup.ts';

export interface LimitHomes {
  /** Null: v2 offers none of the controllers here. */
  readonly v2: { readonly path: string; readonly controllers: readonly Controller[] } | null;
  readonly v1: Readonly<Record<Controller, string | null>>;
}

export const NO_HOMES: LimitHomes = { v2: null, v1: { memory: null, pids: null } };

export const CONTROLLERS: readonly Controller[] = ['memory', 'pids'];

export const areComplete = ({ v2, v1 }: LimitHomes): boolean =>
  CONTROLLERS.every((controller) => v2?.controllers.includes(controller) || v1[controller] !== null);

/** The file of the limit itself. */
export const LIMIT_FILES = {
  v2: { memory: 'memory.max', pids: 'pids.max' },
  v1: { memory: 'memory.limit_in_bytes', pids: 'pids.max' },
} as const;

/** Costs a few processes, so it is asked for when the first limit is. */
export function findLimitHomes(home: string, sh: string): LimitHomes {
  const name = homeName(home);
  const v2 = findV2(name, sh);
  const findV1 = (controller: Controller): string | null => {
    const own = v2?.controllers.includes(controller) ? null : ownCgroupV1(controller);
    const path = own && join(own, name);
    return path && isUsable(path, 'v1', controller, sh) ? path : null;
  };
  return { v2, v1: { memory: findV1('memory'), pids: findV1('pids') } };
}

/** Every place that an earlier daemon may have used. Nothing is tried. */
export function possibleHomes(home: string): readonly string[] {
  const bases = [...cgroupsAround(), ...CONTROLLERS.flatMap((controller) => ownCgroupV1(controller) ?? [])];
  return bases.map((base) => join(base, homeName(home)));
}

/**
 * A cgroup that has processes of its own cannot hand controllers down, and ours has at least us. So one around it that does so
 * already (as the slices of systemd do) is as good; one that could be told to is changed only where it has been handed to us.
 */
function findV2(name: string, sh: string): LimitHomes['v2'] {
  const isRoot = process.geteuid?.() === 0;
  const places = cgroupsAround().map((base, depth) => ({
    path: join(base, name),
    controllers: handedDown(base, depth === 0 || !isRoot),
  }));
  // One with both before one with one of them; otherwise the nearest.
  const candidates = [...CONTROLLERS.keys()]
    .reverse()
    .flatMap((n) => places.filter((each) => each.controllers.length === n + 1));
  const works = ({ path, controllers }: (typeof places)[number]): boolean =>
    controllers.every((controller) => isUsable(path, 'v2', controller, sh, controllers));
  return candidates.find(works) ?? null;
}

/** The controllers that children of this cgroup get. */
function handedDown(base: string, mayChange: boolean): readonly Controller[] {
  const available = words(join(base, 'cgroup.controllers'));
  const wanted = CONTROLLERS.filter((controller) => available.includes(controller));
  if (mayChange) handDown(base, wanted);
  const given = words(join(base, 'cgroup.subtree_control'));
  return wanted.filter((controller) => given.includes(controller));
}

/** Says nothing when it cannot: what counts is what is there afterwards. */
export function handDown(path: string, controllers: readonly Controller[]): void {
  const given = words(join(path, 'cgroup.subtree_control'));
  for (const controller of controllers) {
    try {
      if (!given.includes(controller)) writeFileSync(join(path, 'cgroup.subtree_control'), `+${controller}`);
    } catch {
      // it has processes of its own, or is not ours
    }
  }
}

/** More than the shell that tries it needs. */
const TRIED = { memory: 2 ** 30, pids: 1_000 } as const;

/** `handsDown`: what the home itself has to hand down first. */
function isUsable(
  path: string,
  version: 'v1' | 'v2',
  controller: Controller,
  sh: string,
  handsDown: readonly Controller[] = [],
): boolean {
  try {
    mkdirSync(path, { recursive: true });
    handDown(path, handsDown);
  } catch {
    return false;
  }
  const works = tryOut(path, sh, (probe) => {
    writeFileSync(join(probe, LIMIT_FILES[version][controller]), String(TRIED[controller]));
    return true;
  });
  removeEmpty(path);
  return works;
}

function words(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').trim().split(' ');
  } catch {
    return [];
  }
}
