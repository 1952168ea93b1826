/**
 * Who is whose child, where there is no cgroup to ask: one list of all processes, shared by all runs. Only newcomers are looked
 * at each time, which costs a fiftieth of looking at everybody; now and then everybody is, because numbers are used again.
 */
import { readdirSync } from 'node:fs';
import { type ProcStat, readAnyProcStat } from '../proc.ts';
import type { Pace } from './pace.ts';

type Kin = Pick<ProcStat, 'ppid' | 'pgrp' | 'session'>;

const FORGET_AFTER_MS = 60_000;

export class ProcTable {
  readonly #pace: Pace;
  #known = new Map<number, Kin>();
  #children = new Map<number, number[]>();
  #groups = new Map<number, number[]>();
  #lookedAt = Number.NEGATIVE_INFINITY;
  #forgotAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /**
   * The main process, everybody of its session or group, and the descendants of all of these. The caller knows that it lives.
   * All who ask within `maxAgeMs` get the same list.
   */
  async treeOf(main: number, maxAgeMs: number): Promise<readonly number[]> {
    if (performance.now() - this.#lookedAt > maxAgeMs) {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = null;
      });
      await this.#looking;
    }
    const found = new Set([main, ...(this.#groups.get(main) ?? [])]);
    // A Set may grow while it is walked: grandchildren are reached too.
    for (const parent of found) for (const child of this.#children.get(parent) ?? []) found.add(child);
    found.delete(process.pid);
    return [...found];
  }

  async #look(): Promise<void> {
    const now = performance.now();
    if (now - this.#forgotAt > FORGET_AFTER_MS) {
      this.#forgotAt = now;
      this.#known = new Map();
    }
    const before = this.#known;
    this.#known = new Map();
    for (const name of readdirSync('/proc')) {
      const pid = Number(name);
      if (!(pid > 0)) continue;
      const known = before.get(pid);
      const kin = known ?? readAnyProcStat(pid);
      if (kin) this.#known.set(pid, kin);
      if (!known) await this.#pace.breathe();
    }
    this.#index();
    this.#lookedAt = performance.now();
  }

  #index(): void {
    this.#children = new Map();
    this.#groups = new Map();
    for (const [pid, { ppid, pgrp, session }] of this.#known) {
      add(this.#children, ppid, pid);
      add(this.#groups, session, pid);
      if (pgrp !== session) add(this.#groups, pgrp, pid);
    }
  }
}

function add(map: Map<number, number[]>, key: number, value: number): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
