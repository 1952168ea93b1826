/** What is said of a component while no daemon answers: what was recorded, corrected by what was seen. */
import { expect, test } from 'vitest';
import { type BootId, type MonoMs, componentName as name } from '../../../src/base/pure/ids.ts';
import { INITIAL } from '../../../src/supervision/rules/lifecycle/state.ts';
import {
  type RecordedComponent,
  type SeenRun,
  strayNames,
  unsupervisedView,
} from '../../../src/supervision/rules/unsupervised.ts';
import { run, spec } from '../../support/builders.ts';
import { wall } from '../../support/ticket-samples.ts';

const BOOT = 'boot-1' as BootId;
const NOW = { now: 10_000 as MonoMs, wall: wall(1_000_000), bootId: BOOT, hasDaemon: false };
const RUN = run('api~1');

const recorded = (state: object): RecordedComponent => ({
  ...{ name: name('api'), bootId: BOOT, desired: 'running', startedAt: null, lastRestart: null, lastExit: null },
  component: { ...INITIAL, state } as RecordedComponent['component'],
});
const running = {
  kind: 'running',
  run: RUN,
  pid: 7,
  startedAt: 1_000,
  attempt: 'first',
  daemonised: false,
  health: {},
};
const seen = (over: Partial<SeenRun> = {}): SeenRun => ({
  ...{ run: RUN, component: name('api'), pid: 7, alive: true, unknown: null, exit: null, exitAt: null },
  ...{ limits: [], leftovers: [], ...over },
});
const dead = { alive: false, pid: null };

test.each<readonly [what: string, state: object | null, runs: readonly SeenRun[], expected: object]>([
  ['never heard of', null, [], { state: 'stopped', note: null }],
  ['alive', running, [seen()], { state: 'running', pid: 7, note: 'alive, but no daemon is running' }],
  ['gone without a trace', running, [], { state: 'stopped', note: expect.stringContaining('exit code is not known') }],
  [
    'ended while nobody looked',
    running,
    [seen({ ...dead, exit: { kind: 'code', code: 7, ambiguous: false }, exitAt: wall(5) })],
    { state: 'stopped', note: 'exit code 7; no daemon is running', last_exit: { code: 7 } },
  ],
  [
    'outlived by a child',
    running,
    [seen({ ...dead, leftovers: [8, 9] })],
    { state: 'running', pid: null, note: expect.stringContaining('live on: 8, 9') },
  ],
  [
    'not to be looked at',
    running,
    [seen({ ...dead, unknown: 'EIO' })],
    { condition: 'not-known', health: 'unknown', note: expect.stringContaining('cannot be read (EIO)') },
  ],
  [
    'in a container of an Engine that is away',
    running,
    [seen({ ...dead, unreachable: 'no Engine', facts: null })],
    { state: 'running', note: expect.stringContaining('as it was last recorded: no Engine') },
  ],
  [
    'about to be restarted',
    { kind: 'backing-off', until: 20_000, attempt: 'first', reason: 'x' },
    [],
    { state: 'backing-off', next_attempt_at: null, note: 'nothing will be started: no daemon is running' },
  ],
])('one that is %s', (_, state, runs, expected) => {
  const view = unsupervisedView(spec('api'), state === null ? null : recorded(state), runs, NOW);
  expect(view).toMatchObject(expected);
});

test('what left the configuration is named while something of it is left', () => {
  const runs = [seen({ component: name('old') }), seen({ ...dead, component: name('over') })];
  expect(strayNames([spec('api')], [recorded(running)], runs)).toEqual(['old']);
  expect(strayNames([], [recorded(running)], runs)).toEqual(['api', 'old']);
});
