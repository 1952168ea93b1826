/** The acts, in order. */
import { renameSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { AppError } from '../../base/pure/errors.ts';
import { formatDuration } from '../../base/pure/format.ts';
import type { ComponentView, EventView, ProbeView, StatusView, WhyView } from '../../supervision/rules/views.ts';
import { pause } from '../interrupt.ts';
import { noPaint } from '../print/colour.ts';
import { statusTable } from '../print/status.ts';
import { displayWidth } from '../print/table.ts';
import { whyText } from '../print/why.ts';
import { EventFeed } from './event-feed.ts';
import type { Narrator } from './narrator.ts';
import { ALL_WELL, type Place, type Ports } from './place.ts';
import { isAlive } from './processes.ts';
import type { Product } from './product.ts';
import { one, type Scene, type SceneOutcome, timeOf, watch } from './scene.ts';

export const STEPS = 7;

export interface StoryOptions {
  readonly place: Place;
  readonly ports: Ports;
  readonly product: Product;
  readonly narrator: Narrator;
  readonly signal: AbortSignal;
}

export async function play(options: StoryOptions): Promise<readonly SceneOutcome[]> {
  try {
    return await acts(options);
  } catch (error) {
    throw await withLastWords(error, options.product);
  }
}

/** A component that gave up, which is not in the play. What it said last tells more than a hint to ask a daemon that is gone. */
async function withLastWords(error: unknown, product: Product): Promise<unknown> {
  if (!(error instanceof AppError) || error.code !== 'COMPONENT_GAVE_UP') return error;
  const log = await product.text(['logs', String(error.details['name']), '-n', '1']);
  const [cause] = error.message.split('\n'); // the others say that they needed it
  return new AppError('DEMO_FAILED', { problem: `${cause}\nIts last words: ${log.trim()}` }, { cause: error });
}

async function acts(options: StoryOptions): Promise<readonly SceneOutcome[]> {
  const { narrator, product, signal } = options;
  narrator.heading('Start a small stack');
  await bringUp(product, narrator);
  const scene: Scene = { ...options, feed: new EventFeed(product, signal) };
  await showStack(scene);
  const act = async (title: string, perform: (scene: Scene) => Promise<SceneOutcome>): Promise<SceneOutcome> => {
    narrator.heading(title);
    return await perform(scene);
  };
  const outcomes = [
    await act('A worker crashes', crash),
    await act('A server hangs', hang),
    await act('Keepwell itself is killed', killDaemon),
    await act('A process refuses to stop', stopStubborn),
  ];
  narrator.heading('Why did mailer die?');
  await showWhy(scene);
  return outcomes;
}

// Act 2: a worker meets data that its author did not think of.

const ORDER = { id: 1042, items: ['teapot'], customer: null };

export async function crash(scene: Scene): Promise<SceneOutcome> {
  const { narrator, feed, place } = scene;
  narrator.say('"mailer" gets an order without a customer. It has a bug there, throws an error and is gone.');
  const { seq } = feed;
  const sinceMs = Date.now();
  putOrder(join(place.dir, 'outbox'));
  const seen = await watch(scene, {
    what: 'mailer to be ready again',
    component: 'mailer',
    after: seq,
    sinceMs,
    isLast: ({ type }) => type === 'component.ready',
  });
  const died = one(seen, 'component.exited');
  const wait = formatDuration(Number(one(seen, 'component.backing-off').data['in_ms']));
  const tookMs = timeOf(seen.at(-1)!) - timeOf(died);
  const pid = String(one(seen, 'component.started').data['pid']);
  narrator.good(`mailer works again as pid ${pid}, ${formatDuration(tookMs)} after its death`);
  return { broken: `mailer: ${String(died.data['exit'])}`, done: `restarted after ${wait} of backoff`, tookMs };
}

/** Written elsewhere first: the worker must not meet half an order. */
function putOrder(outbox: string): void {
  const draft = join(outbox, 'order-1042.draft');
  writeFileSync(draft, `${JSON.stringify(ORDER)}\n`);
  renameSync(draft, join(outbox, 'order-1042.json'));
}

// Act 4: Keepwell itself is killed, and nothing it keeps takes notice.

const ASK_MS = 25;

export async function killDaemon(scene: Scene): Promise<SceneOutcome> {
  const { narrator, feed, product } = scene;
  const before = await product.status();
  const { pid } = before.daemon;
  if (pid === null) throw new AppError('DEMO_FAILED', { problem: 'there is no daemon to kill.' });
  narrator.say(`The daemon, pid ${pid}, is killed with kill -9: no warning, nothing saved before.`);
  const { seq } = feed;
  const sinceMs = Date.now();
  process.kill(pid, 'SIGKILL');
  const { back, asked, answered } = await untilBack(scene, seq);
  const tookMs = timeOf(back) - sinceMs;
  narrator.event(tookMs, `a new daemon, pid ${String(back.data['pid'])}, has taken over`);
  const after = await product.status();
  const same = after.components.filter((component) => isUntouched(component, before));
  for (const component of same) narrator.say(`${component.name.padEnd(8)} adopted, still pid ${component.pid}`);
  const others = after.components.filter((component) => !same.includes(component));
  for (const { name, last_restart } of others) narrator.bad(`${name}: ${last_restart?.reason ?? 'not the same run'}`);
  const kept = `${same.length} of ${after.components.length}`;
  narrator.good(
    `Keepwell is back after ${formatDuration(tookMs)}; ${kept} components did not notice. ` +
      `Meanwhile web answered ${answered} of ${asked} requests.`,
  );
  return { broken: 'daemon: kill -9', done: `a new daemon adopted ${kept}, restarted ${others.length}`, tookMs };
}

function isUntouched({ name, pid, adopted, run_id, restarts }: ComponentView, before: StatusView): boolean {
  const earlier = before.components.find((component) => component.name === name);
  return adopted && earlier?.pid === pid && earlier.run_id === run_id && earlier.restarts === restarts;
}

/** Meanwhile the web server is asked again and again, as its visitors would. */
async function untilBack({ feed, narrator, ports, signal }: Scene, seq: number) {
  let [asked, answered, isBack] = [0, 0, false];
  const visits = async (): Promise<void> => {
    while (!isBack) {
      asked += 1;
      if ((await ask(ports.web, '/', signal)) === 200) answered += 1;
      await pause(ASK_MS, signal);
    }
  };
  const started = async (): Promise<EventView> => {
    try {
      for await (const event of feed.after(seq)) if (event.type === 'daemon.started') return event;
      throw new AppError('DEMO_FAILED', { problem: 'the events ended.' });
    } finally {
      isBack = true;
    }
  };
  const [back] = await narrator.during('the guardian to bring the daemon back', () =>
    Promise.all([started(), visits()]),
  );
  return { back, asked, answered };
}

// Act 3: a server hangs. Its process lives on, so only somebody who asks can notice.

const LOOK_MS = 100;

export async function hang(scene: Scene): Promise<SceneOutcome> {
  const { narrator, feed, ports, product } = scene;
  const { pid: before } = await product.component('reports');
  narrator.say(
    `"reports" is asked for a report that makes it wait for a lock for ever. Pid ${before} stays alive, and answers nobody.`,
  );
  const { seq } = feed;
  const sinceMs = Date.now();
  hit(ports.reports, '/report?month=13');
  await tellFailures(scene, sinceMs);
  const seen = await watch(scene, {
    what: 'reports to be ready again',
    component: 'reports',
    after: seq,
    sinceMs,
    isLast: ({ type }) => type === 'component.ready',
  });
  const tookMs = timeOf(seen.at(-1)!) - sinceMs;
  const reason = String(one(seen, 'component.exited').data['unhealthy']);
  const pid = String(one(seen, 'component.started').data['pid']);
  const answer = await ask(ports.reports, '/healthz', scene.signal);
  narrator.good(`reports answers again (HTTP ${answer}) as pid ${pid}, ${formatDuration(tookMs)} after it hung`);
  return { broken: 'reports: hung, pid alive', done: `ended and restarted: ${inShort(reason)}`, tookMs };
}

/** "liveness http :8080/healthz failed 3 times: no answer within 1 s" → "liveness failed 3 times" */
const inShort = (reason: string): string => reason.replace(/^(\w+) .* (failed \d+ times?):.*$/, '$1 $2');

/** Tells the failed answers of the liveness probe while they come, until there were enough of them. */
async function tellFailures({ product, narrator, signal }: Scene, sinceMs: number): Promise<void> {
  await narrator.during('Keepwell to notice', async () => {
    for (let told = 0; ; ) {
      const { probes, state } = await product.component('reports');
      const liveness = probes.find(({ role }) => role === 'liveness');
      if (liveness === undefined || state !== 'running') return;
      if (liveness.failures > told && liveness.last) {
        told = liveness.failures;
        narrator.event(Date.parse(liveness.last.at) - sinceMs, failureText(liveness));
      }
      await pause(LOOK_MS, signal);
    }
  });
}

const failureText = ({ failures, failure_threshold: enough, last }: ProbeView): string =>
  `reports: liveness probe: ${last?.message} (${failures} of ${enough})`;

// Act 5: a process that does not want to end, and two more that it has started.

export async function stopStubborn(scene: Scene): Promise<SceneOutcome> {
  const { narrator, feed, product } = scene;
  const [{ pid }, helpers] = await Promise.all([product.component('indexer'), helpersOf(scene)]);
  const tree = [...(pid === null ? [] : [pid]), ...helpers];
  narrator.say(`"indexer" and its helpers (pids ${tree.join(', ')}) all ignore SIGTERM.`);
  narrator.command('stop indexer');
  const { seq } = feed;
  const sinceMs = Date.now();
  const [seen] = await Promise.all([
    watch(scene, {
      what: 'indexer to be stopped',
      component: 'indexer',
      after: seq,
      sinceMs,
      isLast: ({ type }) => type === 'component.stopped',
    }),
    product.ask(['stop', 'indexer']),
  ]);
  const tookMs = timeOf(seen.at(-1)!) - timeOf(one(seen, 'component.stopping'));
  const grace = formatDuration(Number(one(seen, 'component.killed').data['grace_ms']));
  const left = tree.filter(isAlive);
  if (left.length > 0) throw new AppError('DEMO_FAILED', { problem: `still there: pids ${left.join(', ')}.` });
  narrator.good(`all ${tree.length} processes are gone, ${formatDuration(tookMs)} after the stop was asked for`);
  return {
    broken: 'indexer: ignored SIGTERM',
    done: `SIGKILL to all ${tree.length} processes after ${grace} of grace`,
    tookMs,
  };
}

/** It said itself who they are: "indexer: at work, helpers 4711 4712". */
async function helpersOf({ product }: Scene): Promise<number[]> {
  const log = await product.text(['logs', 'indexer']);
  const said = [...log.matchAll(/helpers (\d+) (\d+)/g)].at(-1);
  return (said?.slice(1) ?? []).map(Number);
}

// Act 1: the stack comes up, in order.

/** Of what `up` says on its way, this is enough to follow it. */
const TELLING = /^starting the daemon|: waiting for |, ready, /;

export async function bringUp(product: Product, narrator: Narrator): Promise<void> {
  narrator.say('A web server, and three that start when it is ready.');
  narrator.command('up');
  const tell = (line: string): void => {
    if (TELLING.test(line)) narrator.output([line]);
  };
  await narrator.during('all four to be ready', () => product.ask<StatusView>(['up'], tell));
}

export async function showStack({ product, narrator, feed }: Scene): Promise<void> {
  await narrator.during('the first answers to all probes', () => feed.untilAll(ALL_WELL));
  narrator.command('status');
  const { components } = await narrator.during('"keepwell status"', () => product.ask<StatusView>(['status']));
  const fits = statusTable(components, noPaint).every((line) => displayWidth(line) <= narrator.room);
  if (fits) narrator.table(statusTable(components, narrator.paint));
  else for (const { name, state, health, pid } of components) narrator.say(`${name}: ${state}, ${health}, pid ${pid}`);
}

// Act 6: the dossier of the first death.

export async function showWhy({ product, narrator }: Scene): Promise<void> {
  narrator.command('why mailer');
  const [why, current] = await narrator.during('"keepwell why"', () =>
    Promise.all([product.ask<WhyView>(['why', 'mailer']), product.component('mailer')]),
  );
  narrator.output(whyText(why, { current, nowMs: Date.now(), paint: narrator.paint }));
}

// The demo as a visitor of its own web servers.

const TIMEOUT_MS = 2_000;
const HOST = '127.0.0.1';

/** The status of the answer, or null when there was none. */
export function ask(port: number, path: string, signal: AbortSignal): Promise<number | null> {
  return new Promise((done) => {
    const asked = request({ host: HOST, port, path, agent: false, timeout: TIMEOUT_MS, signal }, (response) => {
      response.resume();
      response.once('close', () => done(response.statusCode ?? null));
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => done(null));
    asked.end();
  });
}

/** Asks, and does not expect an answer. */
export function hit(port: number, path: string): void {
  const asked = request({ host: HOST, port, path, agent: false });
  asked.on('socket', (socket) => socket.unref());
  asked.on('error', () => {});
  asked.end();
}
