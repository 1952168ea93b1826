import { describe, expect, test } from 'vitest';
import { componentName } from '../../../src/base/pure/ids.ts';
import { next, wakeAt } from '../../../src/supervision/rules/lifecycle/next.ts';
import {
  type Component,
  type ComponentEvent,
  type ComponentState,
  type Context,
  FRESH,
} from '../../../src/supervision/rules/lifecycle/state.ts';
import { DAEMONISE_WINDOW_MS } from '../../../src/supervision/rules/lifecycle/when-running.ts';
import { KILL_WAIT_MS } from '../../../src/supervision/rules/lifecycle/when-stopping.ts';
import { exitCode, killedBy, mono, restartSpec, run, spec } from '../../support/builders.ts';

const MIB = 1024 * 1024;
const NOW = mono(1_000_000);
const R1 = run('a~000000001aaaaaa');
const R2 = run('a~000000002bbbbbb');
const BUSY = { ...FRESH, restarts: [mono(NOW - 5)], failures: 3, total: 4 };

const WELL = { started: true, alive: true, ready: true, healthySince: mono(NOW - 60_000) };
const CALM = { healthySince: mono(NOW - 60_000), unhealthy: null };

const RUNNING = {
  kind: 'running',
  run: R1,
  pid: 7,
  startedAt: mono(NOW - 60_000),
  attempt: 'first',
  daemonised: false,
  health: WELL,
} as const;

const STATES = {
  stopped: { kind: 'stopped' },
  completed: { kind: 'completed' },
  waiting: { kind: 'waiting', attempt: 'restart' },
  backingOff: { kind: 'backing-off', until: mono(NOW + 500) },
  due: { kind: 'backing-off', until: NOW },
  gaveUp: { kind: 'gave-up', rule: 'limit', retryAt: mono(NOW + 500) },
  retryDue: { kind: 'gave-up', rule: 'limit', retryAt: NOW },
  gaveUpForGood: { kind: 'gave-up', rule: 'never-on', retryAt: null },
  starting: { kind: 'starting', run: R1, since: mono(NOW - 50), attempt: 'first' },
  running: RUNNING,
  young: {
    kind: 'running',
    run: R1,
    pid: 7,
    startedAt: mono(NOW - 100),
    attempt: 'first',
    daemonised: false,
    health: WELL,
  },
  daemonised: {
    kind: 'running',
    run: R1,
    pid: 7,
    startedAt: mono(NOW - 60_000),
    attempt: 'first',
    daemonised: true,
    health: WELL,
  },
  unready: { ...RUNNING, health: { ...WELL, ready: false } },
  comingUp: { ...RUNNING, health: { started: false, alive: null, ready: false, healthySince: null } },
  sick: {
    kind: 'stopping',
    run: R1,
    pid: 7,
    startedAt: mono(NOW - 60_000),
    attempt: 'first',
    stage: 'asked',
    until: mono(NOW + 9),
    goal: 'decide',
    healthySince: mono(NOW - 60_000),
    unhealthy: 'liveness tcp :80 failed 3 times: connection refused',
    ended: null,
  },
  asked: {
    kind: 'stopping',
    run: R1,
    pid: 7,
    startedAt: mono(NOW - 60_000),
    attempt: 'first',
    stage: 'asked',
    until: NOW,
    goal: 'stay-stopped',
    ...CALM,
    ended: null,
  },
  killed: {
    kind: 'stopping',
    run: R1,
    pid: 7,
    startedAt: mono(NOW - 60_000),
    attempt: 'first',
    stage: 'killed',
    until: NOW,
    goal: 'stay-stopped',
    ...CALM,
    ended: null,
  },
  unkillable: {
    kind: 'stopping',
    run: R1,
    pid: 7,
    startedAt: mono(NOW - 60_000),
    attempt: 'first',
    stage: 'unkillable',
    until: NOW,
    goal: 'stay-stopped',
    ...CALM,
    ended: null,
  },
  toRestart: {
    kind: 'stopping',
    run: R1,
    pid: 7,
    startedAt: mono(NOW - 60_000),
    attempt: 'first',
    stage: 'asked',
    until: mono(NOW + 9),
    goal: 'start-again',
    ...CALM,
    ended: null,
  },
  mainGone: {
    kind: 'stopping',
    run: R1,
    pid: 7,
    startedAt: mono(NOW - 60_000),
    attempt: 'first',
    stage: 'asked',
    until: mono(NOW + 9),
    goal: 'stay-stopped',
    ...CALM,
    ended: { cause: exitCode(0), at: NOW, uptimeMs: 60_000, healthyMs: 60_000, asked: true, unhealthy: null },
  },
  leftovers: {
    kind: 'stopping',
    run: R1,
    pid: 7,
    startedAt: mono(NOW - 60_000),
    attempt: 'first',
    stage: 'asked',
    until: mono(NOW + 9),
    goal: 'decide',
    ...CALM,
    ended: { cause: exitCode(1), at: NOW, uptimeMs: 60_000, healthyMs: 60_000, asked: false, unhealthy: null },
  },
} satisfies Record<string, ComponentState>;

