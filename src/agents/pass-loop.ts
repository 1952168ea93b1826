/** Looks through all agents again and again: each pass is one row of `health_checks`. */
import { after, type WallMs } from '../base/pure/ids.ts';
import type { Runtime } from '../base/runtime.ts';
import type { Findings, HealthCheckRow, LoopFindings, OthersFindings, PassPart } from './ports.ts';
import { isFixed } from './rules/report.ts';
import type { AgentIssue, AgentView } from './rules/views.ts';

export interface PassLoopParts extends Pick<Runtime, 'clock' | 'log'> {
  readonly others: PassPart<OthersFindings>;
  readonly loop: PassPart<LoopFindings>;
  /** Zombies and what is left of agents that have ended. */
  ours(): Promise<{ readonly issues: readonly AgentIssue[]; readonly zombies: number }>;
  /** Since the pass before: actions that were taken, and tickets that were filed. */
  since(at: WallMs): Pick<Findings, 'actions' | 'bugs'> & { readonly crashes: number };
  /** What the report says by now. */
  summary(): Pick<HealthCheckRow, 'status' | 'activeAgents'>;
  write(row: HealthCheckRow): void;
}

/** What the last pass found. */
export interface LastPass {
  readonly others: readonly AgentView[];
  readonly issues: readonly AgentIssue[];
  readonly isLoopFrozen: boolean;
  readonly lastPollAgeSeconds: number | null;
}

/** Agents of others are looked at so many times as often: how one ended is known only until its parent takes note of that. */
const LOOKS_PER_PASS = 30;
const MIN_LOOK_MS = 1_000;
/** So many issues that were over at once are remembered. */
const MAX_FIXED = 1_000;

const NOTHING_YET: LastPass = { others: [], issues: [], isLoopFrozen: false, lastPollAgeSeconds: null };
const NO_OTHERS: OthersFindings = { agents: [], zombies: 0, issues: [], actions: [], bugs: [] };
const NO_LOOP: LoopFindings = { responsive: null, lastPollAgeSeconds: null, issues: [], actions: [], bugs: [] };
const NOTHING_DONE: Pick<Findings, 'actions' | 'bugs'> = { actions: [], bugs: [] };
const NONE_OF_OURS: { readonly issues: readonly AgentIssue[]; readonly zombies: number } = { issues: [], zombies: 0 };

/** It was over as soon as it was found. */
const isDone = ({ at }: AgentIssue): boolean => at !== null;

export class PassLoop {
  readonly #parts: PassLoopParts;
  #last: LastPass = NOTHING_YET;
  /** What the parts found at the last pass; of others, at the last look. */
  #loop: LoopFindings = NO_LOOP;
  #ours = NONE_OF_OURS;
  /** What was done about agents of others since the last pass. */
  #done: Pick<Findings, 'actions' | 'bugs'> = NOTHING_DONE;
  /** Issues that were over as soon as they were found, oldest first. Reports tell of those since the pass before the last. */
  #fixed: readonly AgentIssue[] = [];
  #toldSince = '';
  #since: WallMs;
  #timer: AbortController | null = null;
  #running: Promise<void> = Promise.resolve();
  #everyMs = 0;

  constructor(parts: PassLoopParts) {
    this.#parts = parts;
    this.#since = parts.clock.wallNow();
  }

