/**
 * The beginning of a run of a compose service: its container is taken over, started again, or made by Docker Compose. It is
 * Compose's: nothing is removed here, and nothing is touched that has not the labels of this project and this service.
 */

import { AppError } from '../../base/pure/errors.ts';
import type { SpawnProblem } from '../../base/pure/exit.ts';
import { after } from '../../base/pure/ids.ts';
import type { ComposeProjectUp } from '../../compose/ports.ts';
import { COMPOSE } from '../../compose/rules/project.ts';
import type { ContainerSummary } from '../../docker/ports.ts';
import { blame } from '../../docker/rules/exit.ts';
import type { ComposeLaunch } from '../../supervision/ports/driver.ts';
import { isUnasked } from '../../supervision/rules/lifecycle/state.ts';
import {
  ANEW_AFTER_FAILURES,
  type BeginParts,
  type Begun,
  isLive,
  MAX_TRIES,
  RESTLESS,
  startOf,
  TRY_PAUSE_MS,
} from './begin.ts';
import { patiently } from './patience.ts';

/** Another Compose is at it just now: its container will be found. */
const IN_USE = /is already in use by container|removal of container .* is already in progress/i;

/** Rejects only when a signal aborts. */
export async function beginCompose(launch: ComposeLaunch, parts: BeginParts): Promise<Begun> {
  const { spec, attempt } = launch;
  const opened = parts.compose.project(spec, !isUnasked(attempt));
  let isComposeUsed = false;
  const up: ComposeProjectUp['up'] = (...order) => {
    isComposeUsed = true;
    return opened.up(...order);
  };
  const project = { name: opened.name, up };
  try {
    return await tryToBegin(launch, project, parts);
  } catch (error) {
    if (!parts.signal.aborted && error instanceof AppError) return { kind: 'failed', problem: problemOf(error) };
    const begun = isComposeUsed ? await begunAllTheSame(launch, project, parts) : null;
    if (begun === null) throw error;
    return begun;
  }
}

async function tryToBegin(launch: ComposeLaunch, project: ComposeProjectUp, parts: BeginParts): Promise<Begun> {
  const { clock, signal } = parts;
  const { attempt, failures = 0, anew = false, spec } = launch;
  let isAnew = anew || failures >= ANEW_AFTER_FAILURES;
  // Who asks for a start wants what the file says now; Compose knows whether the container is still that.
  let needsCompose = isAnew || !isUnasked(attempt);
  for (let round = 0; round < MAX_TRIES; round++) {
    if (round > 0) await clock.sleepUntil(after(clock.now(), TRY_PAUSE_MS), signal);
    const found = await find(await project.name(signal), spec.service, parts);
    if (found !== null && (isLive(found) || (found.status === 'exited' && !needsCompose))) {
      const begun = await startOf(found.id, parts);
      const isRefused = begun?.kind === 'failed' && !begun.problem.heals;
      if (begun !== null && (!isRefused || isAnew)) return begun;
      if (isRefused) needsCompose = isAnew = true; // only another one can help
      continue;
    }
    // What it depends on is left alone where only this one has failed.
    const isAlone = found !== null && isUnasked(attempt);
    const begun = await made(found, { anew: isAnew && found !== null, alone: isAlone }, launch, project, parts);
    if (begun !== null) return begun;
    needsCompose = false;
  }
  return RESTLESS;
}

/** Null: look again. Throws what Compose could not do, unless that was for want of an Engine. */
async function made(
  before: ContainerSummary | null,
  how: { readonly anew: boolean; readonly alone: boolean },
  { spec }: ComposeLaunch,
  project: ComposeProjectUp,
  parts: BeginParts,
): Promise<Begun | null> {
  const { engine, signal, failpoints } = parts;
  const seen = before && (await patiently(parts, (until) => engine.inspect(before.id, until)));
  const startedBefore = seen?.kind === 'found' ? seen.state.startedAt : null;
  signal.throwIfAborted();
  failpoints.hit('container.before-create');
  try {
    await project.up(spec.service, how, signal);
  } catch (error) {
    signal.throwIfAborted();
    if ((await engine.ping(signal)).kind === 'unreachable') return null;
    throw error;
  }
  failpoints.hit('container.after-create');
  const found = await find(await project.name(signal), spec.service, parts);
  if (found === null) {
    const message = `Docker Compose made no container for the service "${spec.service}": see its "scale" and "replicas"`;
    return { kind: 'failed', problem: { code: 'compose', message, heals: false } };
  }
  const now = await patiently(parts, (until) => engine.inspect(found.id, until));
  if (now.kind === 'missing' || isLive(found)) return null;
  // It was started and has ended already: that is a run, too.
  const hasRun = now.state.status === 'exited' && (found.id !== before?.id || now.state.startedAt !== startedBefore);
  return hasRun ? { kind: 'up', state: now.state, setup: now.setup } : null;
}

/** Called off while Compose was at work, which may have started it by then: then it has begun, and is ended like any other. */
async function begunAllTheSame(
  { spec }: ComposeLaunch,
  project: ComposeProjectUp,
  parts: BeginParts,
): Promise<Begun | null> {
  const { closing, engine } = parts;
  closing.throwIfAborted();
  const still = { ...parts, signal: closing };
  const found = await find(await project.name(closing), spec.service, still);
  if (found === null || !isLive(found)) return null;
  const now = await patiently(still, (until) => engine.inspect(found.id, until));
  return now.kind === 'found' ? { kind: 'up', state: now.state, setup: now.setup } : null;
}

/** The one to go on with: that runs before that does not, and the first of several. */
async function find(project: string, service: string, parts: BeginParts): Promise<ContainerSummary | null> {
  const labels = [`${COMPOSE.project}=${project}`, `${COMPOSE.service}=${service}`, `${COMPOSE.oneOff}=False`];
  const { items } = await patiently(parts, (until) => parts.engine.list(labels, until));
  const inOrder = [...items].sort((a, b) => numberOf(a) - numberOf(b));
  return inOrder.find(isLive) ?? inOrder[0] ?? null;
}

const numberOf = ({ labels }: ContainerSummary): number => Number(labels[COMPOSE.number] ?? 0);

function problemOf({ code, message, hint }: AppError): SpawnProblem {
  const inOneLine = message.replace(/\s*\n\s*/g, '; ');
  if (code !== 'SERVICE_START_FAILED') return { code: 'compose', message: `${inOneLine} ${hint}`, heals: false };
  const heals = IN_USE.test(message) || blame(message) === 'engine';
  return { code: heals ? 'engine' : 'refused', message: inOneLine, heals };
}