const EVENTS = {
  start: { kind: 'start-requested', fresh: true },
  bringBack: { kind: 'start-requested', fresh: false },
  stop: { kind: 'stop-requested' },
  restart: { kind: 'restart-requested', byHand: true },
  restartAfterDependency: { kind: 'restart-requested', byHand: false },
  dependencies: { kind: 'dependencies-changed' },
  woke: { kind: 'woke' },
  started: { kind: 'started', run: R1, pid: 9, at: NOW },
  startedOther: { kind: 'started', run: R2, pid: 9, at: NOW },
  notStarted: { kind: 'spawn-failed', run: R1, problem: { code: 'command-not-found', message: 'no', heals: false } },
  crash: { kind: 'exited', run: R1, at: NOW, cause: exitCode(1), leftovers: [] },
  clean: { kind: 'exited', run: R1, at: NOW, cause: exitCode(0), leftovers: [] },
  crashWithLeftovers: { kind: 'exited', run: R1, at: NOW, cause: exitCode(1), leftovers: [8] },
  cleanWithLeftovers: { kind: 'exited', run: R1, at: NOW, cause: exitCode(0), leftovers: [8] },
  crashOther: { kind: 'exited', run: R2, at: NOW, cause: exitCode(1), leftovers: [] },
  treeGone: { kind: 'tree-gone', run: R1 },
  treeGoneOther: { kind: 'tree-gone', run: R2 },
  startupPassed: { kind: 'probed', run: R1, role: 'startup', pass: true, reason: 'tcp :80 passed' },
  startupFailed: { kind: 'probed', run: R1, role: 'startup', pass: false, reason: 'tcp :80 failed 30 times: refused' },
  livenessFailed: { kind: 'probed', run: R1, role: 'liveness', pass: false, reason: 'tcp :80 failed 3 times: refused' },
  livenessFailedOther: { kind: 'probed', run: R2, role: 'liveness', pass: false, reason: 'tcp :80 failed' },
  tooMuchMemory: { kind: 'over-soft-memory', run: R1, usedBytes: 412 * MIB, limitBytes: 400 * MIB, samples: 3 },
  tooMuchMemoryOther: { kind: 'over-soft-memory', run: R2, usedBytes: 2, limitBytes: 1, samples: 3 },
  readinessFailed: { kind: 'probed', run: R1, role: 'readiness', pass: false, reason: 'http :80/ failed 3 times: 503' },
  readinessPassed: { kind: 'probed', run: R1, role: 'readiness', pass: true, reason: 'http :80/ passed' },
  sigterm: { kind: 'exited', run: R1, at: NOW, cause: killedBy('SIGTERM'), leftovers: [] },
} satisfies Record<string, ComponentEvent>;

