import { describe, expect, test } from 'vitest';
import {
  isResponsive,
  type LoopObservation,
  lastSignMs,
  loopAction,
  type OpenFreeze,
} from '../../../../src/agents/rules/loop.ts';
import type { ComponentView } from '../../../../src/supervision/rules/views.ts';

const AT = '2026-01-02T03:04:05.000Z';
const LATER = '2026-01-02T03:10:00.000Z';
const EARLIER = '2026-01-02T03:00:00.000Z';

const observation = (view: Partial<ComponentView> = {}, more: Partial<LoopObservation> = {}): LoopObservation => ({
  view: {
    ...{ name: 'work-loop', state: 'running', condition: null, desired: 'running', run_id: 'one', pid: 7, note: null },
    uptime_ms: 60_000,
    heartbeat: {
      ...{ source: 'file state.json', last_beat_at: null, silent_ms: 300_000, limit_ms: 300_000, problem: null },
    },
    ...view,
  } as ComponentView,
  ageMs: 89 * 60_000,
  observed: false,
  unsupervised: null,
  ...more,
});
const open = (more: Partial<OpenFreeze> = {}): OpenFreeze => ({
  ...{ run: 'one', at: AT, incident: 1, ticket: 1, alert: null },
  ...more,
});
const beat = (last_beat_at: string) => ({ heartbeat: { ...observation().view.heartbeat!, last_beat_at } });

describe('what people are told about the loop', () => {
  test('as long as it goes on, nothing', () => {
    expect(loopAction(null, observation())).toBeNull();
    expect(loopAction(null, observation({ state: 'backing-off' }))).toBeNull();
  });
  test('one that somebody is stopping is nobody’s business any more, although it is still called frozen', () => {
    const stopping = observation({ condition: 'frozen', state: 'stopping', desired: 'stopped' });
    expect(loopAction(open(), stopping)).toEqual({ kind: 'over', well: false });
    expect(loopAction(null, stopping)).toBeNull();
  });
  test('a ticket as soon as it is frozen, which says how old its last sign is', () => {
    expect(loopAction(null, observation({ condition: 'frozen' }))).toMatchObject({
      kind: 'file',
      title: 'work-loop is frozen: no sign of progress for 5 min',
      rootCause: expect.stringContaining('the last one was 1 h 29 min ago'),
    });
  });
  test.each([
    ['while it is being ended', observation({ state: 'stopping' }), null],
    ['while it waits for its next start', observation({ state: 'backing-off', run_id: null }), null],
    ['while the new run has not given a sign yet', observation({ run_id: 'two' }), null],
    ['while the alarm of the same run goes on', observation({ condition: 'frozen' }), null],
    ['when the new run gives a sign', observation({ run_id: 'two', ...beat(LATER) }), { kind: 'over', well: true }],
    ['when the sign is older than the freeze', observation({ run_id: 'two', ...beat(EARLIER) }), null],
    ['when the same run goes on', observation(), { kind: 'over', well: true }],
    ['when somebody stops it', observation({ state: 'stopped', desired: 'stopped' }), { kind: 'over', well: false }],
    ['when the new run is frozen, too', observation({ run_id: 'two', condition: 'frozen' }), { kind: 'alert' }],
    ['when it gave up', observation({ state: 'gave-up', run_id: null }), { kind: 'alert' }],
    ['when it cannot be killed', observation({ state: 'stopping', condition: 'unkillable' }), { kind: 'alert' }],
    ['when nothing can start it again', observation({ condition: 'frozen' }, { observed: true }), { kind: 'alert' }],
  ])('%s', (_, seen, deed) => {
    const done = loopAction(open(), seen);
    if (deed === null) expect(done).toBeNull();
    else expect(done).toMatchObject(deed);
  });
  test('an alert is told once', () => {
    expect(loopAction(open({ alert: 'told' }), observation({ state: 'gave-up' }))).toBeNull();
  });
  test.each([
    ['it runs', null, observation(), true],
    ['it is frozen', null, observation({ condition: 'frozen' }), false],
    ['it was frozen and has not been heard since', open(), observation({ run_id: 'two' }), false],
    ['it gave up', null, observation({ state: 'gave-up' }), false],
    ['it is just starting', null, observation({ state: 'starting' }), null],
    ['somebody stopped it', null, observation({ state: 'stopped', desired: 'stopped' }), null],
    ['the Engine is away', null, observation({ condition: 'engine-unreachable' }), null],
  ])('whether it answers: %s', (_, freeze, seen, expected) => {
    expect(isResponsive(freeze, seen)).toBe(expected);
  });
});

describe('the loop where nobody supervises components', () => {
  /** Nobody asked for it here, so that it counts as stopped. */
  const alone = (ageMs: number | null) =>
    observation(
      { state: 'stopped', desired: 'stopped', run_id: null, pid: null, uptime_ms: null, heartbeat: null },
      { ageMs, unsupervised: { limitMs: 300_000 } },
    );
  test('an old heartbeat file is a freeze, and nothing can start the loop again', () => {
    expect(loopAction(null, alone(5_400_000))).toMatchObject({
      kind: 'file',
      title: 'work-loop is frozen: no sign of progress for 5 min',
      rootCause: 'work-loop makes no progress: it gave no sign of it for 5 min (the last one was 1 h 30 min ago)',
    });
    expect(loopAction(open(), alone(5_400_000))).toMatchObject({
      kind: 'alert',
      text: expect.stringContaining('no daemon runs that could start it again'),
    });
    expect(isResponsive(null, alone(5_400_000))).toBe(false);
    expect(lastSignMs(null, alone(5_400_000))).toBe(5_400_000);
  });
  test('a new one is a sign of life, and the end of a freeze', () => {
    expect(loopAction(null, alone(1_000))).toBeNull();
    expect(loopAction(open(), alone(1_000))).toEqual({ kind: 'over', well: true });
    expect(isResponsive(null, alone(1_000))).toBe(true);
  });
  test('without a file nobody can say', () => {
    expect(loopAction(null, alone(null))).toBeNull();
    expect(isResponsive(null, alone(null))).toBeNull();
  });
});

describe('the last sign of the loop', () => {
  test.each([
    ['it gave one in this run', observation({ uptime_ms: 60_000 }, { ageMs: 5_000 }), null, 5_000],
    [
      'what an earlier run wrote a year ago says nothing about one that has just begun',
      observation({ uptime_ms: 3_000 }),
      null,
      null,
    ],
    [
      'one that is frozen has nothing newer to tell',
      observation({ uptime_ms: 3_000, condition: 'frozen' }),
      open(),
      89 * 60_000,
    ],
    ['there never was one', observation({}, { ageMs: null }), null, null],
  ])('%s', (_, seen, freeze, expected) => {
    expect(lastSignMs(freeze, seen)).toBe(expected);
  });
});
