/** Campaigns of one project, for the command line: begun, taken up again, put away, looked at. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { findProject, homePaths, type Project, type Where } from '../base/home.ts';
import { prepareHome } from '../base/home-dir.ts';
import { AppError } from '../base/pure/errors.ts';
import { NAME_PATTERN } from '../base/pure/ids.ts';
import { didYouMean } from '../base/pure/suggest.ts';
import { unreachable } from '../compose/containers.ts';
import type { Services } from '../compose/ports.ts';
import { type LoadedCampaign, loadCampaign, loadCampaignFromText } from '../config/campaign-load.ts';
import type { Environment } from '../drivers/launch-run.ts';
import { openCampaignBook } from '../history/sqlite/experiments.ts';
import { resultsOf, summaryView, wholeView } from './archive.ts';
import { copyArtifacts } from './artifacts.ts';
import { openAttemptLog } from './attempt-log.ts';
import { type Observed, partsFor } from './edges.ts';
import { copyRest } from './follow.ts';
import { campaignDir, isRunning, lockCampaign } from './locks.ts';
import { type Outages, watchOutages } from './outages.ts';
import type { CampaignBook, CampaignObserver, CampaignParts, CampaignRecord, Interrupts } from './ports.ts';
import type { OpenAttempt } from './rules/state.ts';
import type { CampaignsView, CampaignView } from './rules/views.ts';
import { type Finished, runCampaign } from './runner.ts';
import { type ArtifactSpec, type CampaignSpec, type ExperimentSettings, settingsOf } from './spec.ts';

const COULD_NOT_BEGIN: ReadonlySet<string> = new Set(['CAMPAIGN_BUSY', 'ENGINE_UNREACHABLE']);

export interface RunOptions {
  /** Absolute. */
  readonly file: string;
  readonly name: string | null;
  /** Only these experiments; empty: all. */
  readonly only: readonly string[];
  readonly keep: boolean;
}

export interface Around {
  readonly project: Project;
  readonly env: Environment;
  readonly cwd: string;
}

export interface CampaignService {
  run(options: RunOptions, observer: Observed, interrupts: Interrupts): Promise<Conducted & { readonly name: string }>;
  /** `name` null: the newest that is not finished. */
  resume(
    options: { readonly name: string | null; readonly keep: boolean },
    observer: Observed,
    interrupts: Interrupts,
  ): Promise<Conducted & { readonly name: string }>;
  /** Removes what campaigns left behind; `name` null: of all that nobody runs. */
  teardown(name: string | null, observer: Observed): Promise<TornDown>;
  list(): Promise<CampaignsView>;
  /** `name` null: the newest. */
  show(name: string | null): Promise<CampaignView>;
  /** By name of the experiment, from the file as it was, with the variables of now. Throws where one is missing. */
  settings(name: string): ReadonlyMap<string, ExperimentSettings>;
  close(): void;
}

export interface TornDown {
  /** Of these campaigns nothing is left. */
  readonly names: readonly string[];
  /** Of these something is still there, and that is it. */
  readonly leftOf: readonly string[];
  readonly left: readonly string[];
}

/** What would be run, without running it. */
export function planCampaign({ file, only }: Pick<RunOptions, 'file' | 'only'>, { env, cwd }: Around): CampaignSpec {
  return onlyThese(loadCampaign(file, { env, cwd }).spec, only);
}