type StateName = keyof typeof STATES;
type EventName = keyof typeof EVENTS;
interface Row {
  readonly name: string;
  readonly from: StateName;
  readonly on: EventName;
  readonly unmet?: string[];
  readonly to: Partial<ComponentState> & { kind: ComponentState['kind'] };
  readonly does: string[];
  readonly fresh?: boolean;
}

function apply({ from, on, unmet = [] }: Pick<Row, 'from' | 'on' | 'unmet'>) {
  const component: Component = { state: STATES[from], counters: BUSY };
  const policy = spec('a', { restart: restartSpec({ policy: 'on-failure' }) });
  const context: Context = { now: NOW, random: 0, newRun: R2, unmet: unmet.map(componentName), policy };
  return next(component, EVENTS[on], context);
}

const ROWS: readonly Row[] = [
  {
    name: 'a passed startup makes it healthy and, without a readiness probe, ready',
    from: 'comingUp',
    on: 'startupPassed',
    to: { kind: 'running', health: { started: true, alive: null, ready: true, healthySince: null } },
    does: [],
  },
  {
    name: 'a failed startup ends the run',
    from: 'comingUp',
    on: 'startupFailed',
    to: { kind: 'stopping', goal: 'decide', unhealthy: 'startup tcp :80 failed 30 times: refused' },
    does: ['signal'],
  },
  {
    name: 'a failed liveness ends the run, and the policy decides then',
    from: 'running',
    on: 'livenessFailed',
    to: { kind: 'stopping', goal: 'decide', unhealthy: 'liveness tcp :80 failed 3 times: refused' },
    does: ['signal'],
  },
  {
    name: 'a failed liveness of an earlier run means nothing',
    from: 'running',
    on: 'livenessFailedOther',
    to: { kind: 'running' },
    does: [],
  },
  {
    name: 'an answer during a stop means nothing',
    from: 'asked',
    on: 'livenessFailed',
    to: { kind: 'stopping', goal: 'stay-stopped', unhealthy: null },
    does: [],
  },
  {
    name: 'a failed readiness takes ready away and nothing else',
    from: 'running',
    on: 'readinessFailed',
    to: { kind: 'running', health: { ...WELL, ready: false } },
    does: [],
  },
  {
    name: 'a passed readiness gives ready back',
    from: 'unready',
    on: 'readinessPassed',
    to: { kind: 'running', health: WELL },
    does: [],
  },
  {
    name: 'a run ended for its health is restarted as after a crash, however it took its end',
    from: 'sick',
    on: 'clean',
    to: { kind: 'backing-off' },
    does: ['end-run'],
  },
  {
    name: 'a stop by hand while an unhealthy run is ended keeps it stopped',
    from: 'sick',
    on: 'stop',
    to: { kind: 'stopping', goal: 'stay-stopped' },
    does: [],
  },
  {
    name: 'a start by hand begins a run and forgets the counters',
    from: 'stopped',
    on: 'start',
    to: { kind: 'starting', run: R2, attempt: 'first' },
    does: ['spawn'],
    fresh: true,
  },
  {
    name: 'a start with an unmet dependency waits for it',
    from: 'stopped',
    on: 'start',
    unmet: ['db'],
    to: { kind: 'waiting', attempt: 'first' },
    does: [],
    fresh: true,
  },
  {
    name: 'the daemon brings back what was wanted and keeps the counters',
    from: 'stopped',
    on: 'bringBack',
    to: { kind: 'starting' },
    does: ['spawn'],
  },
  {
    name: 'what has completed is not run again by the daemon',
    from: 'completed',
    on: 'bringBack',
    to: { kind: 'completed' },
    does: [],
  },
  {
    name: 'what has completed is run again by hand',
    from: 'completed',
    on: 'start',
    to: { kind: 'starting' },
    does: ['spawn'],
    fresh: true,
  },
  {
    name: 'what gave up stays so when the daemon comes back',
    from: 'gaveUp',
    on: 'bringBack',
    to: { kind: 'gave-up' },
    does: [],
  },
  {
    name: 'what gave up is started afresh by hand',
    from: 'gaveUpForGood',
    on: 'start',
    to: { kind: 'starting', attempt: 'first' },
    does: ['spawn'],
    fresh: true,
  },
  {
    name: 'the quiet retry begins when it is due',
    from: 'retryDue',
    on: 'woke',
    to: { kind: 'starting', attempt: 'quiet' },
    does: ['spawn'],
  },
  { name: 'the quiet retry does not begin early', from: 'gaveUp', on: 'woke', to: { kind: 'gave-up' }, does: [] },
  {
    name: 'what gave up for good is never woken',
    from: 'gaveUpForGood',
    on: 'woke',
    to: { kind: 'gave-up' },
    does: [],
  },
  { name: 'stopping what gave up leaves it stopped', from: 'gaveUp', on: 'stop', to: { kind: 'stopped' }, does: [] },
  {
    name: 'restarting what is stopped starts it',
    from: 'stopped',
    on: 'restart',
    to: { kind: 'starting' },
    does: ['spawn'],
    fresh: true,
  },
  {
    name: 'a recovered dependency starts nothing that is stopped',
    from: 'stopped',
    on: 'restartAfterDependency',
    to: { kind: 'stopped' },
    does: [],
  },
  {
    name: 'a report about a run of the past changes nothing',
    from: 'stopped',
    on: 'crash',
    to: { kind: 'stopped' },
    does: [],
  },
  {
    name: 'waiting ends when the dependencies are met',
    from: 'waiting',
    on: 'dependencies',
    to: { kind: 'starting', attempt: 'restart' },
    does: ['spawn'],
  },
  {
    name: 'waiting goes on while one is missing',
    from: 'waiting',
    on: 'dependencies',
    unmet: ['db'],
    to: { kind: 'waiting' },
    does: [],
  },
  { name: 'waiting ends with a stop', from: 'waiting', on: 'stop', to: { kind: 'stopped' }, does: [] },
  {
    name: 'backoff ends when it is due',
    from: 'due',
    on: 'woke',
    to: { kind: 'starting', attempt: 'restart' },
    does: ['spawn'],
  },
  { name: 'backoff does not end early', from: 'backingOff', on: 'woke', to: { kind: 'backing-off' }, does: [] },
  {
    name: 'after backoff a missing dependency is waited for',
    from: 'due',
    on: 'woke',
    unmet: ['db'],
    to: { kind: 'waiting', attempt: 'restart' },
    does: [],
  },
  {
    name: 'a start by hand does not wait out the backoff',
    from: 'backingOff',
    on: 'start',
    to: { kind: 'starting', attempt: 'first' },
    does: ['spawn'],
    fresh: true,
  },
  { name: 'a stop during backoff stops', from: 'backingOff', on: 'stop', to: { kind: 'stopped' }, does: [] },
  {
    name: 'a returning daemon lets the backoff go on',
    from: 'backingOff',
    on: 'bringBack',
    to: { kind: 'backing-off' },
    does: [],
  },
  {
    name: 'a started run is running',
    from: 'starting',
    on: 'started',
    to: { kind: 'running', pid: 9, run: R1 },
    does: [],
  },
  {
    name: 'a report of another run is ignored',
    from: 'starting',
    on: 'startedOther',
    to: { kind: 'starting', run: R1 },
    does: [],
  },
  {
    name: 'a start that failed is decided upon',
    from: 'starting',
    on: 'notStarted',
    to: { kind: 'backing-off' },
    does: ['end-run'],
  },
  {
    name: 'a death before "started" arrived is a death all the same',
    from: 'starting',
    on: 'crash',
    to: { kind: 'backing-off' },
    does: ['end-run'],
  },
  {
    name: 'stopping what is only starting sends the signal too',
    from: 'starting',
    on: 'stop',
    to: { kind: 'stopping', goal: 'stay-stopped', pid: null },
    does: ['signal'],
  },
  {
    name: 'a crash waits out its delay',
    from: 'running',
    on: 'crash',
    to: { kind: 'backing-off', until: mono(NOW + 8_000) },
    does: ['end-run'],
  },
  {
    name: 'a clean end under on-failure completes',
    from: 'running',
    on: 'clean',
    to: { kind: 'completed' },
    does: ['end-run'],
  },
  {
    name: 'the death of an earlier run is ignored',
    from: 'running',
    on: 'crashOther',
    to: { kind: 'running', run: R1 },
    does: [],
  },
  {
    name: 'too much memory for too long ends it, asked first',
    from: 'running',
    on: 'tooMuchMemory',
    to: { kind: 'stopping', stage: 'asked', goal: 'decide', until: mono(NOW + 10_000) },
    does: ['signal'],
  },
  {
    name: 'too much memory of what went into the background ends its tree',
    from: 'daemonised',
    on: 'tooMuchMemory',
    to: { kind: 'stopping', goal: 'decide', unhealthy: 'soft_memory: 412 MiB, more than 400 MiB in 3 samples' },
    does: ['signal'],
  },
  {
    name: 'how much it uses while it is still starting is its own business',
    from: 'comingUp',
    on: 'tooMuchMemory',
    to: { kind: 'running', run: R1 },
    does: [],
  },
  {
    name: 'too much memory of an earlier run is ignored',
    from: 'running',
    on: 'tooMuchMemoryOther',
    to: { kind: 'running', run: R1 },
    does: [],
  },
  {
    name: 'too much memory of what is being stopped changes nothing',
    from: 'asked',
    on: 'tooMuchMemory',
    to: { kind: 'stopping', goal: 'stay-stopped', unhealthy: null },
    does: [],
  },
  { name: 'starting what runs changes nothing', from: 'running', on: 'start', to: { kind: 'running' }, does: [] },
  {
    name: 'what a dead run left behind is ended before anything else',
    from: 'running',
    on: 'crashWithLeftovers',
    to: { kind: 'stopping', goal: 'decide' },
    does: ['signal'],
  },
  {
    name: 'exit 0 at once with processes left has put itself in the background',
    from: 'young',
    on: 'cleanWithLeftovers',
    to: { kind: 'running', daemonised: true, health: WELL },
    does: [],
  },
  {
    name: 'exit 0 after a while with processes left is an end with leftovers',
    from: 'running',
    on: 'cleanWithLeftovers',
    to: { kind: 'stopping', goal: 'decide' },
    does: ['signal'],
  },
  {
    name: 'a daemonised run ends when its tree is gone',
    from: 'daemonised',
    on: 'treeGone',
    to: { kind: 'backing-off' },
    does: ['end-run'],
  },
  {
    name: 'a daemonised run can be stopped',
    from: 'daemonised',
    on: 'stop',
    to: { kind: 'stopping', goal: 'stay-stopped' },
    does: ['signal'],
  },
  {
    name: 'a stop sends the signal and waits',
    from: 'running',
    on: 'stop',
    to: { kind: 'stopping', stage: 'asked', until: mono(NOW + 10_000) },
    does: ['signal'],
  },
  {
    name: 'a restart stops first',
    from: 'running',
    on: 'restart',
    to: { kind: 'stopping', goal: 'start-again' },
    does: ['signal'],
    fresh: true,
  },
  {
    name: 'a dependency that recovered restarts what runs and keeps its counters',
    from: 'running',
    on: 'restartAfterDependency',
    to: { kind: 'stopping', goal: 'start-again' },
    does: ['signal'],
  },
  {
    name: 'after the grace comes SIGKILL for the tree',
    from: 'asked',
    on: 'woke',
    to: { kind: 'stopping', stage: 'killed', until: mono(NOW + KILL_WAIT_MS) },
    does: ['kill-tree'],
  },
  {
    name: 'what survives SIGKILL is unkillable, and it is tried again',
    from: 'killed',
    on: 'woke',
    to: { kind: 'stopping', stage: 'unkillable' },
    does: ['kill-tree'],
  },
  {
    name: 'the unkillable is tried again and again, and nothing is started beside it',
    from: 'unkillable',
    on: 'woke',
    to: { kind: 'stopping', stage: 'unkillable' },
    does: ['kill-tree'],
  },
  {
    name: 'the unkillable that ends at last is stopped',
    from: 'unkillable',
    on: 'crash',
    to: { kind: 'stopped' },
    does: ['end-run'],
  },
  {
    name: 'an end that was asked for is no crash',
    from: 'asked',
    on: 'crash',
    to: { kind: 'stopped' },
    does: ['end-run'],
  },
  {
    name: 'those that left the group get their signal when the main process is gone',
    from: 'asked',
    on: 'crashWithLeftovers',
    to: { kind: 'stopping' },
    does: ['signal'],
  },
  {
    name: 'after SIGKILL they get SIGKILL',
    from: 'killed',
    on: 'crashWithLeftovers',
    to: { kind: 'stopping' },
    does: ['kill-tree'],
  },
  {
    name: 'a stop is done when the tree is gone',
    from: 'mainGone',
    on: 'treeGone',
    to: { kind: 'stopped' },
    does: ['end-run'],
  },
  {
    name: 'a tree without a known main end is not gone yet',
    from: 'asked',
    on: 'treeGone',
    to: { kind: 'stopping' },
    does: [],
  },
  {
    name: 'a restart begins the new run when the old one is gone',
    from: 'toRestart',
    on: 'clean',
    to: { kind: 'starting', run: R2, attempt: 'again' },
    does: ['end-run', 'spawn'],
  },
  {
    name: 'a start during a stop starts again afterwards',
    from: 'asked',
    on: 'start',
    to: { kind: 'stopping', goal: 'start-again' },
    does: [],
    fresh: true,
  },
  {
    name: 'a daemon that comes back to its own unfinished shutdown starts again what is wanted',
    from: 'asked',
    on: 'bringBack',
    to: { kind: 'stopping', goal: 'start-again' },
    does: [],
  },
  {
    name: 'a stop during a restart stays stopped',
    from: 'toRestart',
    on: 'stop',
    to: { kind: 'stopping', goal: 'stay-stopped' },
    does: [],
  },
  {
    name: 'a crash with leftovers is decided upon when they are gone',
    from: 'leftovers',
    on: 'treeGone',
    to: { kind: 'backing-off' },
    does: ['end-run'],
  },
  {
    name: 'a stop while leftovers are ended stays stopped',
    from: 'leftovers',
    on: 'stop',
    to: { kind: 'stopping', goal: 'stay-stopped' },
    does: [],
  },
  {
    name: 'another run’s tree is another run’s business',
    from: 'leftovers',
    on: 'treeGoneOther',
    to: { kind: 'stopping' },
    does: [],
  },
  {
    name: 'a start cancelled by a stop ends stopped',
    from: 'asked',
    on: 'notStarted',
    to: { kind: 'stopped' },
    does: ['end-run'],
  },
  {
    name: 'a pid that becomes known while stopping is remembered',
    from: 'asked',
    on: 'started',
    to: { kind: 'stopping', pid: 9 },
    does: [],
  },
];

