/** All probes of one component, following its state: begun with a run, gated by its startup probe, ended with it. */
import type { ComponentName, RunId } from '../../base/pure/ids.ts';
import type { ProbeTarget } from '../ports/prober.ts';
import { ROLES, type Role } from '../rules/health/probe.ts';
import type { ProbeVerdict } from '../rules/health/probing.ts';
import type { RunHealth } from '../rules/health/run-health.ts';
import type { ProbeStretch } from '../rules/health/stretch.ts';
import type { ComponentState, In } from '../rules/lifecycle/state.ts';
import type { ProbeView } from '../rules/views.ts';
import type { ComponentSpec } from '../spec.ts';
import { type Heard, ProbeLoop, type ProbeWorld } from './probe-loop.ts';

export interface RunProbesWorld extends ProbeWorld {
  /** A stretch of the timeline, whenever it changed. */
  probed(stretch: ProbeStretch): void;
  /** The position at which the output of this run begins in the component's log. */
  logFrom(spec: ComponentSpec, run: RunId): number;
  /** The position behind the last byte of the component's log. */
  logEnd(spec: ComponentSpec): number;
}

export type VerdictSender = (run: RunId, role: Role, pass: boolean, reason: string) => void;

interface Followed extends Disposable {
  readonly run: RunId;
  readonly spec: ComponentSpec;
  readonly target: ProbeTarget;
  readonly loops: Map<Role, ProbeLoop>;
}

export class RunProbes implements Disposable {
  readonly #world: RunProbesWorld;
  readonly #send: VerdictSender;
  readonly #asking: () => () => void;
  #isResting = false;
  #followed: Followed | null = null;
  #timeline: Timeline | null = null;

  /** `asking`: called when a question begins that the component may notice, and what it returns when that is answered. */
  constructor(world: RunProbesWorld, send: VerdictSender, asking: () => () => void) {
    this.#world = world;
    this.#send = send;
    this.#asking = asking;
  }

  /** The component is in this state now. `adopted`: its run was begun by an earlier daemon. */
  follow(spec: ComponentSpec, state: ComponentState, adopted: boolean): void {
    const run = state.kind === 'running' && hasProbes(spec) ? state.run : null;
    if (this.#followed && (this.#followed.run !== run || !sameProbes(this.#followed.spec, spec))) this.#end();
    if (state.kind !== 'running' || run === null) return;
    this.#followed ??= this.#begin(spec, state, adopted);
    this.#open(this.#followed, state);
  }

  /** From now on nothing is asked that the component may notice; or it is asked again. */
  rest(isResting: boolean): void {
    this.#isResting = isResting;
    for (const loop of this.#followed?.loops.values() ?? []) loop.rest(isResting);
  }

  views(): readonly ProbeView[] {
    const loops = this.#followed?.loops;
    return ROLES.flatMap((role) => loops?.get(role)?.view ?? []);
  }

  /** What the probes of this run have answered so far, oldest first; also when it has just ended. */
  before(run: RunId): readonly ProbeStretch[] {
    return this.#timeline?.run === run ? this.#timeline.stretches : [];
  }

  [Symbol.dispose](): void {
    this.#end();
  }

  #begin(spec: ComponentSpec, { run, pid }: In<'running'>, adopted: boolean): Followed {
    const { prober, probed, logFrom, logEnd } = this.#world;
    const isNew = this.#timeline?.run !== run;
    if (isNew) this.#timeline = new Timeline(spec.name, run, probed);
    const loops = new Map<Role, ProbeLoop>();
    const target = { spec, run, pid, logFrom: logFrom(spec, run) };
    // What a run wrote before has been seen: by an earlier daemon, or by us before its probes were changed.
    const from = isNew && !adopted ? target : { ...target, logFrom: logEnd(spec) };
    const hit = ({ pattern, line }: { readonly pattern: string; readonly line: string }) =>
      loops.get('liveness')?.fail(`crash pattern ${JSON.stringify(pattern)}: ${line}`);
    const patterns = spec.crashPatterns.length === 0 ? null : prober.watch(spec.crashPatterns, from, hit);
    const end = () => {
      for (const loop of loops.values()) loop[Symbol.dispose]();
      patterns?.[Symbol.dispose]();
    };
    return { run, spec, target, loops, [Symbol.dispose]: end };
  }

  /** Opens what is to be asked by now: the startup probe first, the others once it has passed. */
  #open({ run, spec, target, loops }: Followed, { health, startedAt }: In<'running'>): void {
    const due: readonly Role[] = health.started ? ['liveness', 'readiness'] : ['startup'];
    for (const role of due) {
      const probe = spec.probes[role];
      if (probe === null || loops.has(role)) continue;
      const options = { role, spec: probe, target, startedAt, known: known(role, health) };
      const listener = {
        heard: (heard: Heard) => this.#timeline?.add(heard),
        verdict: (of: Role, pass: boolean, reason: string) => this.#send(run, of, pass, reason),
        asking: this.#asking,
      };
      const loop = new ProbeLoop(options, this.#world, listener);
      if (this.#isResting) loop.rest(true);
      loops.set(role, loop);
    }
    if (!health.started) return;
    loops.get('startup')?.[Symbol.dispose]();
    loops.delete('startup');
  }

  #end(): void {
    this.#followed?.[Symbol.dispose]();
    this.#followed = null;
  }
}

const hasProbes = ({ probes }: ComponentSpec): boolean => ROLES.some((role) => probes[role] !== null);

/** Asked of the same things in the same way? */
function sameProbes(a: ComponentSpec, b: ComponentSpec): boolean {
  return (
    a === b ||
    (JSON.stringify(a.probes) === JSON.stringify(b.probes) &&
      JSON.stringify(a.crashPatterns) === JSON.stringify(b.crashPatterns))
  );
}

function known(role: Role, { alive, ready }: RunHealth): ProbeVerdict | null {
  if (role === 'liveness') return alive === null ? null : alive ? 'pass' : 'fail';
  return role === 'readiness' && ready ? 'pass' : null;
}

// The answers of a run's probes as stretches of equal ones: what `why` shows, and what goes into the history in batches.

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