  /** Issues about agents of others that were over as soon as they were found, and the freeze of the loop if it was restarted. */
  fixedSince(since: string): readonly AgentIssue[] {
    return [...this.#fixed, ...this.#loop.issues].filter((issue) => isFixed(issue) && (issue.at ?? '') >= since);
  }

  get last(): LastPass {
    return this.#last;
  }

  /** 0: not at all. The first pass is at once. */
  set(everyMs: number): void {
    if (everyMs === this.#everyMs) return;
    this.#everyMs = everyMs;
    this.#timer?.abort();
    if (everyMs === 0) [this.#last, this.#loop, this.#ours] = [NOTHING_YET, NO_LOOP, NONE_OF_OURS];
    else this.#begin(everyMs);
  }

  /** One more pass, now; resolves when it is written down. One at a time. */
  now(): Promise<void> {
    this.#running = this.#running
      .then(() => this.#pass())
      .catch((error: unknown) => {
        this.#parts.log.error('a pass over the agents failed, going on', { error: String(error) });
      });
    return this.#running;
  }

  async close(): Promise<void> {
    this.#timer?.abort();
    this.#everyMs = 0;
    await this.#running;
  }

  #begin(everyMs: number): void {
    const { clock } = this.#parts;
    const timer = new AbortController();
    this.#timer = timer;
    const go = async () => {
      const lookMs = Math.min(everyMs, Math.max(MIN_LOOK_MS, everyMs / LOOKS_PER_PASS));
      while (!timer.signal.aborted) {
        const next = after(clock.now(), everyMs);
        await this.now();
        for (let look = after(clock.now(), lookMs); look < next; look = after(clock.now(), lookMs)) {
          await clock.sleepUntil(look, timer.signal);
          await this.#look();
        }
        await clock.sleepUntil(next, timer.signal);
      }
    };
    go().catch(() => {}); // it was asked to end
  }

  /** A look at the agents of others between two passes; not while there is a pass. */
  #look(): Promise<void> {
    this.#running = this.#running.then(async () => {
      if (this.#everyMs === 0) return;
      this.#take(await this.#inTime(this.#parts.others.look(), NO_OTHERS, this.#keepDone));
    });
    return this.#running;
  }

  #take(theirs: OthersFindings): void {
    const { issues, responsive, lastPollAgeSeconds } = this.#loop;
    this.#keepDone(theirs);
    const left = theirs.issues.filter((issue) => !isDone(issue));
    const recent = this.#fixed.filter(({ at }) => at !== null && at >= this.#toldSince);
    this.#last = {
      others: theirs.agents,
      issues: [...issues, ...left, ...recent, ...this.#ours.issues],
      isLoopFrozen: responsive === false,
      lastPollAgeSeconds,
    };
  }

  /** Also when it comes too late to say how they are: what was done is done. */
  readonly #keepDone = (theirs: OthersFindings): void => {
    this.#fixed = [...this.#fixed, ...theirs.issues.filter(isDone)].slice(-MAX_FIXED);
    const { actions, bugs } = this.#done;
    this.#done = { actions: [...actions, ...theirs.actions], bugs: [...bugs, ...theirs.bugs] };
  };

  async #pass(): Promise<void> {
    const { others, loop, clock, write, summary } = this.#parts;
    if (this.#everyMs === 0) return;
    const [theirs, itself, ours] = await Promise.all([
      this.#inTime(others.look(), NO_OTHERS, this.#keepDone),
      this.#inTime(loop.look(), NO_LOOP),
      this.#inTime(this.#parts.ours(), NONE_OF_OURS),
    ]);
    [this.#loop, this.#ours] = [itself, ours];
    this.#toldSince = new Date(this.#since).toISOString();
    this.#take(theirs);
    const before = this.#done;
    this.#done = NOTHING_DONE;
    const at = clock.wallNow();
    const done = this.#parts.since(this.#since);
    this.#since = at;
    write({
      at,
      ...summary(),
      crashedAgents: done.crashes,
      zombieProcesses: ours.zombies + theirs.zombies,
      orchestratorResponsive: itself.responsive,
      lastPollAgeSeconds: itself.lastPollAgeSeconds,
      actionsTaken: [...new Set([...itself.actions, ...before.actions, ...done.actions])],
      bugsReported: [...new Set([...itself.bugs, ...before.bugs, ...done.bugs])],
    });
  }

  /** What does not answer until the next pass has nothing to say in this one. `late`: gets what it says then. */
  async #inTime<T>(work: Promise<T>, otherwise: T, late?: (found: T) => void): Promise<T> {
    const { clock, log } = this.#parts;
    const done = new AbortController();
    let isLate = false;
    const tooLong = clock.sleepUntil(after(clock.now(), this.#everyMs), done.signal).then(
      () => {
        log.warn('a part of a pass over the agents takes too long', { everyMs: this.#everyMs });
        isLate = true;
        return otherwise;
      },
      () => otherwise,
    );
    const failed = (error: unknown) => {
      log.error('a part of a pass over the agents failed', { error: String(error) });
      return otherwise;
    };
    const found = work.then((value) => {
      if (isLate) late?.(value);
      return value;
    });
    const first = await Promise.race([found.catch(failed), tooLong]);
    done.abort();
    return first;
  }
}
