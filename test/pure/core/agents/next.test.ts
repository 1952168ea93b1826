import { describe, expect, test } from 'vitest';
import { agentWakesAt, newAgent } from '../../../../src/agents/rules/next.ts';
import { runOfAgent } from '../../../../src/agents/rules/step.ts';
import { agentName } from '../../../../src/agents/rules/task.ts';
import type { BootId, MonoMs, RunId } from '../../../../src/base/pure/ids.ts';
import { code, AgentLife as Life } from '../../../support/agent-life.ts';
import { agentContext, agentType } from '../../../support/agent-samples.ts';

test('a new agent is written down as starting, and its start is asked for', () => {
  const about = { name: agentName('architect', 'A'), type: 'architect', task: 'A' };
  const { record, effects } = newAgent({ ...about, before: null, isRespawn: false }, agentContext(0));
  expect(record).toMatchObject({ state: { kind: 'starting' }, respawns: [], type: 'architect', task: 'A' });
  expect(effects).toMatchObject([
    { kind: 'tell', type: 'agent.spawned' },
    { kind: 'start', run: runOfAgent(record.state) },
  ]);
});

test('exit code 0 means that its task is done, however soon it comes', () => {
  const life = new Life().started(10).exited(20, code(0));
  expect(life.record.state).toEqual({ kind: 'finished' });
  expect(life.effects).toEqual(['recovered', 'agent.finished', 'release']);
  expect(life.last?.end).toMatchObject({ crash: false, rule: 'clean-exit' });
});

test('it is respawned three times with growing waits, and given up at the fourth crash', () => {
  const life = new Life().started(0).exited(2_000);
  expect(life.record.state).toMatchObject({ kind: 'backing-off', until: 3_000 });
  life.woke(2_999);
  expect(life.record.state.kind).toBe('backing-off');
  life.woke(3_000).started(3_010).exited(5_000).woke(7_000).started(7_010).exited(9_000).woke(13_000).started(13_010);
  expect(life.record.respawns).toHaveLength(3);
  life.exited(15_000);
  expect(life.record).toMatchObject({
    state: { kind: 'gave-up' },
    respawns: [{ helped: false }, {}, { helped: false }],
  });
  expect(life.crashes).toEqual([
    'respawn in 1 s (1 of 3)',
    'respawn in 2 s (2 of 3)',
    'respawn in 4 s (3 of 3)',
    'gave up: its 3 respawns are used up',
  ]);
});

test('without respawns it is given up at once', () => {
  expect(new Life({ maxRespawns: 0 }).started(0).exited(1).record.state).toEqual({ kind: 'gave-up' });
});

test('a respawn that outlives min_uptime has helped, and that is told once', () => {
  const life = new Life().started(0).exited(1).woke(1_001).started(1_010);
  expect(agentWakesAt(life.record.state, agentType())).toBe(11_010);
  life.woke(11_010);
  expect(life.effects).toEqual(['recovered']);
  expect(life.record).toMatchObject({ state: { kind: 'running', lived: true }, respawns: [{ helped: true }] });
  expect(agentWakesAt(life.record.state, agentType())).toBeNull();
  expect(life.exited(20_000).record.respawns).toMatchObject([{ helped: true }]);
});

describe('a stop', () => {
  test('asks first, kills when the grace is over, and is no crash', () => {
    const life = new Life().started(0).tell(10, { kind: 'stop', again: false });
    expect(life.effects).toEqual(['agent.stopping', 'signal']);
    life.woke(5_010);
    expect(life.effects).toEqual(['kill']);
    life.exited(5_020, { kind: 'signal', signal: 'SIGKILL', core: false, oom: false });
    expect(life.record.state).toEqual({ kind: 'stopped' });
    expect(life.last?.end).toMatchObject({ crash: false, planned: true });
  });

  test('of the daemon brings it back later, without counting as a respawn', () => {
    const life = new Life().started(0).tell(10, { kind: 'stop', again: true }).exited(20, code(143));
    expect(life.record.state).toMatchObject({ kind: 'backing-off', counts: false });
    life.woke(30);
    expect(life.record).toMatchObject({ state: { kind: 'starting' }, respawns: [] });
  });

  test('while it waits for its respawn ends it at once', () => {
    const life = new Life().started(0).exited(1).tell(2, { kind: 'stop', again: false });
    expect([life.record.state, life.effects]).toEqual([{ kind: 'stopped' }, ['agent.stopped']]);
  });

  test('by hand wins over the one of the daemon', () => {
    const life = new Life().started(0).tell(1, { kind: 'stop', again: true }).tell(2, { kind: 'stop', again: false });
    expect(life.exited(3).record.state).toEqual({ kind: 'stopped' });
  });
});

