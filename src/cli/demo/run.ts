/**
 * `keepwell demo`: a small stack, broken before your eyes and put right again. Ends by itself and leaves nothing behind,
 * whichever way it ends.
 */
import { once } from 'node:events';
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { homePaths, readDaemonFile } from '../../base/home.ts';
import { AppError } from '../../base/pure/errors.ts';
import { formatDuration } from '../../base/pure/format.ts';
import type { PageView } from '../../dashboard/rules/views.ts';
import type { Terminal } from '../call.ts';
import { openBrowser } from '../open-browser.ts';
import type { Paint } from '../print/colour.ts';
import { displayWidth, table } from '../print/table.ts';
import { addBroken, TASK } from './broken.ts';
import { Narrator, wrap } from './narrator.ts';
import {
  DIR_PREFIX,
  freePorts,
  furnish,
  makePlace,
  type Place,
  type Ports,
  placeAt,
  temporaryFolder,
  written,
} from './place.ts';
import { type DemoProcess, isAlive, processesOf, startTimeOf } from './processes.ts';
import { Product, type ProductOptions } from './product.ts';
import type { SceneOutcome } from './scene.ts';
import { play, STEPS } from './story.ts';

export interface DemoOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The CLI bundle: the demo uses the product the way everybody does. */
  readonly entry: string;
  /** Leave the stack up at the end. */
  readonly keep: boolean;
  /** Then break it for good, and show it on the page until somebody ends the demo. */
  readonly dashboard: boolean;
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
    await perform(options, narrator, ending.signal, () => clearTimeout(timer));
    return 0;
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    if (error.by === 'SIGHUP') dieOf('SIGHUP');
    return EXIT_CODES[error.by];
  } finally {
    clearTimeout(timer);
  }
}

