import { describe, expect, test } from 'vitest';
import { healthOf, next, wakeAt } from '../../../../src/docker/healing/rules/next.ts';
import {
  type HealEffect,
  type HealingEvent,
  type HealingObservation,
  type HealingState,
  type HealPolicy,
  NEW_HEALING_STATE,
} from '../../../../src/docker/healing/rules/state.ts';
import { exitCode, mono, restartSpec } from '../../../support/builders.ts';

const POLICY: HealPolicy = { restart: restartSpec({ limit: { max: 3 } }), minUptimeMs: 0, graceMs: 10_000 };

const HEALTHY: HealingObservation = {
  id: 'c1',
  startedAt: 'T1',
  phase: 'running',
  health: { status: 'healthy', reason: '' },
  cause: null,
  uptimeMs: 60_000,
  crashesBelongTo: null,
  healthBelongsTo: null,
};
const UNHEALTHY: HealingObservation = {
  ...HEALTHY,
  health: { status: 'unhealthy', reason: 'health check failed 3 times: exit 1' },
};
const PAUSED: HealingObservation = {
  ...HEALTHY,
  phase: 'paused',
  health: { status: 'unknown', reason: 'it is paused' },
};
const DEAD: HealingObservation = { ...HEALTHY, phase: 'ended', cause: exitCode(7) };

const seen = (observation: HealingObservation, engineWasAway = false): HealingEvent => ({
  kind: 'seen',
  observation,
  engineWasAway,
});
const done = (observation: HealingObservation | null): HealingEvent => ({
  kind: 'tried',
  trial: { kind: 'done' },
  observation,
});
const failed = (kind: 'refused' | 'not-its-fault', observation: HealingObservation | null = null): HealingEvent => ({
  kind: 'tried',
  trial: { kind, why: 'port is already allocated' },
  observation,
});
const WOKE: HealingEvent = { kind: 'woke' };
const AWAY: HealingEvent = { kind: 'away', why: 'nobody listens' };
const BACK: HealingEvent = { kind: 'away', why: null };

/** Plays events in order; `woke` comes when it is due, and a number is time that passes. */
function play(
  events: readonly (HealingEvent | number)[],
  policy = POLICY,
  from: HealingState = NEW_HEALING_STATE,
  start = 1_000_000,
) {
  let healing = from;
  let now = start;
  const effects: HealEffect[] = [];
  for (const event of events) {
    if (typeof event === 'number') {
      now += event;
      continue;
    }
    if (event.kind === 'woke') now = Math.max(now, wakeAt(healing) ?? now);
    const step = next(healing, event, { now: mono(now), random: 0, policy });
    healing = step.healing;
    effects.push(...step.effects);
  }
  return {
    healing,
    effects,
    now,
    told: effects.flatMap((effect) => (effect.kind === 'tell' ? [effect.what] : [])),
  };
}

const restarts = (effects: readonly HealEffect[]) => effects.filter(({ kind }) => kind === 'restart').length;
const again = (observation: HealingObservation, startedAt: string): HealingObservation => ({
  ...observation,
  startedAt,
});

