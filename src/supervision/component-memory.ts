/** What people are told about a component beside its state; part of it outlives the daemon in the component's record. */
import { describeExit, exitView } from '../base/pure/exit.ts';
import type { MonoMs, WallMs } from '../base/pure/ids.ts';
import type { ComponentRecord, Desired } from './ports/store.ts';
import type { StoredPulse } from './rules/freeze/pulse.ts';
import type { Component, ComponentEvent, Effect } from './rules/lifecycle/state.ts';

/** What a runner begins with: the state restored for this boot, what is wanted, and the record of earlier daemons if there is one. */
export interface Past {
  readonly component: Component;
  readonly desired: Desired;
  readonly record: ComponentRecord | null;
}

export class ComponentMemory {
  startedAt: ComponentRecord['startedAt'];
  lastRestart: ComponentRecord['lastRestart'];
  lastExit: ComponentRecord['lastExit'];
  /** How the heartbeat of its run stood when an earlier daemon wrote it down. */
  readonly pulse: StoredPulse | null;
  /** A crash whose evidence is still to be gathered. */
  unexplained: ComponentRecord['unexplained'] | null;
  /** The current run was begun by an earlier daemon. */
  adopted = false;
  /** Who is still there of a run that is being ended. */
  survivors: readonly string[] = [];
  /** Why the coming start happens, for `last_restart`; null for a plain start. */
  startReason: string | null = null;

  constructor(record: ComponentRecord | null) {
    this.startedAt = record?.startedAt ?? null;
    this.lastRestart = record?.lastRestart ?? null;
    this.lastExit = record?.lastExit ?? null;
    this.pulse = record?.pulse ?? null;
    this.unexplained = record?.unexplained ?? null;
  }

  /** Brought up to date with one step. `wall`: the wall time of a moment of the past, or of now. */
  learn(event: ComponentEvent, effects: readonly Effect[], wall: (mono?: MonoMs) => WallMs): void {
    if (event.kind === 'start-requested' && event.fresh) this.startReason = null;
    for (const effect of effects) {
      if (effect.kind === 'end-run') {
        const { cause, unhealthy, crash } = effect.end;
        const exit = exitView(cause, unhealthy);
        this.lastExit = { at: wall(effect.end.at), exit, crash };
        this.survivors = [];
        const isRestarted = effect.end.rule !== 'planned-stop' && effect.end.rule !== 'observed';
        if (isRestarted) this.startReason = unhealthy ?? describeExit(exit);
      }
      if (effect.kind === 'spawn') {
        this.adopted = false;
        if (this.startReason !== null) this.lastRestart = { at: wall(), reason: this.startReason };
        this.startReason = null;
      }
    }
    if (event.kind === 'started') this.startedAt = wall(event.at);
  }
}
