/** Collects small facts and writes them in batches: a hundred a second must not be a hundred transactions. */
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { describeExit, type ExitView } from '../base/pure/exit.ts';
import { formatDuration } from '../base/pure/format.ts';
import { after } from '../base/pure/ids.ts';
import type { EventView } from './rules/views.ts';

export interface JournalOptions<Fact> {
  readonly clock: Clock;
  readonly everyMs: number;
  /** A fact with the same key stands for the one before. */
  keyOf(fact: Fact): string;
  write(facts: readonly Fact[]): void;
}

export class Journal<Fact> {
  readonly #options: JournalOptions<Fact>;
  readonly #over = new AbortController();
  #changed = new Map<string, Fact>();
  #isWaiting = false;

  constructor(options: JournalOptions<Fact>) {
    this.#options = options;
  }

  readonly note = (fact: Fact): void => {
    const { clock, everyMs, keyOf } = this.#options;
    this.#changed.set(keyOf(fact), fact);
    if (this.#isWaiting || this.#over.signal.aborted) return;
    this.#isWaiting = true;
    clock.sleepUntil(after(clock.now(), everyMs), this.#over.signal).then(
      () => {
        this.#isWaiting = false;
        this.#flush();
      },
      () => {}, // closed, and flushed by that
    );
  };

  close(): void {
    this.#over.abort();
    this.#flush();
  }

  #flush(): void {
    if (this.#changed.size === 0) return;
    const facts = [...this.#changed.values()];
    this.#changed = new Map();
    this.#options.write(facts);
  }
}

// Writes every restart into the daemon's log, with its reason: what ended and how, what was decided, which attempt follows.

/** Ends that somebody asked for, or that were to be expected. */
const EXPECTED: ReadonlySet<unknown> = new Set(['planned-stop', 'clean-exit']);
const UNASKED: Readonly<Record<string, string>> = { restart: 'restart', quiet: 'quiet retry' };

export function restartLog(log: Log): (event: EventView) => void {
  return ({ type, subject, run_id: run, data }) => {
    const { name } = subject;
    const about = { [subject.kind]: name, ...(run === null ? {} : { run }) };
    switch (type) {
      case 'component.exited': {
        if (EXPECTED.has(data['rule'])) return;
        const lived = data['uptime_ms'] === 0 ? '' : `; ran for ${formatDuration(Number(data['uptime_ms']))}`;
        const message = `${name}: ${data['exit']}${lived}; ${data['decision']}`;
        log[data['crash'] === true ? 'warn' : 'info'](message, { ...about, rule: data['rule'] });
        return;
      }
      case 'component.starting': {
        const attempt = UNASKED[String(data['attempt'])];
        if (attempt !== undefined) log.info(`${name}: ${attempt}`, about);
        return;
      }
      case 'agent.crashed': {
        const how = data['exit'] ? describeExit(data['exit'] as ExitView) : String(data['why']);
        log.warn(`${name}: crashed: ${how}`, { ...about, task: data['task'] });
        return;
      }
      case 'agent.respawned':
        log.info(`${name}: respawned (${data['number']} of ${data['of']})`, { ...about, task: data['task'] });
        return;
      case 'agent.gave-up':
        log.warn(`${name}: gave up: no more respawns`, { ...about, task: data['task'] });
        return;
      case 'session.unhealthy':
        log.warn(`${name}: session failed: ${data['why']}; ${data['decision']}`, about);
        return;
      case 'session.restarted':
        log.info(`${name}: session restarted (${data['restarts']} so far)`, about);
        return;
      case 'session.gave-up':
        log.warn(`${name}: session given up: ${data['why']}`, about);
        return;
      default:
    }
  };
}
