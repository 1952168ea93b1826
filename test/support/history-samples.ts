/** Commits as the supervisor makes them, with only what a test is about spelled out. */

import { type ExitView, exitView } from '../../src/base/pure/exit.ts';
import { type BootId, componentName, type RunId, runId, type WallMs } from '../../src/base/pure/ids.ts';
import type { CheckStretch } from '../../src/checks/rules/view.ts';
import type { ComponentRecord, NewCrash, NewEvent, RunBegun, RunEnded } from '../../src/supervision/ports/store.ts';
import type { ProbeStretch } from '../../src/supervision/rules/health/stretch.ts';
import { type Component, INITIAL } from '../../src/supervision/rules/lifecycle/state.ts';
import type { SampleStretch } from '../../src/supervision/rules/usage/stretch.ts';

export const NOON = Date.UTC(2026, 0, 2, 12) as WallMs;
export const wall = (ms: number): WallMs => (NOON + ms) as WallMs;
export const exited = (code: number): ExitView => exitView({ kind: 'code', code, ambiguous: false });

/** The nth run of a component: the same arguments give the same id. */
export const runOf = (component: string, n = 1): RunId => runId(componentName(component), wall(n), n / 2 ** 24);

export function recordOf(name: string, over: Partial<ComponentRecord> = {}): ComponentRecord {
  return {
    name: componentName(name),
    desired: 'running',
    bootId: 'boot-1' as BootId,
    component: INITIAL,
    specHash: 'hash',
    lastRestart: null,
    lastExit: null,
    startedAt: null,
    ...over,
  };
}

export function runningOf(name: string, pid: number | null): ComponentRecord {
  const state = { kind: 'running', run: runOf(name), pid, startedAt: 5, attempt: 'first', daemonised: false } as const;
  const counters = { restarts: [7.5], failures: 1, spawnErrors: 0, total: 3 };
  return recordOf(name, { component: { state, counters } as unknown as Component, startedAt: NOON });
}

export const eventOf = (name: string, type: string, over: Partial<NewEvent> = {}): NewEvent => ({
  at: NOON,
  subject: { kind: 'component', name },
  type,
  run: null,
  data: {},
  ...over,
});

export const begunOf = (name: string, n = 1, over: Partial<RunBegun> = {}): RunBegun => ({
  run: runOf(name, n),
  component: componentName(name),
  at: wall(n * 1_000),
  specHash: 'hash',
  ingredients: {},
  logOffset: null,
  ...over,
});

export const endedOf = (name: string, n = 1, over: Partial<RunEnded> = {}): RunEnded => ({
  run: runOf(name, n),
  component: componentName(name),
  at: wall(n * 1_000 + 500),
  uptimeMs: 500,
  exit: exited(1),
  planned: false,
  good: false,
  decision: 'restart in 1 s (1 of 10 in 10 min)',
  rule: 'backoff',
  ...over,
});

export const crashOf = (name: string, n = 1, over: Partial<NewCrash> = {}): NewCrash => ({
  subject: { kind: 'component', name },
  run: runOf(name, n),
  at: wall(n * 1_000 + 500),
  uptimeMs: 500,
  exit: exited(1),
  decision: 'restart in 1 s (1 of 10 in 10 min)',
  rule: 'backoff',
  counters: { restarts: [], failures: 1, spawnErrors: 2, total: 3 },
  restartsInWindow: 4,
  logTail: ['first line', 'last line'],
  dependencies: [{ name: 'db', condition: 'ready', state: 'running', ready: true }],
  changedSinceGood: ['env LOG_LEVEL'],
  errorType: null,
  errorMessage: null,
  rootCause: null,
  probes: [],
  ...over,
});

/** A stretch of the nth run that began `n` seconds after noon. */
export const stretchOf = (name: string, n = 1, over: Partial<ProbeStretch> = {}): ProbeStretch => ({
  component: componentName(name),
  run: runOf(name, n),
  role: 'liveness',
  question: 'http :8080/healthz',
  outcome: 'pass',
  message: 'HTTP 200',
  firstAt: wall(n * 1_000),
  lastAt: wall(n * 1_000 + 400),
  count: 5,
  lastMs: 3,
  maxMs: 9,
  ...over,
});

/** A minute of the nth run that began `n` seconds after noon. */
export const sampledOf = (name: string, n = 1, over: Partial<SampleStretch> = {}): SampleStretch => ({
  component: componentName(name),
  run: runOf(name, n),
  firstAt: wall(n * 1_000),
  lastAt: wall(n * 1_000 + 45_000),
  count: 4,
  cpuPercent: 0.25,
  memoryBytes: 40_000_000,
  memoryMaxBytes: 50_000_000,
  fds: 23,
  threads: 11,
  processes: 1,
  ...over,
});

/** Five results of a check that began `n` seconds after noon. */
export const checkedOf = (check: string, n = 1, over: Partial<CheckStretch> = {}): CheckStretch => ({
  check,
  status: 'ok',
  message: 'container running',
  firstAt: wall(n * 1_000),
  lastAt: wall(n * 1_000 + 400),
  count: 5,
  lastMs: 3,
  maxMs: 9,
  ...over,
});