export async function openCampaigns(around: Around): Promise<CampaignService> {
  const { home, db } = prepareHome(around.project);
  const book = await openCampaignBook(db);

  const partsOf = (record: CampaignRecord, observer: Observed): CampaignParts =>
    partsFor({ ...around, book, observer, record, logDir: campaignDir(home, record.name) });

  /** Whoever only puts away what it left holds the lock, too. */
  const isRun = async ({ state, name }: CampaignRecord) => state === 'running' && (await isRunning(home, name));

  /** After a kill -9: the attempt that still runs is ended or its result taken, and everything removed. */
  async function clear(record: CampaignRecord, observer: Observed): Promise<readonly string[]> {
    const parts = partsOf(record, observer);
    await settleOpen(parts, record, artifactsOf(record, around));
    const left = await putAway(parts.services, observer);
    for (const one of left) observer.note(`could not be removed: ${one}`);
    if (left.length === 0) book.mark(record.id, { mayBeUp: false });
    return left;
  }

  async function clearForeign(own: CampaignRecord, observer: Observed): Promise<void> {
    for (const record of book.list()) {
      if (record.id === own.id || !record.mayBeUp || record.composeFile !== own.composeFile) continue;
      observer.note(`the campaign ${record.name} left services behind`);
      await clear(record, observer);
    }
  }

  async function go(
    { record, spec }: { readonly record: CampaignRecord; readonly spec: CampaignSpec },
    keep: boolean,
    observer: Observed,
    interrupts: Interrupts,
  ): Promise<Conducted & { readonly name: string }> {
    using _lock = await lockCampaign(home, record);
    // What the book says now: until the lock was ours, somebody else may have been at it.
    const campaign = { record: chosen(book, record.name), spec };
    if (campaign.record.uid !== record.uid)
      throw new AppError('CAMPAIGN_BUSY', { what: `The campaign ${record.name}` });
    const parts = partsOf(record, observer);
    // An Engine that goes away later is waited for; without one to begin with, somebody has forgotten something.
    const answer = await parts.engine.ping(interrupts.stop);
    if (answer.kind === 'unreachable') throw unreachable(answer.why);
    await clearForeign(record, observer);
    observer.begins(campaign.record, spec);
    return { ...(await conduct(parts, campaign, { keep, interrupts })), name: record.name };
  }

  return {
    run: async ({ file, name, only, keep }, observer, interrupts) => {
      const loaded = loadCampaign(file, around);
      const spec = onlyThese(loaded.spec, only);
      const record = await create(book, home, { ...loaded, spec }, name === null ? spec.name : validName(name));
      try {
        return await go({ record, spec }, keep, observer, interrupts);
      } catch (error) {
        // Not one of those that wait to be resumed: it had no chance to begin.
        if (error instanceof AppError && COULD_NOT_BEGIN.has(error.code)) book.discard(record.id);
        throw error;
      }
    },
    resume: async ({ name, keep }, observer, interrupts) => {
      const record = name === null ? newestUnfinished(book) : chosen(book, name);
      return await go({ record, spec: specOf(record, around) }, keep, observer, interrupts);
    },
    teardown: async (name, observer) => {
      const records = name === null ? book.list().filter(({ mayBeUp }) => mayBeUp) : [chosen(book, name)];
      const left: string[] = [];
      const names: string[] = [];
      const leftOf: string[] = [];
      for (const record of records) {
        if (name === null && (await isRunning(home, record.name))) continue;
        using _lock = await lockCampaign(home, record);
        const still = await clear(chosen(book, record.name), observer);
        left.push(...still);
        (still.length === 0 ? names : leftOf).push(record.name);
      }
      return { names, leftOf, left };
    },
    list: async () => {
      const campaigns = [];
      for (const record of book.list()) campaigns.push(summaryView(resultsOf(record), await isRun(record)));
      return { schema_version: 1, campaigns };
    },
    show: async (name) => {
      const record = name === null ? book.list()[0] : chosen(book, name);
      if (!record) throw new AppError('NO_SUCH_CAMPAIGN', { name: 'here', meant: '' });
      return wholeView(resultsOf(record), await isRun(record));
    },
    settings: (name) => {
      const { experiments } = specOf(chosen(book, name), around);
      return new Map(experiments.map((one) => [one.name, settingsOf(one)]));
    },
    close: () => book.close(),
  };
}

async function create(
  book: CampaignBook,
  home: string,
  { spec, source }: LoadedCampaign,
  name: string,
): Promise<CampaignRecord> {
  const taken = book.find(name);
  const mayReplace = taken !== null && !wasBegun(taken) && !(await isRunning(home, name));
  if (taken && isUnfinished(taken) && !mayReplace) throw new AppError('CAMPAIGN_EXISTS', { name });
  if (taken && mayReplace) book.discard(taken.id);
  const uid = randomBytes(6).toString('hex');
  const { composeFile, projectDir, experiments } = spec;
  const free = freeName(book, name);
  return book.create(
    { uid, name: free, file: source.path, source: source.text, composeFile, projectDir, experiments },
    Date.now() as CampaignRecord['createdAt'],
  );
}

function newestUnfinished(book: CampaignBook): CampaignRecord {
  const record = book.list().find(isUnfinished);
  if (!record) throw new AppError('NO_SUCH_CAMPAIGN', { name: 'that could go on', meant: '' });
  return record;
}

/** None where the file cannot be understood any more: clearing away must work all the same. */
function artifactsOf(record: CampaignRecord, around: Around): CampaignSpec['artifacts'] {
  try {
    return specOf(record, around).artifacts;
  } catch {
    return [];
  }
}

