/**
 * `keepwell demo`: a small stack, broken before your eyes and put right again. Ends by itself and leaves nothing behind,
 * whichever way it ends.
 */
import { existsSync } from 'node:fs';
import { AppError } from '../../base/pure/errors.ts';
import { formatDuration } from '../../base/pure/format.ts';
import type { Terminal } from '../call.ts';
import type { Paint } from '../print/colour.ts';
import { cleanUp, IN_HASTE_MS } from './clean-up.ts';
import { tellBeginning, tellKept, tellNext, tellSummary } from './farewell.ts';
import { claim, giveAway, removeLeftBehind } from './left-behind.ts';
import { Narrator } from './narrator.ts';
import { freePorts, furnish, makePlace, type Place } from './place.ts';
import { processesOf } from './processes.ts';
import { Product } from './product.ts';
import { play, STEPS } from './story.ts';

export interface DemoOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The CLI bundle: the demo uses the product the way everybody does. */
  readonly entry: string;
  /** Leave the stack up at the end. */
  readonly keep: boolean;
  readonly out: Terminal;
  readonly paint: Paint;
}

/** Against what would never end. The demo takes about ten seconds; on a machine that has much else to do, several times as long. */
const LIMIT_MS = 90_000;

/** Exit codes by the habit of shells: 128 and the number of the signal. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type StopSignal = keyof typeof EXIT_CODES;

/** Somebody wants the demo to end. */
class Stopped extends Error {
  readonly by: StopSignal;
  constructor(by: StopSignal) {
    super(`stopped by ${by}`);
    this.by = by;
  }
}

export async function runDemo(options: DemoOptions): Promise<number> {
  const { env, out, paint } = options;
  const live = out.isTty && env['TERM'] !== 'dumb';
  const narrator = new Narrator({ out, paint, live, steps: STEPS });
  const ending = new AbortController();
  // They stay to the very end: a second Ctrl-C finds the cleaning under way and changes nothing.
  for (const name of Object.keys(EXIT_CODES) as StopSignal[]) process.on(name, () => ending.abort(new Stopped(name)));
  process.on('SIGHUP', () => narrator.hush()); // a terminal that hung up takes no more words
  const timer = setTimeout(() => ending.abort(tooLate(narrator)), LIMIT_MS);
  try {
    await perform(options, narrator, ending.signal);
    return 0;
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    if (error.by === 'SIGHUP') dieOf('SIGHUP');
    return EXIT_CODES[error.by];
  } finally {
    clearTimeout(timer);
  }
}

async function perform(options: DemoOptions, narrator: Narrator, signal: AbortSignal): Promise<void> {
  const { env, entry, keep } = options;
  const began = performance.now();
  const place = makePlace();
  const product = new Product({ place, entry, env, signal });
  const clean = onlyOnce(() => cleanUp(place, product, performance.now() - began < LIMIT_MS ? undefined : IN_HASTE_MS));
  // Also when the reader of our words is gone (`keepwell demo | head`): then the process exits without asking us.
  process.once('exit', clean);
  try {
    claim(place);
    tellBeginning(narrator, place);
    for (const dir of removeLeftBehind({ entry, env, signal }))
      narrator.say(`(An earlier demo was killed before it could clean up; ${dir} is gone now.)`);
    const ports = await freePorts();
    furnish(place, process.execPath, ports);
    const outcomes = await play({ place, ports, product, narrator, signal });
    narrator.heading(keep ? 'Everything stays up' : 'Everything is stopped');
    narrator.command(keep ? 'start indexer' : 'down');
    const last = keep ? 'indexer to start again' : 'everything to be stopped';
    await narrator.during(last, () => product.ask(keep ? ['start', 'indexer'] : ['down']));
    if (keep) narrator.good('all four are up');
    else {
      clean();
      tellClean(narrator, place);
    }
    tellSummary(narrator, outcomes, performance.now() - began);
    if (!keep) return tellNext(narrator, env);
    product.stopFollowing();
    giveAway(place);
    process.off('exit', clean);
    tellKept(narrator, place, env);
  } catch (error) {
    tellTrouble(narrator, error);
    clean();
    tellClean(narrator, place);
    throw error;
  }
}

/** As if it had never been caught. An ordinary exit would make Node fall over the terminal that is gone, and dump core. */
function dieOf(signal: StopSignal): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

function onlyOnce(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}

function tooLate({ waitingFor }: Narrator): AppError {
  const pending = waitingFor === null ? '' : ` It was waiting for ${waitingFor}.`;
  return new AppError('DEMO_FAILED', { problem: `it was not over after ${formatDuration(LIMIT_MS)}.${pending}` });
}

function tellTrouble(narrator: Narrator, error: unknown): void {
  narrator.line();
  narrator.line(error instanceof Stopped ? `Stopped by ${error.by}, cleaning up` : 'It did not work out, cleaning up');
}

/** Looked at, not hoped for. */
function tellClean(narrator: Narrator, place: Place): void {
  const left = processesOf(place).map(({ pid }) => pid);
  if (left.length > 0) narrator.bad(`still there: pids ${left.join(', ')}`);
  if (existsSync(place.dir)) narrator.bad(`still there: ${place.dir}`);
  if (left.length === 0 && !existsSync(place.dir)) narrator.good(`no process is left, and ${place.dir} is gone`);
}