describe('next', () => {
  test.each(ROWS)('$name', ({ to, does, fresh, ...row }) => {
    const { component, effects } = apply(row);
    expect(component.state).toMatchObject(to);
    expect(effects.map(({ kind }) => kind).filter((kind) => kind !== 'tell')).toEqual(does);
    if (fresh) expect(component.counters.restarts).toEqual([]);
    else if (does.length === 0) expect(component.counters.failures).toBe(BUSY.failures);
  });

  test('every state answers every event without throwing, and ends no run twice', () => {
    for (const from of Object.keys(STATES) as StateName[]) {
      for (const on of Object.keys(EVENTS) as EventName[]) {
        const { effects } = apply({ from, on });
        expect(effects.filter(({ kind }) => kind === 'end-run').length, `${from} × ${on}`).toBeLessThan(2);
      }
    }
  });

  test('a crash stays a crash when a stop comes while its leftovers are ended', () => {
    const context: Context = { now: NOW, random: 0, newRun: R2, unmet: [], policy: spec('a') };
    const stopped = next({ state: STATES.leftovers, counters: FRESH }, EVENTS.stop, context);
    const { component, effects } = next(stopped.component, EVENTS.treeGone, context);
    expect(component.state.kind).toBe('stopped');
    expect(effects.find(({ kind }) => kind === 'end-run')).toMatchObject({ end: { crash: true, cause: exitCode(1) } });
  });

  test('a start that succeeds while it is already being stopped still breaks the row of failed starts', () => {
    const context: Context = { now: NOW, random: 0, newRun: R2, unmet: [], policy: spec('a') };
    const begun = next({ state: STATES.toRestart, counters: { ...FRESH, spawnErrors: 2 } }, EVENTS.started, context);
    expect(begun.component.counters.spawnErrors).toBe(0);
  });

  test('the signal that ends an unhealthy run is not held against it', () => {
    const policy = spec('a', { restart: restartSpec({ neverOn: ['SIGTERM'] }) });
    const context: Context = { now: NOW, random: 0, newRun: R2, unmet: [], policy };
    const { component, effects } = next({ state: STATES.sick, counters: FRESH }, EVENTS.sigterm, context);
    expect(component.state.kind).toBe('backing-off');
    expect(effects.find(({ kind }) => kind === 'end-run')).toMatchObject({
      end: { crash: true, unhealthy: STATES.sick.unhealthy },
    });
  });

  describe('too much memory', () => {
    const contextOf = (policy: Context['policy']): Context => ({ now: NOW, random: 0, newRun: R2, unmet: [], policy });
    const told = { reason: 'soft_memory: 412 MiB, more than 400 MiB in 3 samples', used_bytes: 412 * MIB };
    const SOFT = 'soft_memory: 412 MiB, more than 400 MiB in 3 samples';

    test('is told, asked to end, and then decided upon like a crash, out of the one budget', () => {
      const context = contextOf(spec('a', { restart: restartSpec({ neverOn: ['SIGTERM'] }) }));
      const asked = next({ state: STATES.running, counters: BUSY }, EVENTS.tooMuchMemory, context);
      expect(asked.component).toMatchObject({
        counters: BUSY,
        state: { kind: 'stopping', stage: 'asked', goal: 'decide' },
      });
      expect(asked.effects).toEqual([
        {
          kind: 'tell',
          type: 'component.over-soft-memory',
          run: R1,
          data: { ...told, limit_bytes: 400 * MIB, restarts: true },
        },
        { kind: 'signal', run: R1, signal: 'SIGTERM' },
      ]);
      const { component, effects } = next(asked.component, EVENTS.sigterm, context);
      expect(component).toMatchObject({
        state: { kind: 'backing-off', until: mono(NOW + 8_000) },
        counters: { restarts: [NOW - 5, NOW], failures: 4 },
      });
      expect(effects.find(({ kind }) => kind === 'end-run')).toMatchObject({
        end: { crash: true, rule: 'backoff', unhealthy: SOFT },
      });
    });

    test('finds the budget spent: it gives up like after any other failure', () => {
      const restarts = Array.from({ length: 10 }, (_, n) => mono(NOW - n));
      const context = contextOf(spec('a'));
      const asked = next({ state: STATES.running, counters: { ...BUSY, restarts } }, EVENTS.tooMuchMemory, context);
      const { component } = next(asked.component, EVENTS.clean, context);
      expect(component).toMatchObject({ state: { kind: 'gave-up', rule: 'limit' }, counters: { restarts } });
    });

    test('is only told where the policy would never start it again', () => {
      const context = contextOf(spec('a', { restart: restartSpec({ policy: 'never' }) }));
      const before = { state: STATES.running, counters: BUSY };
      const { component, effects } = next(before, EVENTS.tooMuchMemory, context);
      expect(component).toBe(before);
      expect(effects).toMatchObject([{ kind: 'tell', type: 'component.over-soft-memory', data: { restarts: false } }]);
    });
  });

  describe('what is only observed', () => {
    const target = { kind: 'pid-file', path: '/run/x.pid' } as const;
    const surroundings = { cwd: '/', env: {}, envFiles: [] };
    const policy = spec('a', { driver: { kind: 'external', target, recover: null, ...surroundings } });
    const context: Context = { now: NOW, random: 0, newRun: R2, unmet: [], policy };

    test('is not ended when its liveness fails, only shown as unhealthy', () => {
      const { component, effects } = next({ state: STATES.running, counters: FRESH }, EVENTS.livenessFailed, context);
      expect(component.state).toMatchObject({ kind: 'running', health: { alive: false, healthySince: null } });
      expect(effects.map(({ kind }) => kind)).toEqual(['tell']);
    });

    test('is watched on after its end, which is a crash but spends no budget and counts no restart', () => {
      const gone = next({ state: STATES.running, counters: FRESH }, EVENTS.crash, context);
      expect(gone.component).toMatchObject({ state: { kind: 'starting', run: R2 }, counters: FRESH });
      const starting = gone.effects.find((effect) => effect.kind === 'tell' && effect.type === 'component.starting');
      expect(starting).toMatchObject({ data: { attempt: 'again' } }); // nobody restarted it
    });
  });

  describe('a restart without a wait', () => {
    const { restart } = spec('a');
    const backoff = { ...restart.backoff, initialMs: 0, maxMs: 0 };
    const policy = spec('a', { restart: { ...restart, policy: 'always', backoff } });
    const context: Context = { now: NOW, random: 0, newRun: R2, unmet: [], policy };
    const running = { state: STATES.running, counters: FRESH };

    test('is one step: the end, its decision and the next run are written together', () => {
      const { component, effects } = next(running, EVENTS.crash, context);
      expect(component).toMatchObject({
        state: { kind: 'starting', run: R2, attempt: 'restart' },
        counters: { total: 1 },
      });
      expect(effects.map((each) => (each.kind === 'tell' ? each.type : each.kind))).toEqual([
        'component.exited',
        'end-run',
        'component.starting',
        'spawn',
      ]);
    });

    test('waits for its dependencies in the same step', () => {
      const { component, effects } = next(running, EVENTS.crash, { ...context, unmet: [componentName('db')] });
      expect(component.state).toEqual({ kind: 'waiting', attempt: 'restart' });
      expect(effects.some(({ kind }) => kind === 'spawn')).toBe(false);
    });

    test('of what never began has a turn of its own, in which a stop comes first', () => {
      const problem = { code: 'cancelled', message: 'the daemon died before this run began', heals: true } as const;
      const { run } = STATES.starting;
      const failed = next({ state: STATES.starting, counters: FRESH }, { kind: 'spawn-failed', run, problem }, context);
      expect(failed.component.state).toEqual({ kind: 'backing-off', until: NOW });
      expect(next(failed.component, { kind: 'stop-requested' }, context).component.state).toEqual({ kind: 'stopped' });
    });
  });

  test('a probe that is taken out of the configuration no longer stands in the way', () => {
    const context: Context = { now: NOW, random: 0, newRun: R2, unmet: [], policy: spec('a') };
    const { component } = next({ state: STATES.comingUp, counters: FRESH }, { kind: 'probes-changed' }, context);
    expect(component.state).toMatchObject({ health: { started: true, alive: true, ready: true, healthySince: NOW } });
  });

  test('only states that wait for a time name one', () => {
    expect(wakeAt(STATES.backingOff)).toBe(STATES.backingOff.until);
    expect(wakeAt(STATES.asked)).toBe(STATES.asked.until);
    expect(wakeAt(STATES.gaveUpForGood)).toBeNull();
    expect(wakeAt(STATES.running)).toBeNull();
    expect(wakeAt(STATES.waiting)).toBeNull();
  });

  test('the daemonise window is not longer than the default min_uptime', () => {
    expect(DAEMONISE_WINDOW_MS).toBeLessThanOrEqual(10_000);
  });
});