describe('a container that is looked after', () => {
  test('is restarted when it is unhealthy, and watched again', () => {
    const { healing, effects, told } = play([seen(HEALTHY), seen(UNHEALTHY), WOKE, done(again(HEALTHY, 'T2'))]);
    expect(effects).toContainEqual({ kind: 'restart', id: 'c1', startedAt: 'T1' });
    expect(told).toEqual(['failed', 'restarted']);
    expect(healing).toMatchObject({ state: { kind: 'watching' }, counters: { total: 1, failures: 1 }, reason: '' });
  });

  test('tells of each failure how it was judged: the exit, the rule, and what was counted', () => {
    const { effects } = play([seen(DEAD), WOKE, done(again(UNHEALTHY, 'T2')), WOKE, failed('refused')]);
    const failures = effects.flatMap((effect) =>
      effect.kind === 'tell' && 'failure' in effect ? [effect.failure] : [],
    );
    const EXIT = { code: null, signal: null, unhealthy: null, spawn_error: null };
    expect(failures).toMatchObject([
      {
        ...{ why: 'exit code 7', exit: { ...EXIT, code: 7 }, hasEnded: true, startedAt: 'T1', uptimeMs: 60_000 },
        ...{
          rule: 'backoff',
          counters: { failures: 1 },
          decision: expect.stringMatching(/^restart in .* \(1 of 3 in/),
        },
      },
      {
        ...{ exit: { ...EXIT, unhealthy: 'health check failed 3 times: exit 1' }, hasEnded: false, startedAt: 'T2' },
        ...{ rule: 'backoff', counters: { failures: 2 } },
      },
      {
        ...{ exit: { ...EXIT, spawn_error: 'port is already allocated' }, hasEnded: false, uptimeMs: 0 },
        ...{ rule: 'spawn-error', counters: { spawnErrors: 1 } },
      },
    ]);
  });

  test('is restarted when it dies, from the same budget', () => {
    const events = [seen(DEAD), WOKE, done(again(UNHEALTHY, 'T2')), WOKE, done(again(DEAD, 'T3')), WOKE];
    const { healing, told } = play([...events, done(again(UNHEALTHY, 'T4'))]);
    expect(healing.state).toMatchObject({ kind: 'gave-up' });
    expect(healing.reason).toMatch(/^health check failed 3 times: exit 1: gave up: 3 restarts in 10 min/);
    expect(told.filter((what) => what === 'gave-up')).toHaveLength(1);
  });

  test('waits twice as long each time', () => {
    const first = play([seen(DEAD)]);
    const second = play([WOKE, done(again(DEAD, 'T2'))], POLICY, first.healing, first.now);
    expect(wakeAt(first.healing)! - first.now).toBe(1_000);
    expect(wakeAt(second.healing)! - second.now).toBe(2_000);
  });

  test('is not decided upon twice: what is told about the sentenced one changes nothing', () => {
    const sentenced = play([seen(UNHEALTHY), seen(UNHEALTHY), seen(DEAD)]);
    expect(sentenced.healing.counters.failures).toBe(1);
    const stopping = play([seen(UNHEALTHY), WOKE, seen(DEAD), seen(UNHEALTHY), done(again(HEALTHY, 'T2')), seen(DEAD)]);
    expect(stopping.healing).toMatchObject({ state: { kind: 'watching' }, counters: { failures: 1 } });
    expect(restarts(stopping.effects)).toBe(1);
  });

  test.each([
    ['recovers by itself', HEALTHY],
    ['is paused', PAUSED],
    ['was started by somebody else', again(HEALTHY, 'T2')],
  ])('is left alone when it %s before its restart, and nothing was spent', (_, observation) => {
    const { healing, effects } = play([seen(UNHEALTHY), seen(observation)]);
    expect(healing).toMatchObject({ state: { kind: 'watching' }, counters: { failures: 0, restarts: [] } });
    expect(restarts(effects)).toBe(0);
  });

  test('is left alone when it turns out at the last moment that it is another one', () => {
    const { healing } = play([seen(UNHEALTHY), WOKE, { kind: 'called-off', observation: again(HEALTHY, 'T2') }]);
    expect(healing).toMatchObject({ state: { kind: 'watching' }, counters: { failures: 0, total: 0 } });
  });

  test('is left alone while it is paused, whatever its health check said last', () => {
    expect(play([seen(HEALTHY), seen(PAUSED), WOKE]).effects).toEqual([]);
  });

  test.each([
    ['its crashes', { ...DEAD, crashesBelongTo: 'its restart policy is always' }, /not restarted by us: its restart/],
    ['its health', { ...UNHEALTHY, healthBelongsTo: 'Swarm replaces it' }, /health check failed/],
  ])('is left alone when %s belong to somebody else', (_, observation, reason) => {
    const { healing, effects } = play([seen(observation), WOKE]);
    expect(effects).toEqual([]);
    expect(healthOf(healing)).toMatchObject({ status: 'unhealthy', reason: expect.stringMatching(reason) });
  });

  test('is restarted at once and for nothing when it ended with the Engine', () => {
    const { healing, effects, told } = play([seen(HEALTHY), AWAY, BACK, seen(DEAD, true)]);
    expect(healing).toMatchObject({ state: { kind: 'restarting' }, counters: { restarts: [], failures: 0 } });
    expect(restarts(effects)).toBe(1);
    expect(told).toEqual([]);
  });

  test('is not restarted while the Engine is away, and its turn comes afterwards', () => {
    const away = play([seen(UNHEALTHY), AWAY, WOKE, seen(DEAD), WOKE]);
    expect(away.effects.filter(({ kind }) => kind === 'restart')).toEqual([]);
    expect(healthOf(away.healing)).toEqual({ status: 'unknown', reason: 'nobody listens' });
    expect(restarts(play([BACK, WOKE], POLICY, away.healing, away.now + 5_000).effects)).toBe(1);
  });

  test('is not judged while the Engine is away, not even by what is still told', () => {
    const { healing, told } = play([seen(HEALTHY), AWAY, seen(UNHEALTHY), seen(DEAD)]);
    expect(healing.counters.failures).toBe(0);
    expect(told).toEqual([]);
    const atOnce: HealPolicy = { ...POLICY, restart: restartSpec({ backoff: { initialMs: 0 } }) };
    expect(restarts(play([seen(DEAD), AWAY, done(again(DEAD, 'T2'))], atOnce).effects)).toBe(1);
  });

  test('is tried again for as long as it takes when the Engine is to blame, and the budget is spent once', () => {
    const fault = [failed('not-its-fault'), WOKE];
    const { healing, told } = play([seen(DEAD), WOKE, ...fault, ...fault, ...fault, ...fault]);
    expect(healing).toMatchObject({ state: { kind: 'restarting' }, counters: { failures: 1 } });
    expect(healing.counters.restarts).toHaveLength(1);
    expect(told).toEqual(['failed']);
  });

  test('is given up after three tries when it cannot be started', () => {
    const { healing, told } = play([
      seen(DEAD),
      WOKE,
      failed('refused', DEAD),
      WOKE,
      failed('refused', DEAD),
      WOKE,
      failed('refused'),
    ]);
    expect(healing.state.kind).toBe('gave-up');
    expect(healing.reason).toMatch(/could not be started: port is already allocated: gave up/);
    expect(told.at(-1)).toBe('gave-up');
  });

  test('counts as restarted when the answer was lost and another one runs', () => {
    const lost = [failed('not-its-fault'), WOKE, failed('not-its-fault', again(HEALTHY, 'T2'))];
    const { healing, told } = play([seen(DEAD), WOKE, ...lost]);
    expect(healing).toMatchObject({ state: { kind: 'watching' }, counters: { total: 1, spawnErrors: 0 } });
    expect(told).toContain('restarted');
  });

  test('is tried once more, quietly, after it gave up', () => {
    const once: HealPolicy = { ...POLICY, restart: restartSpec({ limit: { max: 1 } }) };
    const gaveUp = [seen(DEAD), WOKE, done(again(DEAD, 'T2'))];
    const { healing, told } = play([...gaveUp, WOKE, done(again(UNHEALTHY, 'T3'))], once);
    expect(healing.state.kind).toBe('gave-up');
    expect(told).toEqual(['failed', 'restarted', 'failed', 'gave-up', 'restarted', 'failed']);
  });

  test('begins with a clean slate when somebody starts it after it gave up', () => {
    const once: HealPolicy = { ...POLICY, restart: restartSpec({ limit: { max: 1 } }) };
    const gaveUp = [seen(DEAD), WOKE, done(again(DEAD, 'T2'))];
    const { healing } = play([...gaveUp, seen(again(HEALTHY, 'T3'))], once);
    expect(healing).toMatchObject({ state: { kind: 'watching' }, counters: { failures: 0, restarts: [], total: 1 } });
  });

  test('is forgiven after it was healthy for long without a break, and only then', () => {
    const failedOnce = [seen(DEAD), WOKE, done(again(HEALTHY, 'T2'))];
    const [sick, well] = [seen(again(UNHEALTHY, 'T2')), seen(again(HEALTHY, 'T2'))];
    const ill = seen(again({ ...HEALTHY, health: { status: 'starting', reason: '' } }, 'T2'));
    const failures = (...events: (HealingEvent | number)[]) =>
      play([...failedOnce, ...events]).healing.counters.failures;
    expect(failures(600_000, sick)).toBe(1);
    expect(failures(300_000, well, 300_000, sick)).toBe(1);
    expect(failures(599_999, sick)).toBe(2);
    expect(failures(300_000, ill, well, 300_000, sick)).toBe(2);
    // The health of one incarnation is no merit of the next.
    expect(failures(600_000, seen(again(HEALTHY, 'T3')), seen(again(UNHEALTHY, 'T3')))).toBe(2);
    expect(failures(600_000, seen(again(DEAD, 'T3')))).toBe(2);
  });

  test('has ended when it ended well and its policy asks for no more', () => {
    const onFailure: HealPolicy = { ...POLICY, restart: restartSpec({ policy: 'on-failure' }) };
    const { healing, told } = play([seen({ ...DEAD, cause: exitCode(0) })], onFailure);
    expect(healing.state.kind).toBe('ended');
    expect(told).toEqual([]);
  });

  test('is gone when it is missing, once, and watched anew when another one has its name', () => {
    const gone = play([seen(HEALTHY), { kind: 'missing' }, { kind: 'missing' }]);
    expect(gone.told).toEqual(['gone']);
    expect(healthOf(gone.healing)).toEqual({ status: 'unknown', reason: 'the container was removed' });
    const { healing } = play([seen({ ...HEALTHY, id: 'c2' })], POLICY, gone.healing);
    expect(healing).toMatchObject({ state: { kind: 'watching' }, observation: { id: 'c2' } });
  });

  test('is gone also when it vanishes while it is being restarted', () => {
    const { healing } = play([seen(DEAD), WOKE, { kind: 'missing' }, failed('not-its-fault')]);
    expect(healing.state.kind).toBe('gone');
  });
});
