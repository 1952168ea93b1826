import { describe, expect, test } from 'vitest';
import type { EventView } from '../../../src/supervision/rules/views.ts';
import {
  type EndedEpisode,
  type Episode,
  MAX_PHASES,
  nextTurn,
  settled,
} from '../../../src/telemetry/traces/episode.ts';

const SETTLE_MS = 10_000;

type Told = readonly [ms: number, type: string, data?: EventView['data'], run?: string];

/** Folds events of `api`, at milliseconds from a start; gives what ended, and what is open then. */
function fold(events: readonly Told[], died: Readonly<Record<string, number>> = {}) {
  let episode: Episode | null = null;
  const ended: EndedEpisode[] = [];
  for (const [index, [ms, type, data = {}, run = 'r1']] of events.entries()) {
    const event: EventView = {
      ...{ seq: index + 1, at: new Date(ms).toISOString(), type: `component.${type}`, run_id: run, data },
      subject: { kind: 'component', name: 'api' },
    };
    const turn = nextTurn(episode, event, { endedAt: (of) => died[of] ?? null, settleMs: SETTLE_MS });
    if (turn.ended) ended.push(turn.ended);
    episode = turn.episode;
  }
  return { ended, open: episode as Episode | null };
}

const EXIT = {
  exit: 'exit code 7',
  code: 7,
  signal: null,
  uptime_ms: 50,
  crash: true,
  rule: 'backoff',
  decision: 'restart',
};
const crash = (ms: number, run: string): readonly Told[] => [
  [ms, 'exited', EXIT, run],
  [ms, 'backing-off', { in_ms: 1_000 }, run],
];
const restart = (ms: number, run: string, attempt = 'restart'): readonly Told[] => [
  [ms, 'starting', { attempt }, run],
  [ms + 5, 'started', { pid: 42 }, run],
];
const spans = ({ phases }: Episode) => phases.map(({ kind, from, to }) => `${kind} ${from}-${to}`);

test('a crash, the wait, the start and the time until it is ready are one episode', () => {
  const { open } = fold([...crash(100, 'r1'), ...restart(1_100, 'r2'), [1_305, 'ready', {}, 'r2']], { r1: 98 });
  expect(open).toMatchObject({ component: 'api', from: 98, cause: 'exit code 7', restarts: 1 });
  expect(spans(open!)).toEqual(['exit 98-100', 'backoff 100-1100', 'start 1100-1105', 'ready 1105-1305']);
  expect(open!.phases[0]!.facts).toMatchObject({ 'run.id': 'r1', 'exit.code': 7, 'decision.rule': 'backoff' });
  expect(settled(open!)).toMatchObject({ outcome: 'recovered', to: 1_305 });
});

test('a component that dies again right after it was ready stays in its episode, until it is given up', () => {
  const { ended, open } = fold([
    ...crash(0, 'r1'),
    ...restart(1_000, 'r2'),
    [1_005, 'ready', {}, 'r2'],
    ...crash(1_100, 'r2'),
    ...restart(3_100, 'r3'),
    [3_105, 'ready', {}, 'r3'],
    [3_200, 'exited', { ...EXIT, rule: 'limit' }, 'r3'],
    [3_200, 'gave-up', { rule: 'limit', decision: 'gave up: 2 restarts in 10 min' }, 'r3'],
  ]);
  expect(open).toBeNull();
  expect(ended).toHaveLength(1);
  expect(ended[0]).toMatchObject({ from: 0, to: 3_200, outcome: 'gave-up', rule: 'limit', restarts: 2 });
  expect(ended[0]!.phases.filter(({ kind }) => kind === 'exit')).toHaveLength(3);
});

test('what dies after it had been ready for long enough begins another episode, also when that is seen late', () => {
  const first = [...crash(0, 'r1'), ...restart(1_000, 'r2'), [1_005, 'ready', {}, 'r2']] as const;
  expect(fold([...first, ...crash(90_000, 'r2')], { r2: 1_900 }).ended).toEqual([]);
  const { ended, open } = fold([...first, ...crash(90_000, 'r2')], { r2: 60_000 });
  expect(ended).toMatchObject([{ outcome: 'recovered', to: 1_005 }]);
  expect(open).toMatchObject({ from: 60_000 });
});