/** The campaign as it was when it was begun, with the variables of now. */
function specOf(record: CampaignRecord, { env, cwd }: Around): CampaignSpec {
  const { spec } = loadCampaignFromText({ path: record.file, text: record.source }, { env, cwd });
  const byName = new Map(spec.experiments.map((one) => [one.name, one]));
  const experiments = record.experiments.map(({ name }) => {
    const found = byName.get(name);
    if (!found)
      throw new AppError('CAMPAIGN_CHANGED', {
        name: record.name,
        problem: `there is no experiment ${name} in it any more.${didYouMean(name, [...byName.keys()])}`,
      });
    return found;
  });
  return { ...spec, experiments };
}

// Which campaign is meant, and which of its experiments.

const MAX_SHOWN = 80;

export const isUnfinished = ({ state }: CampaignRecord): boolean => state !== 'done' && state !== 'failed';

/** Nothing was ever begun: there is nothing in it to go on with. */
export const wasBegun = ({ experiments }: CampaignRecord): boolean => experiments.some(({ attempts }) => attempts > 0);

/** Throws NO_SUCH_CAMPAIGN. */
export function chosen(book: CampaignBook, name: string): CampaignRecord {
  const record = book.find(name);
  if (record) return record;
  const names = book.list().map((one) => one.name);
  throw new AppError('NO_SUCH_CAMPAIGN', { name: `called ${name}`, meant: didYouMean(name, names) });
}

/** It becomes the name of a folder. Throws USAGE. */
export function validName(name: string): string {
  if (NAME_PATTERN.test(name) && !name.includes('..')) return name;
  const problem = `A campaign cannot be called ${JSON.stringify(name.slice(0, MAX_SHOWN))}: only lower-case letters, digits, dots, dashes and underscores, at most 63.`;
  throw new AppError('USAGE', { problem });
}

/** The name itself, or with the next number that is free: the same campaign may be run every night. */
export function freeName(book: CampaignBook, name: string): string {
  let candidate = name;
  for (let number = 2; book.find(candidate) !== null; number += 1) candidate = `${name}-${number}`;
  return candidate;
}

/** Throws USAGE when one of them does not exist. */
export function onlyThese(spec: CampaignSpec, only: readonly string[]): CampaignSpec {
  if (only.length === 0) return spec;
  const names = spec.experiments.map(({ name }) => name);
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const problem = `There is no experiment ${unknown} in the campaign ${spec.name}.${didYouMean(unknown, names)}`;
    throw new AppError('USAGE', { problem });
  }
  return { ...spec, experiments: spec.experiments.filter(({ name }) => only.includes(name)) };
}

// Where campaigns are kept: with the project's state, or, where there is no configuration, beside the campaign file.

/** `file`: the campaign file, absolute; null: whatever is kept near the working directory. */
export function campaignProject(where: Where, file: string | null): Project {
  try {
    return findProject(where);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'CONFIG_NOT_FOUND') throw error;
    const { cwd, env } = where;
    const home = env['KEEPWELL_HOME'] ? resolve(cwd, env['KEEPWELL_HOME']) : homeNear(file, cwd);
    if (home === null) throw new AppError('NO_SUCH_CAMPAIGN', { name: 'here', meant: '' }, { cause: error });
    return { home, files: [file ?? join(dirname(home), 'campaign.yaml')] };
  }
}

function homeNear(file: string | null, cwd: string): string | null {
  if (file !== null) return join(dirname(file), '.keepwell');
  for (let dir = resolve(cwd); ; dir = dirname(dir)) {
    const home = join(dir, '.keepwell');
    if (existsSync(homePaths(home).db)) return home;
    if (dir === dirname(dir)) return null;
  }
}

// A campaign from taking it up to putting everything away, whatever happens in between.

/** For everything that belongs to the services, as `docker compose down` has it. */
export const TEARDOWN_MS = 30_000;

export interface Conducted extends Finished {
  /** What could not be removed; empty: nothing is left, or it was wanted so. */
  readonly left: readonly string[];
}

/** Rejects with what went wrong unforeseen, after everything has been put away then, too. */
export async function conduct(
  parts: CampaignParts,
  campaign: { readonly record: CampaignRecord; readonly spec: CampaignSpec },
  options: { readonly keep: boolean; readonly interrupts: Interrupts },
): Promise<Conducted> {
  const { book, clock, observer } = parts;
  const { record } = campaign;
  const { stop, rush } = options.interrupts;
  book.mark(record.id, { state: 'running' });
  let finished: Finished;
  let failure: unknown = null;
  using outages = watchOutages(parts);
  try {
    finished = await runCampaign(parts, campaign, options.interrupts, outages);
  } catch (error) {
    const isInterrupt = rush.aborted || (stop.aborted && error === stop.reason);
    failure = isInterrupt ? null : error;
    const reason = isInterrupt ? 'interrupted' : error instanceof Error ? error.message : String(error);
    finished = { outcome: 'interrupted', reason };
    quietly(() => book.write(record.id, [{ kind: 'campaign', state: 'interrupted', reason }], clock.wallNow()));
  }
  const left = options.keep ? [] : await putAwayPatiently(parts, outages, stop);
  if (!options.keep && left.length === 0) quietly(() => book.mark(record.id, { mayBeUp: false }));
  for (const one of left) observer.note(`could not be removed: ${one}`);
  if (left.length > 0) observer.note(`to remove it later: keepwell campaign teardown ${record.name}`);
  if (failure !== null) throw failure;
  return { ...finished, left };
}

