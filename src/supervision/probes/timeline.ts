/** The answers of a run's probes as stretches of equal ones: what `why` shows, and what goes into the history in batches. */

import type { ComponentName, RunId } from '../../base/pure/ids.ts';
import type { Role } from '../rules/health/probe.ts';
import type { ProbeStretch } from '../rules/health/stretch.ts';
import type { Heard } from './probe-loop.ts';

/** Stretches that a crash is told with. */
const KEPT = 20;

export class Timeline {
  readonly run: RunId;
  readonly #component: ComponentName;
  readonly #changed: (stretch: ProbeStretch) => void;
  #stretches: readonly ProbeStretch[] = [];

  /** `changed`: a stretch as it is now, also when it only grew. */
  constructor(component: ComponentName, run: RunId, changed: (stretch: ProbeStretch) => void) {
    this.#component = component;
    this.run = run;
    this.#changed = changed;
  }

  /** Oldest first. */
  get stretches(): readonly ProbeStretch[] {
    return this.#stretches;
  }

  add(heard: Heard): void {
    const open = this.#open(heard.role);
    const grows = open !== undefined && open.outcome === heard.outcome && open.question === heard.question;
    const stretch = grows ? grown(open, heard) : this.#begun(heard, open);
    this.#stretches = [...this.#stretches.filter((each) => !grows || each !== open), stretch].slice(-KEPT);
    this.#changed(stretch);
  }

  #open(role: Role): ProbeStretch | undefined {
    return this.#stretches.findLast((each) => each.role === role);
  }

  #begun({ role, question, outcome, message, at, tookMs }: Heard, before: ProbeStretch | undefined): ProbeStretch {
    // The first time is part of its key, and the wall clock may have gone back.
    const firstAt = before !== undefined && at <= before.firstAt ? ((before.firstAt + 1) as typeof at) : at;
    const about = { component: this.#component, run: this.run, role, question, outcome, message };
    return { ...about, firstAt, lastAt: at, count: 1, lastMs: tookMs, maxMs: tookMs };
  }
}

const grown = (stretch: ProbeStretch, { message, at, tookMs }: Heard): ProbeStretch => ({
  ...stretch,
  message,
  lastAt: at,
  count: stretch.count + 1,
  lastMs: tookMs,
  maxMs: Math.max(stretch.maxMs, tookMs),
});