test('a failed probe begins the episode, and its end belongs to it', () => {
  const { open } = fold([
    [0, 'unhealthy', { reason: 'liveness http :80/ failed 3 times: HTTP 503' }],
    [4_000, 'killed', { grace_ms: 4_000 }],
    [4_100, 'exited', { ...EXIT, code: null, signal: 'SIGKILL' }],
    [4_100, 'backing-off', { in_ms: 1_000 }],
  ]);
  expect(open).toMatchObject({ from: 0, cause: 'liveness http :80/ failed 3 times: HTTP 503' });
  expect(spans(open!)).toEqual(['exit 0-4100', 'backoff 4100-null']);
  expect(open!.phases[0]!.facts).toMatchObject({ 'exit.signal': 'SIGKILL' });
});

test('a freeze begins the episode, from the first alarm to the end of the process', () => {
  const { open } = fold([
    [0, 'frozen', { reason: 'frozen: no heartbeat for 5 min' }],
    [10, 'examined', {}],
    [10_000, 'stopping', { signal: 'SIGINT', reason: 'frozen: no heartbeat for 5 min' }],
    [30_000, 'exited', { ...EXIT, code: null, signal: 'SIGKILL' }],
  ]);
  expect(open).toMatchObject({ from: 0, cause: 'frozen: no heartbeat for 5 min' });
  expect(spans(open!)).toEqual(['exit 0-30000']);
});

describe.each([
  {
    what: 'a freeze that was none',
    events: [
      [0, 'frozen', { reason: 'frozen: no heartbeat for 5 min' }],
      [5, 'thawed', {}],
    ],
  },
  { what: 'an end that was asked for', events: [[0, 'exited', { ...EXIT, crash: false, rule: 'planned-stop' }]] },
  { what: 'a job that has done its work', events: [[0, 'exited', { ...EXIT, rule: 'clean-exit', crash: false }]] },
  { what: 'a plain start', events: restart(0, 'r1', 'first') },
  {
    what: 'something watched that was unwell for a while',
    events: [
      [0, 'unhealthy', { reason: 'http failed' }],
      [5, 'healthy', {}],
    ],
  },
] as { what: string; events: readonly Told[] }[])('$what', ({ events }) => {
  test('is no episode', () => expect(fold(events)).toEqual({ ended: [], open: null }));
});

test('stopped by hand in the middle, it ends as stopped; after it was ready, as recovered', () => {
  const stop = (ms: number): readonly Told[] => [[ms, 'stopped', {}]];
  expect(fold([...crash(0, 'r1'), ...stop(500)]).ended).toMatchObject([{ outcome: 'stopped', to: 500 }]);
  const ready: readonly Told[] = [...crash(0, 'r1'), ...restart(1_000, 'r2'), [1_005, 'ready', {}, 'r2']];
  expect(fold([...ready, [2_000, 'stopping', {}], ...stop(2_100)]).ended).toMatchObject([
    { outcome: 'recovered', to: 1_005 },
  ]);
});

test('the quiet retry after giving up is an episode of its own', () => {
  const { open } = fold([...restart(0, 'r9', 'quiet'), [20, 'ready', {}, 'r9']]);
  expect(open).toMatchObject({ cause: 'quiet retry after giving up', restarts: 1, ready: { at: 20 } });
});

test('one without end stays within bounds and keeps how it began', () => {
  const events = Array.from({ length: 500 }, (_, i) => [
    ...crash(i * 2_000, 'r1'),
    ...restart(i * 2_000 + 1_000, 'r1'),
  ]);
  const { open } = fold(events.flat());
  expect(open!.phases).toHaveLength(MAX_PHASES);
  expect(open!.phases[0]).toMatchObject({ kind: 'exit', from: 0 });
  expect(open).toMatchObject({ restarts: 500, omitted: 2_000 - MAX_PHASES });
});

test('a clock that goes back makes nothing end before it began', () => {
  const { open } = fold([...crash(5_000, 'r1'), ...restart(1_000, 'r2'), [1_010, 'ready', {}, 'r2']]);
  for (const { from, to } of open!.phases) expect(to).toBeGreaterThanOrEqual(from);
  expect(settled(open!).to).toBeGreaterThanOrEqual(open!.from);
});
