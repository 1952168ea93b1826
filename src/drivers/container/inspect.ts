/** A look at the containers of runs that changes nothing, for the CLI when there is no daemon. It takes a moment at most. */

import type { Clock } from '../../base/clock.ts';
import type { ExitCause } from '../../base/pure/exit.ts';
import type { WallMs } from '../../base/pure/ids.ts';
import type { ContainerEngine, FullInspection } from '../../docker/ports.ts';
import { exitOf } from '../../docker/rules/exit.ts';
import { judgeHealth } from '../../docker/rules/judge.ts';
import type { SeenRun } from '../../supervision/rules/unsupervised.ts';
import { type ContainerRecord, Records } from './record.ts';

export type InspectedContainer = Omit<SeenRun, 'leftovers'>;

/** For all of them together: whoever asked is waiting at a terminal. */
const LOOK_WITHIN_MS = 2_000;
const TOO_SLOW = 'the Docker Engine does not answer in time';
const GONE: ExitCause = { kind: 'unknown', why: 'its container is gone' };
const ANOTHER: ExitCause = { kind: 'unknown', why: 'somebody has started its container anew' };

export interface ContainerInspectionParts {
  /** Where the records of runs are. */
  readonly dir: string;
  readonly engine: Pick<ContainerEngine, 'inspect'>;
  readonly clock: Clock;
}

export async function inspectContainers(parts: ContainerInspectionParts): Promise<readonly InspectedContainer[]> {
  const records = new Records(parts.dir).all();
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), LOOK_WITHIN_MS);
  try {
    return await Promise.all(records.map((record) => look(record, parts, over.signal)));
  } finally {
    clearTimeout(timer);
  }
}

async function look(
  record: ContainerRecord,
  { engine, clock }: ContainerInspectionParts,
  signal: AbortSignal,
): Promise<InspectedContainer> {
  const { run, component, limits, container } = record;
  const nothing = { run, component, limits, pid: null, alive: false, unknown: null, exit: null, exitAt: null } as const;
  if (container === null) return { ...nothing, facts: null, unreachable: null }; // it was never made
  const found = await engine
    .inspect(container, signal)
    .catch((): FullInspection => ({ kind: 'unreachable', why: TOO_SLOW }));
  if (found.kind === 'unreachable') return { ...nothing, facts: null, unreachable: found.why };
  if (found.kind === 'missing') return { ...nothing, exit: GONE, facts: null, unreachable: null };
  const { state, setup } = found;
  const isSame = record.started_at === null || record.started_at === state.startedAt;
  if (!state.running) {
    const at = Date.parse(state.finishedAt ?? '');
    const exit = isSame ? exitOf(`container ${setup.name}`, state) : ANOTHER;
    return { ...nothing, exit, exitAt: Number.isNaN(at) ? null : (at as WallMs), facts: null, unreachable: null };
  }
  const health = judgeHealth(state, setup.healthCheck, clock.wallNow());
  const { name, image, ports, networks } = setup;
  // Whether its image is outdated is not asked: whoever waits at a terminal wants to know how it is.
  const facts = { id: state.id, name, image, isOutdated: false, pid: state.pid, health, ports, networks };
  return { ...nothing, alive: true, pid: state.pid, facts, unreachable: null };
}