describe('what it left behind', () => {
  test('is ended before the respawn, and its crash is recorded once', () => {
    const life = new Life().started(0).exited(10, code(1), [77]);
    expect(life.effects).toEqual(['agent.crashed', 'agent.leftovers', 'signal']);
    expect(life.record.state).toMatchObject({ kind: 'stopping', ended: true, after: { kind: 'backing-off' } });
    life.exited(20, code(1), [77]); // told again to the next daemon
    expect(life.crashes).toHaveLength(1);
    life.woke(5_010);
    expect(life.effects).toEqual(['kill']);
    life.tell(5_020, { kind: 'tree-gone', run: life.run });
    expect([life.record.state.kind, life.effects]).toEqual(['backing-off', ['release']]);
  });
});

describe('a start that failed', () => {
  const failed = (heals: boolean, problem: 'cancelled' | 'command-not-found' | 'out-of-resources') =>
    ({ kind: 'spawn-failed', problem: { code: problem, message: 'why', heals } }) as const;

  test('because the daemon died before is begun again at once and counts nothing', () => {
    const life = new Life();
    life.tell(5, { ...failed(true, 'cancelled'), run: life.run });
    expect(life.record.state).toMatchObject({ kind: 'backing-off', until: 5, counts: false });
    expect(life.crashes).toEqual([]);
  });

  test('of a respawn gives the respawn back', () => {
    const life = new Life().started(0).exited(1).woke(1_001);
    expect(life.record.respawns).toHaveLength(1);
    life.tell(1_002, { ...failed(true, 'cancelled'), run: life.run });
    expect(life.record).toMatchObject({ respawns: [], state: { counts: true } });
  });

  test('for want of something is tried again later, and is nobody’s crash', () => {
    const life = new Life();
    life.tell(0, { ...failed(true, 'out-of-resources'), run: life.run });
    expect(life.record.state).toMatchObject({ kind: 'backing-off', until: 4_000, counts: false });
  });

  test('for good is a crash like any other', () => {
    const life = new Life();
    life.tell(0, { ...failed(false, 'command-not-found'), run: life.run });
    expect(life.crashes).toEqual(['respawn in 1 s (1 of 3)']);
  });
});

describe('after a reboot', () => {
  const rebooted = (life: Life) => life.tell(50, { kind: 'rebooted' });

  test('what was running is respawned: no crash, but it counts', () => {
    const life = rebooted(new Life({ bootId: 'boot-2' as BootId }).started(0));
    expect(life.record.state).toEqual({ kind: 'backing-off', until: 50, counts: true });
    expect(life.crashes).toEqual([]);
    expect(life.last?.end).toMatchObject({ planned: true, decision: expect.stringContaining('1 of 3') });
    expect(life.woke(50).record.respawns).toHaveLength(1);
  });

  test('what was being stopped is stopped', () => {
    expect(rebooted(new Life().started(0).tell(1, { kind: 'stop', again: false })).record.state).toEqual({
      kind: 'stopped',
    });
  });

  test('what waited is due now', () => {
    expect(rebooted(new Life().started(0).exited(1)).record.state).toMatchObject({ kind: 'backing-off', until: 50 });
  });
});

test('a fact about a run that is over changes nothing', () => {
  const life = new Life().started(0);
  const before = life.record;
  life.tell(1, { kind: 'exited', run: 'other' as RunId, at: 1 as MonoMs, cause: code(1), leftovers: [] });
  expect([life.record, life.effects]).toEqual([before, []]);
});

test('asking for a task anew gives a fresh budget, and remembers the respawns of the last hour', () => {
  const before = new Life().started(0).exited(1).woke(1_001).record;
  const about = { name: before.name, type: before.type, task: before.task, before };
  expect(newAgent({ ...about, isRespawn: false }, agentContext(2_000)).record).toMatchObject({
    respawns: [],
    earlier: [{}],
  });
  expect(newAgent({ ...about, isRespawn: false }, agentContext(4_000_000)).record.earlier).toEqual([]);
  expect(newAgent({ ...about, isRespawn: true }, agentContext(2_000)).record.respawns).toHaveLength(2);
});