/** As below; but an Engine that is away is waited for, as long as nobody wants an end of it. */
async function putAwayPatiently(
  { services, observer }: CampaignParts,
  outages: Outages,
  stop: AbortSignal,
): Promise<readonly string[]> {
  // Interrupted while it waits: then it is tried once more, and what is left is told.
  const over = () => outages.over(stop).catch(() => {});
  for (;;) {
    const before = outages.count;
    if (outages.isAway) await over();
    const left = await putAway(services, observer);
    if (left.length > 0 || outages.isAway) await over();
    if (left.length === 0 || stop.aborted || outages.count === before) return left;
  }
}

/** Never rejects, and takes no longer than it may. Resolves with what is still there. */
export async function putAway(
  services: Services,
  observer: Pick<CampaignObserver, 'note'>,
): Promise<readonly string[]> {
  observer.note('removing the services');
  const late = new AbortController();
  const limit = new Promise<readonly string[]>((resolve) => {
    const timer = setTimeout(() => resolve(['it took too long']), TEARDOWN_MS + 1_000);
    late.signal.addEventListener('abort', () => clearTimeout(timer));
  });
  const work = services.teardown({ timeoutMs: TEARDOWN_MS }).catch((error: Error) => [error.message]);
  const left = await Promise.race([work, limit]);
  late.abort();
  return left;
}

function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // The book cannot be written: what it says then is what a kill -9 would have left, and a resume knows what to do with that.
  }
}

// Closes an attempt that a killed process left open, without going on with the campaign.

/** For all of it: whoever clears away is not kept for ever by an Engine that hangs. */
const SETTLE_WITHIN_MS = 60_000;

/**
 * Its container is about to be removed: what came to a good end is taken now, everything else is run again. Where the Engine does not
 * answer it stays open: it may go on in there, and whoever resumes looks for it.
 */
export async function settleOpen(
  parts: CampaignParts,
  record: CampaignRecord,
  artifacts: readonly ArtifactSpec[],
): Promise<void> {
  try {
    if (record.open) await settle(parts, record, record.open, artifacts);
  } catch (error) {
    if (!(error instanceof Error && error.name === 'TimeoutError')) throw error;
    parts.observer.note(`${record.name}: the Docker Engine takes too long to say what became of the last experiment`);
  }
}

async function settle(
  parts: CampaignParts,
  record: CampaignRecord,
  open: OpenAttempt,
  artifacts: readonly ArtifactSpec[],
): Promise<void> {
  const { execs, book, clock, observer } = parts;
  const experiment = record.experiments[open.position]!;
  const place = { service: experiment.service, container: open.container, attempt: open.attempt };
  const signal = AbortSignal.timeout(SETTLE_WITHIN_MS);
  const observation = await execs.look(place, signal);
  if (observation.kind === 'unreachable') return;
  if (observation.kind === 'running') await execs.end(place, signal);
  const log = openAttemptLog(parts.logDir, experiment.name, open.number);
  await copyRest(parts, { place, log, experiment: experiment.name }, signal);
  const isDone = observation.kind === 'ended' && observation.exitCode === 0;
  if (isDone) {
    const from = { container: open.container, experiment: experiment.name };
    const { troubles } = await copyArtifacts({ archives: parts.archives, ledger: null }, from, artifacts, signal);
    for (const trouble of troubles) observer.note(trouble);
  }
  const reason = isDone ? null : 'it was put away while nobody ran the campaign';
  const [exitCode, durationMs] =
    observation.kind === 'ended' ? [observation.exitCode, observation.durationMs] : [null, null];
  const state = isDone ? ('done' as const) : ('pending' as const);
  book.write(
    record.id,
    [
      { kind: 'attempt-over', open, outcome: isDone ? 'exited' : 'interrupted', exitCode, durationMs, reason },
      {
        kind: 'experiment',
        position: open.position,
        experiment: { ...experiment, state, exitCode, durationMs, reason },
      },
    ],
    clock.wallNow(),
  );
}