async function perform(
  options: DemoOptions,
  narrator: Narrator,
  signal: AbortSignal,
  takeYourTime: () => void,
): Promise<void> {
  const { env, entry, keep, dashboard } = options;
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
    if (dashboard) {
      await showPage({ place, ports, product, narrator, env });
      takeYourTime();
      await untilStopped(signal);
      narrator.line();
      narrator.line('Cleaning up');
      clean();
      return tellClean(narrator, place);
    }
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

type Shown = Pick<DemoOptions, 'env'> & { place: Place; ports: Ports; product: Product; narrator: Narrator };

/** The last step of --dashboard: more components, some of which cannot work, and where to look at them. */
async function showPage({ place, ports, product, narrator, env }: Shown): Promise<void> {
  narrator.heading('It stays broken, on the page');
  narrator.say('A shop moves in: a database, an API, visitors, and a billing that lacks its list of prices.');
  addBroken(place, process.execPath, ports);
  narrator.command('reload');
  await narrator.during('the shop to open', () => product.ask(['reload', '--no-wait']));
  await narrator.during('billing to give up', () => product.untilGaveUp('billing'));
  await narrator.during('an agent to begin', () => product.text(['spawn', 'reviewer', '--task', TASK]));
  narrator.command('dashboard');
  const { url } = await narrator.during('the page', () => product.ask<PageView>(['dashboard', '--no-open']));
  narrator.line();
  narrator.line(url);
  narrator.line();
  const isOpened = await openBrowser(url, join(place.home, 'page.html'), env).catch(() => false);
  narrator.say(isOpened ? 'It opens in your browser.' : 'Open this address in a browser.');
  narrator.say('It goes on for as long as you like. Ctrl-C here ends it and leaves nothing behind.');
}

/** Whoever ends this has seen enough: that is how it is meant to end. A terminal that hangs up is told like everywhere. */
async function untilStopped(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
  if (!(signal.reason instanceof Stopped) || signal.reason.by === 'SIGHUP') throw signal.reason;
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

// The first and the last words.

type Environment = Readonly<Record<string, string | undefined>>;

export function tellBeginning(narrator: Narrator, { dir }: Place): void {
  narrator.line(narrator.paint.bold('Keepwell demo'));
  narrator.say(
    'Four small programs are started and then broken, one after the other, each in its own way. ' +
      'It takes about 15 seconds. Ctrl-C ends it at any time and cleans up.',
  );
  narrator.say(`Everything happens in ${dir}`);
}

/** What to type next: as it was called, by npx or installed. */
export function tellNext(narrator: Narrator, env: Environment): void {
  const keepwell = program(env);
  narrator.line();
  narrator.line('Now with your own programs, in their folder:');
  list(narrator, [
    [`${keepwell} init`, 'writes a first keepwell.yaml from what it finds there'],
    [`${keepwell} up`, 'starts everything and waits until it is ready'],
    [`${keepwell} status`, 'how everything is'],
  ]);
}

export function tellKept(narrator: Narrator, { dir, config }: Place, env: Environment): void {
  const keepwell = `${program(env)} -f ${config}`;
  narrator.line();
  narrator.line(`The stack is still up, in ${dir}.`);
  list(narrator, [
    [`${keepwell} status`, 'how it is'],
    [`${keepwell} why reports`, 'why the hanging one was ended'],
    [`${keepwell} down && rm -r ${dir}`, 'ends it and leaves nothing behind'],
  ]);
}

const program = (env: Environment): string => (env['npm_command'] === 'exec' ? 'npx keepwell' : 'keepwell');

/** Side by side where there is room, else one below the other: a command must never be broken. */
function list(narrator: Narrator, entries: readonly (readonly [command: string, what: string])[]): void {
  const width = Math.max(...entries.map(([command]) => command.length));
  for (const [command, what] of entries) {
    const beside = `  ${narrator.paint.cyan(command)}${' '.repeat(width - command.length)}  ${what}`;
    if (width + what.length + 4 <= narrator.width) narrator.line(beside);
    else {
      for (const line of wrap(`${what}:`, narrator.width)) narrator.line(line);
      narrator.line(`  ${narrator.paint.cyan(command)}`);
    }
  }
}

// The end of the story: what was broken, what Keepwell did about it, and how long that took.

const HEADER = ['WHAT WAS BROKEN', 'WHAT KEEPWELL DID', 'TOOK'] as const;

export function tellSummary(narrator: Narrator, outcomes: readonly SceneOutcome[], tookMs: number): void {
  const { paint } = narrator;
  const rows = outcomes.map(({ broken, done, tookMs }) => [
    { text: broken, brush: paint.bold },
    { text: done },
    { text: formatDuration(tookMs), brush: paint.green },
  ]);
  const lines = table(HEADER, rows);
  const plain = table(
    HEADER,
    rows.map((cells) => cells.map(({ text }) => ({ text }))),
  );
  narrator.line();
  narrator.line(paint.bold(`Done in ${formatDuration(tookMs)}`));
  if (plain.every((line) => displayWidth(line) <= narrator.width)) for (const line of lines) narrator.line(line);
  else for (const { broken, done, tookMs } of outcomes) narrator.good(`${broken}: ${done} (${formatDuration(tookMs)})`);
}

// A demo that was killed with SIGKILL cannot clean up. The next one does it instead.

interface Owner {
  readonly pid: number;
  readonly start_time: string | null;
}

const ownerFile = ({ dir }: Place): string => join(dir, 'demo.json');

/** Whose demo this is: so one that was killed can be told from one that is going on. */
export function claim(place: Place): void {
  const owner: Owner = { pid: process.pid, start_time: startTimeOf(process.pid) };
  written(place.dir, () => writeFileSync(ownerFile(place), `${JSON.stringify(owner)}\n`));
}

/** From now on it belongs to whoever asked to keep it. */
export const giveAway = (place: Place): void => rmSync(ownerFile(place), { force: true });

/** Gives the directories that were cleared away. Those of other people, of demos that go on and of --keep stay. */
export function removeLeftBehind(options: Omit<ProductOptions, 'place'>): readonly string[] {
  const folder = temporaryFolder();
  return namesIn(folder).flatMap((name) => {
    const place = placeAt(join(folder, name));
    if (!name.startsWith(DIR_PREFIX) || !isOurs(place.dir)) return [];
    const owner = readOwner(place);
    if (owner === null || startTimeOf(owner.pid) === owner.start_time) return [];
    cleanUp(place, new Product({ ...options, place }));
    return [place.dir];
  });
}

/** A folder may be there for writing only. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Not a link, and nobody else can have put it there. */
function isOurs(dir: string): boolean {
  const stat = lstatSync(dir, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.getuid?.();
}

function readOwner(place: Place): Owner | null {
  try {
    return JSON.parse(readFileSync(ownerFile(place), 'utf8')) as Owner;
  } catch {
    return null; // kept, or killed before it had made anything else
  }
}

// Leaves nothing behind, whatever happened before: no process, no socket, no directory. Blocks, so that it can also run while the process
// exits, and so that no second signal comes in between.

/** For calls that are under way: one of them may be starting a daemon just now. */
const CALLS_MS = 1_500;
/** For stopping in order; after that there is only SIGKILL. */
const IN_ORDER_MS = 8_000;
/** The same when there is no time left. */
export const IN_HASTE_MS = 3_000;
/** For SIGKILL to take effect. */
const BY_FORCE_MS = 1_000;
const LOOK_MS = 50;

export function cleanUp(place: Place, product: Product, inOrderMs = IN_ORDER_MS): void {
  product.stopFollowing();
  const calls = [...product.underWay].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  for (const pid of calls) kill(pid, 'SIGINT'); // it ends what is waited for, but never leaves half a start behind
  until(CALLS_MS, () => !calls.some(isAlive));
  for (const pid of calls) kill(pid);
  until(inOrderMs, (leftMs) => {
    if (processesOf(place).length === 0) return true;
    // Again and again: a daemon that was killed is not there until its guardian has brought it back.
    product.runBlocking(['down'], leftMs);
    return false;
  });
  until(BY_FORCE_MS, () => endByForce(processesOf(place)));
  const { socket } = readDaemonFile(homePaths(place.home)) ?? {}; // a clean end has removed both
  if (socket !== undefined) rmSync(socket, { force: true });
  rmSync(place.dir, { recursive: true, force: true, maxRetries: 3 });
}

function endByForce(found: readonly DemoProcess[]): boolean {
  const guardians = found.filter(({ isGuardian }) => isGuardian);
  for (const { pid } of guardians.length > 0 ? guardians : found) kill(pid);
  return found.length === 0;
}

function until(limitMs: number, isDone: (leftMs: number) => boolean): void {
  const end = performance.now() + limitMs;
  while (!isDone(Math.max(1, end - performance.now())) && performance.now() < end) pauseBlocking(LOOK_MS);
}

function pauseBlocking(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone already
  }
}
