/**
 * Removes what belongs to a project: its containers, their anonymous volumes, its networks. Named volumes hold data and stay. Found by
 * labels and not by what this process remembers, so it also clears away after a process that was killed, and after half a start.
 */

import type { Clock } from '../base/clock.ts';
import { after } from '../base/pure/ids.ts';
import type { ContainerSummary, Deed, EngineClient } from '../docker/ports.ts';
import { COMPOSE } from './rules/project.ts';
import { timeLimit } from './time-limit.ts';

/** What does not end by itself by then is killed: the time for all of it is bounded. */
const MAX_GRACE_MS = 10_000;
/** The part of the whole time in which containers may end by themselves. */
const GRACE_SHARE = 0.4;
const AGAIN_AFTER_MS = 250;
/** For saying what is left when the time is over. */
const LIST_WITHIN_MS = 2_000;
const NEVER = new AbortController().signal;

export interface TeardownParts {
  readonly engine: EngineClient;
  readonly clock: Clock;
}

export interface TeardownOptions {
  readonly project: string;
  /** Of the file; null: it cannot be read now, and `project` is a guess. */
  readonly services: readonly string[] | null;
  /** Absolute. */
  readonly file: string;
  readonly timeoutMs: number;
}

/** Never rejects. Resolves with what is still there, as sentences; empty: nothing. */
export async function teardown(parts: TeardownParts, options: TeardownOptions): Promise<readonly string[]> {
  const { engine, clock } = parts;
  using time = timeLimit(clock, options.timeoutMs, NEVER);
  const graceMs = Math.min(MAX_GRACE_MS, options.timeoutMs * GRACE_SHARE);
  const projects = new Set([options.project]);
  try {
    // Again and again: what is being started or removed by somebody else just now is seen in the next round.
    for (;;) {
      const found = await find(engine, options, projects, time.signal);
      if (typeof found === 'string') return [unseen(options, found)];
      const held = await Promise.all(found.containers.map((one) => end(engine, one, graceMs, time.signal)));
      const networks = await Promise.all(
        found.networks.map((one) => removeNetwork(engine, one, found.hasOthers, time.signal)),
      );
      if ([...held, ...networks].every((isGone) => isGone)) return [];
      await clock.sleepUntil(after(clock.now(), AGAIN_AFTER_MS), time.signal);
    }
  } catch {
    return whatIsLeft(parts, options, projects);
  }
}

interface Found {
  readonly containers: readonly ContainerSummary[];
  readonly networks: readonly { readonly id: string; readonly name: string }[];
  /** There are containers of the project that are not ours, and a network may be theirs. */
  readonly hasOthers: boolean;
}

/**
 * Others may have services under the same project name, from other files: those are left alone. `projects` gets the names that ours
 * turn out to have. A sentence when the Engine cannot be asked.
 */
async function find(
  engine: EngineClient,
  { project, services, file }: TeardownOptions,
  projects: Set<string>,
  signal: AbortSignal,
): Promise<Found | string> {
  const label = services === null ? COMPOSE.project : `${COMPOSE.project}=${project}`;
  const listing = await engine.list([label], signal);
  if (listing.kind === 'unreachable') return listing.why;
  const isOurs = ({ labels }: ContainerSummary) =>
    labels[COMPOSE.oneOff] !== 'True' &&
    (services?.includes(labels[COMPOSE.service] ?? '') || (labels[COMPOSE.files] ?? '').split(',').includes(file));
  const containers = listing.items.filter(isOurs);
  for (const { labels } of containers) projects.add(labels[COMPOSE.project] ?? project);
  const networks: Found['networks'][number][] = [];
  for (const name of projects) {
    const listed = await engine.networks([`${COMPOSE.project}=${name}`], signal);
    if (listed.kind === 'unreachable') return listed.why;
    networks.push(...listed.items);
  }
  const hasOthers = listing.items.some((one) => projects.has(one.labels[COMPOSE.project] ?? '') && !isOurs(one));
  return { containers, networks, hasOthers };
}

async function end(
  engine: EngineClient,
  { id }: ContainerSummary,
  graceMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  // Not waited for much longer than the grace: one whose process hangs in the kernel does not end at all.
  await engine.stop(id, graceMs, signal);
  return isGone(await engine.remove(id, signal));
}

async function removeNetwork(
  engine: EngineClient,
  { id }: { readonly id: string },
  hasOthers: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const removed = await engine.removeNetwork(id, signal);
  return isGone(removed) || (removed.kind === 'refused' && hasOthers);
}

async function whatIsLeft(
  { engine, clock }: TeardownParts,
  options: TeardownOptions,
  projects: Set<string>,
): Promise<readonly string[]> {
  using time = timeLimit(clock, LIST_WITHIN_MS, NEVER);
  try {
    const found = await find(engine, options, projects, time.signal);
    if (typeof found === 'string') return [unseen(options, found)];
    const containers = found.containers.map(({ id, names }) => `container ${names[0] ?? id}`);
    return [...containers, ...(found.hasOthers ? [] : found.networks.map(({ name }) => `network ${name}`))];
  } catch {
    return [unseen(options, 'the Docker Engine does not answer')];
  }
}

const unseen = ({ project }: TeardownOptions, why: string): string =>
  `what there is of the compose project ${project}, because ${why}`;

const isGone = ({ kind }: Deed): boolean => kind === 'done' || kind === 'missing';
