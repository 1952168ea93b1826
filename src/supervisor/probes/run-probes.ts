/** All probes of one component, following its state: begun with a run, gated by its startup probe, ended with it. */

import type { ComponentSpec } from '../../core/component.ts';
import { type ProbeSpec, type ProbesSpec, ROLES, type Role } from '../../core/health/probe.ts';
import type { ProbeVerdict } from '../../core/health/probing.ts';
import type { RunHealth } from '../../core/health/run-health.ts';
import type { RunId } from '../../core/ids.ts';
import type { ComponentState, In } from '../../core/lifecycle/state.ts';
import type { ProbeView } from '../../core/views.ts';
import type { ProbeStretch } from '../../ports/store.ts';
import { type Heard, ProbeLoop, type ProbeWorld } from './probe-loop.ts';
import { Timeline } from './timeline.ts';

/** Asked beside crash patterns when nothing else tells about liveness, so that old hits are forgiven. */
const PID_LIVENESS: ProbeSpec = {
  question: { kind: 'pid' },
  periodMs: 10_000,
  timeoutMs: 1_000,
  initialDelayMs: 0,
  failureThreshold: 3,
  successThreshold: 1,
};

export interface RunProbesWorld extends ProbeWorld {
  /** A stretch of the timeline, whenever it changed. */
  probed(stretch: ProbeStretch): void;
  /** Where the output of this run begins in the component's log. */
  logFrom(spec: ComponentSpec, run: RunId): number;
  /** How long the component's log is now. */
  logSize(spec: ComponentSpec): number;
}

export type VerdictSender = (run: RunId, role: Role, pass: boolean, reason: string) => void;

interface Followed extends Disposable {
  readonly run: RunId;
  readonly spec: ComponentSpec;
  readonly loops: Map<Role, ProbeLoop>;
}

export class RunProbes implements Disposable {
  readonly #world: RunProbesWorld;
  readonly #send: VerdictSender;
  #followed: Followed | null = null;
  #timeline: Timeline | null = null;

  constructor(world: RunProbesWorld, send: VerdictSender) {
    this.#world = world;
    this.#send = send;
  }

  /** The component is in this state now. `adopted`: its run was begun by an earlier daemon. */
  follow(spec: ComponentSpec, state: ComponentState, adopted: boolean): void {
    const run = state.kind === 'running' && hasProbes(spec) ? state.run : null;
    if (this.#followed && (this.#followed.run !== run || !sameProbes(this.#followed.spec, spec))) this.#end();
    if (state.kind !== 'running' || run === null) return;
    this.#followed ??= this.#begin(spec, state, adopted);
    this.#open(this.#followed, state);
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
    const { prober, stalls, probed, logSize } = this.#world;
    if (this.#timeline?.run !== run) this.#timeline = new Timeline(spec.name, run, probed);
    const loops = new Map<Role, ProbeLoop>();
    const target = this.#target(spec, run, pid);
    // What an adopted run wrote before has been seen by the daemon before us.
    const from = adopted ? { ...target, logFrom: logSize(spec) } : target;
    const hit = ({ pattern, line }: { readonly pattern: string; readonly line: string }) =>
      loops.get('liveness')?.fail(`crash pattern ${pattern}: ${line}`);
    const patterns = spec.crashPatterns.length === 0 ? null : prober.watch(spec.crashPatterns, from, hit);
    const stallWatch = stalls.watch();
    const end = () => {
      for (const loop of loops.values()) loop[Symbol.dispose]();
      patterns?.[Symbol.dispose]();
      stallWatch[Symbol.dispose]();
    };
    return { run, spec, loops, [Symbol.dispose]: end };
  }

  #target(spec: ComponentSpec, run: RunId, pid: number | null) {
    return { spec, run, pid, logFrom: this.#world.logFrom(spec, run) };
  }

  /** Opens what is to be asked by now: the startup probe first, the others once it has passed. */
  #open({ run, spec, loops }: Followed, { health, pid, startedAt }: In<'running'>): void {
    const probes = asAsked(spec);
    const due: readonly Role[] = health.started ? ['liveness', 'readiness'] : ['startup'];
    for (const role of due) {
      const probe = probes[role];
      if (probe === null || loops.has(role)) continue;
      const options = {
        role,
        spec: probe,
        target: this.#target(spec, run, pid),
        startedAt,
        known: known(role, health),
      };
      const listener = {
        heard: (heard: Heard) => this.#timeline?.add(heard),
        verdict: (of: Role, pass: boolean, reason: string) => this.#send(run, of, pass, reason),
      };
      loops.set(role, new ProbeLoop(options, this.#world, listener));
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

const hasProbes = ({ probes, crashPatterns }: ComponentSpec): boolean =>
  crashPatterns.length > 0 || ROLES.some((role) => probes[role] !== null);

const asAsked = ({ probes, crashPatterns }: ComponentSpec): ProbesSpec =>
  crashPatterns.length > 0 && probes.liveness === null ? { ...probes, liveness: PID_LIVENESS } : probes;

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
