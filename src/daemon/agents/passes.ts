/** Looks through all agents again and again: each pass is one row of `health_checks`. */
import type { AgentIssue, AgentView } from '../../core/agents/views.ts';
import { after, type WallMs } from '../../core/ids.ts';
import type { Findings, HealthCheckRow, LoopFindings, OthersFindings, PassPart } from '../../ports/agents.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

export interface PassesParts {
  readonly clock: Clock;
  readonly log: Log;
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

const NOTHING_YET: LastPass = { others: [], issues: [], isLoopFrozen: false, lastPollAgeSeconds: null };
const NO_OTHERS: OthersFindings = { agents: [], zombies: 0, issues: [], actions: [], bugs: [] };
const NO_LOOP: LoopFindings = { responsive: null, lastPollAgeSeconds: null, issues: [], actions: [], bugs: [] };
const NONE_OF_OURS: { readonly issues: readonly AgentIssue[]; readonly zombies: number } = { issues: [], zombies: 0 };

export class Passes {
  readonly #parts: PassesParts;
  #last: LastPass = NOTHING_YET;
  #since: WallMs;
  #timer: AbortController | null = null;
  #running: Promise<void> = Promise.resolve();
  #everyMs = 0;

  constructor(parts: PassesParts) {
    this.#parts = parts;
    this.#since = parts.clock.wallNow();
  }

  get last(): LastPass {
    return this.#last;
  }

  /** 0: not at all. The first pass is at once. */
  set(everyMs: number): void {
    if (everyMs === this.#everyMs) return;
    this.#everyMs = everyMs;
    this.#timer?.abort();
    if (everyMs === 0) this.#last = NOTHING_YET;
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
      while (!timer.signal.aborted) {
        const next = after(clock.now(), everyMs);
        await this.now();
        await clock.sleepUntil(next, timer.signal);
      }
    };
    go().catch(() => {}); // it was asked to end
  }

  async #pass(): Promise<void> {
    const { others, loop, clock, write, summary } = this.#parts;
    if (this.#everyMs === 0) return;
    const [theirs, itself, ours] = await Promise.all([
      this.#inTime(others.look(), NO_OTHERS),
      this.#inTime(loop.look(), NO_LOOP),
      this.#inTime(this.#parts.ours(), NONE_OF_OURS),
    ]);
    this.#last = {
      others: theirs.agents,
      issues: [...itself.issues, ...theirs.issues, ...ours.issues],
      isLoopFrozen: itself.responsive === false,
      lastPollAgeSeconds: itself.lastPollAgeSeconds,
    };
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
      actionsTaken: [...new Set([...itself.actions, ...theirs.actions, ...done.actions])],
      bugsReported: new Set([...itself.bugs, ...theirs.bugs, ...done.bugs]).size,
    });
  }

  /** What does not answer until the next pass has nothing to say in this one. */
  async #inTime<T>(work: Promise<T>, otherwise: T): Promise<T> {
    const { clock, log } = this.#parts;
    const done = new AbortController();
    const late = clock.sleepUntil(after(clock.now(), this.#everyMs), done.signal).then(
      () => {
        log.warn('a part of a pass over the agents takes too long', { everyMs: this.#everyMs });
        return otherwise;
      },
      () => otherwise,
    );
    const failed = (error: unknown) => {
      log.error('a part of a pass over the agents failed', { error: String(error) });
      return otherwise;
    };
    const first = await Promise.race([work.catch(failed), late]);
    done.abort();
    return first;
  }
}
