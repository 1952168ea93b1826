/** The run of an agent while it lives: what is noticed of it, and what its end then leads to. */

import { describe, expect, test } from 'vitest';
import { heardAgain } from '../../../../src/agents/rules/live-run.ts';
import { agentWakesAt } from '../../../../src/agents/rules/next.ts';
import type { AgentContext } from '../../../../src/agents/rules/step.ts';
import type { AgentType } from '../../../../src/agents/spec.ts';
import type { ExitCause } from '../../../../src/base/pure/exit.ts';
import type { MonoMs } from '../../../../src/base/pure/ids.ts';
import type { HeartbeatSpec } from '../../../../src/supervision/rules/freeze/heartbeat.ts';
import { AgentLife, code } from '../../../support/agent-life.ts';
import { agentContext, agentType } from '../../../support/agent-samples.ts';

const HEARTBEAT: HeartbeatSpec = { source: { kind: 'ping' }, freezeAfterMs: 60_000, dumpSignal: null };
const killed: ExitCause = { kind: 'signal', signal: 'SIGKILL', core: false, oom: false };

const lifeOf = (type: Partial<AgentType>, more: Partial<AgentContext> = {}) =>
  new AgentLife({ policy: agentType(type), ...more });

class Silent extends AgentLife {
  silent(ms: number, since = 0): this {
    return this.tell(ms, { kind: 'silent', run: this.run, since: since as MonoMs, note: null });
  }

  examined(ms: number, busy: string | null = null): this {
    return this.tell(ms, { kind: 'examined', run: this.run, busy, stopped: null, evidence: ['1 (node) sleeps'] });
  }

  stillSilent(ms: number): this {
    return this.tell(ms, { kind: 'still-silent', run: this.run });
  }
}

const frozen = (type: Partial<AgentType> = {}, more: Partial<AgentContext> = {}) =>
  new Silent({ policy: agentType({ heartbeat: HEARTBEAT, ...type }), ...more }).started(0).silent(60_000);

describe('an agent whose heartbeat is overdue', () => {
  test('is examined, interrupted, asked and killed, and that is a crash with its cause', () => {
    const life = frozen();
    expect(life.effects).toEqual(['agent.frozen', 'examine']);
    expect(life.record.state).toMatchObject({ kind: 'running', freeze: { reason: 'frozen: no heartbeat for 1 min' } });
    life.examined(63_000);
    expect(life.effects).toEqual(['agent.examined']);
    life.stillSilent(69_000);
    expect(life.effects).toEqual([]);
    life.stillSilent(70_000);
    expect(life.effects).toEqual(['agent.stopping', 'signal']);
    expect(life.last?.effects[1]).toMatchObject({ signal: 'SIGINT' });
    life.woke(80_000);
    expect(life.last?.effects).toMatchObject([{ type: 'agent.stopping' }, { kind: 'signal', signal: 'SIGTERM' }]);
    life.woke(85_000);
    expect(life.effects).toEqual(['kill']);
    life.exited(85_010, killed);
    expect(life.record.state).toMatchObject({ kind: 'backing-off', until: 86_010, counts: true });
    expect(life.last?.end).toMatchObject({
      ...{ crash: true, rule: 'backoff', unhealthy: 'frozen: no heartbeat for 1 min', uptimeMs: 85_010 },
      ...{ decision: 'respawn in 1 s (1 of 3)', freeze: { evidence: ['1 (node) sleeps'] } },
    });
    expect(life.last?.end?.freeze?.steps.map(({ text }) => text)).toEqual([
      ...['no heartbeat for 1 min', 'its processes were examined: they are idle', 'SIGINT sent', 'SIGTERM sent'],
      'SIGKILL sent to all its processes',
    ]);
  });

  test('that beats again is left alone', () => {
    const life = frozen().examined(63_000);
    life.tell(64_000, { kind: 'beat', run: life.run });
    expect([life.effects, life.record.state]).toEqual([['agent.thawed'], expect.not.objectContaining({ freeze: {} })]);
    expect(life.stillSilent(70_000).effects).toEqual([]);
  });

  test('that is busy gets its time once more', () => {
    const life = frozen().examined(63_000, 'its processes used 2.9 s of CPU in 3 s');
    expect(life.record.state).toMatchObject({ freeze: { stage: 'postponed', until: 120_000 } });
    expect(life.stillSilent(119_000).effects).toEqual([]);
    expect(life.stillSilent(120_000).effects).toEqual(['examine']);
  });

  test('that ends with 0 when it is interrupted has crashed all the same', () => {
    const life = frozen().examined(63_000).stillSilent(70_000).exited(70_100, code(0));
    expect(life.crashes).toEqual(['respawn in 1 s (1 of 3)']);
  });

  test('that ends by itself before anything was done to it ended by itself', () => {
    const life = frozen().exited(61_000, code(0));
    expect([life.record.state, life.crashes]).toEqual([{ kind: 'finished' }, []]);
  });

  test('that dies of the dump signal was ended by us', () => {
    const life = frozen({ heartbeat: { ...HEARTBEAT, dumpSignal: 'SIGQUIT' } });
    expect(life.last?.effects[1]).toMatchObject({ kind: 'examine', dump: 'SIGQUIT' });
    life.exited(60_100, { kind: 'signal', signal: 'SIGQUIT', core: true, oom: false });
    expect(life.last?.end).toMatchObject({ crash: true, unhealthy: 'frozen: no heartbeat for 1 min' });
  });

  test('does not count as having outlived min_uptime while it is silent', () => {
    const life = frozen({ minUptimeMs: 65_000 });
    expect(agentWakesAt(life.record.state, agentType({ minUptimeMs: 65_000 }))).toBeNull();
    expect(life.woke(65_000).effects).toEqual([]);
    life.tell(66_000, { kind: 'beat', run: life.run });
    expect(life.woke(66_001).effects).toEqual(['recovered']);
  });

  test('is ended at once by a stop, which does not undo the crash', () => {
    const life = frozen().examined(63_000).stillSilent(70_000).tell(71_000, { kind: 'stop', again: false });
    expect(life.last?.effects).toMatchObject([{ type: 'agent.stopping' }, { kind: 'signal', signal: 'SIGTERM' }]);
    life.exited(71_100, killed);
    expect(life.record.state).toEqual({ kind: 'stopped' });
    expect(life.crashes).toEqual(['it was asked to stop']);
  });

  test('that nobody is to respawn is given up', () => {
    const life = frozen({}, { maxRespawns: 0 }).examined(63_000).stillSilent(70_000).exited(70_100, killed);
    expect([life.record.state, life.effects.slice(0, 2)]).toEqual([
      { kind: 'gave-up' },
      ['agent.crashed', 'agent.gave-up'],
    ]);
  });

  test('has the rest of its time again with the next daemon, which looks once more if nobody has', () => {
    const life = frozen();
    life.record = heardAgain(life.record, 500_000 as MonoMs);
    expect(life.record.state).toMatchObject({ freeze: { until: 510_000 } });
    expect(life.started(500_001).effects).toEqual(['examine']);
    expect(life.record.startedAt).toBe(new AgentLife().started(0).record.startedAt);
  });

  test('another configuration of its type begins anew', () => {
    const life = frozen().tell(61_000, { kind: 'probes-changed' });
    expect([life.effects, life.record.state]).toEqual([['agent.thawed'], expect.not.objectContaining({ freeze: {} })]);
  });
});

describe('an agent that takes longer than its timeout', () => {
  const TIMEOUT = { timeoutMs: 1_800_000 };
  const REASON = 'it ran longer than its timeout of 30 min';
  const late = (type: Partial<AgentType> = {}) => {
    const life = new Silent({ policy: agentType({ ...TIMEOUT, minUptimeMs: 0, ...type }) });
    return life.started(0).woke(0).woke(1_800_000);
  };

  test('is woken for that, counted from when its run began', () => {
    const life = lifeOf(TIMEOUT).started(10);
    expect(agentWakesAt(life.record.state, agentType(TIMEOUT))).toBe(10_010); // min_uptime comes first
    life.woke(10_010);
    expect(agentWakesAt(life.record.state, agentType(TIMEOUT))).toBe(1_800_010);
    expect(life.woke(1_800_009).effects).toEqual([]);
  });

  test('is examined and ended, and that is a crash with its cause and its evidence', () => {
    const life = late();
    expect(life.effects).toEqual(['agent.timed-out', 'examine']);
    life.examined(1_803_000, 'its processes used 2.9 s of CPU in 3 s');
    expect(life.effects).toEqual(['agent.examined', 'agent.stopping', 'signal']);
    life.woke(1_808_000);
    expect(life.effects).toEqual(['kill']);
    life.exited(1_808_100, killed);
    expect(life.last?.end).toMatchObject({
      ...{ crash: true, unhealthy: REASON, decision: 'respawn in 1 s (1 of 3)' },
      freeze: { timeout: true, silentSince: 1_800_000, reason: REASON, evidence: ['1 (node) sleeps'] },
    });
  });

  test('is ended without evidence when there is none for too long', () => {
    const life = late();
    expect(agentWakesAt(life.record.state, agentType(TIMEOUT))).toBe(1_820_000);
    expect(life.woke(1_820_000).effects).toEqual(['agent.stopping', 'signal']);
  });

  test('is ended whatever its heartbeat says', () => {
    const life = late({ heartbeat: HEARTBEAT });
    for (const kind of ['beat', 'still-silent'] as const)
      expect(life.tell(1_801_000, { kind, run: life.run }).effects).toEqual([]);
    expect(life.silent(1_801_000).effects).toEqual([]);
    expect(life.examined(1_803_000).effects).toContain('signal');
  });

  test('is ended at once when it was silent before, and has been examined', () => {
    const life = new Silent({ policy: agentType({ ...TIMEOUT, heartbeat: HEARTBEAT, minUptimeMs: 0 }) });
    life.started(0).woke(0).silent(1_795_000, 1_735_000).examined(1_798_000, 'busy').woke(1_800_000);
    expect(life.effects).toEqual(['agent.timed-out', 'agent.stopping', 'signal']);
  });

  test('that finishes while it is examined has finished', () => {
    expect(late().exited(1_801_000, code(0)).record.state).toEqual({ kind: 'finished' });
  });

  test('is examined again by the next daemon, if the one before died over it', () => {
    const life = late();
    life.record = heardAgain(life.record, 1_900_000 as MonoMs);
    expect(life.started(1_900_001).effects).toEqual(['examine']);
    expect(life.examined(1_903_000).effects).toContain('signal');
  });

  test('has more of it when its type is given more', () => {
    const life = late().tell(1_801_000, { kind: 'probes-changed' });
    expect(life.record.state).toEqual(expect.not.objectContaining({ freeze: {} }));
    expect(agentWakesAt(life.record.state, agentType({ timeoutMs: 3_600_000 }))).toBe(3_600_000);
  });

  test('ended with the machine when it was restarted meanwhile: no crash, but a respawn', () => {
    const life = late().examined(1_803_000).tell(5, { kind: 'rebooted' });
    expect([life.record.state, life.crashes]).toEqual([{ kind: 'backing-off', until: 5, counts: true }, []]);
  });
});

describe('never_on', () => {
  const NEVER = { neverOn: [78, 'SIGILL'] } as const;

  test.each<[string, ExitCause, string]>([
    ['an exit code', code(78), 'gave up: exit code 78 is listed in never_on'],
    ['a signal', { kind: 'signal', signal: 'SIGILL', core: true, oom: false }, 'gave up: SIGILL is listed in never_on'],
  ])('%s that is listed is not tried again', (_, cause, decision) => {
    const life = lifeOf(NEVER).started(0).exited(5, cause);
    expect([life.record.state, life.crashes]).toEqual([{ kind: 'gave-up' }, [decision]]);
    expect(life.last).toMatchObject({
      end: { rule: 'never-on' },
      effects: [{}, { data: { why: expect.any(String) } }, {}],
    });
  });

  test('other codes are, and so is 0 that is listed', () => {
    expect(lifeOf(NEVER).started(0).exited(5, code(1)).record.state.kind).toBe('backing-off');
    expect(
      lifeOf({ neverOn: [0] })
        .started(0)
        .exited(5, code(0)).record.state.kind,
    ).toBe('finished');
  });

  test('a signal that we sent ourselves says nothing', () => {
    const life = frozen({ neverOn: ['SIGKILL'] })
      .examined(63_000)
      .stillSilent(70_000)
      .exited(70_100, killed);
    expect(life.record.state.kind).toBe('backing-off');
  });
});

test('an agent that uses too much memory is asked to end; one that would not be respawned is only told of', () => {
  const over = { kind: 'over-soft-memory', usedBytes: 500e6, limitBytes: 400e6, samples: 3 } as const;
  const life = new AgentLife().started(0);
  life.tell(10, { ...over, run: life.run });
  expect(life.effects).toEqual(['agent.over-soft-memory', 'signal']);
  expect(life.exited(20, code(0)).last?.end).toMatchObject({
    crash: true,
    unhealthy: expect.stringContaining('soft_memory'),
  });
  const last = new AgentLife({ maxRespawns: 0 }).started(0);
  expect(last.tell(10, { ...over, run: last.run }).effects).toEqual(['agent.over-soft-memory']);
  expect(last.record.state.kind).toBe('running');
});

test('what SIGKILL does not end is killed again, and told once', () => {
  const life = new AgentLife().started(0).tell(0, { kind: 'stop', again: false }).woke(5_000);
  expect(life.effects).toEqual(['kill']);
  expect(life.woke(10_000).effects).toEqual(['agent.unkillable', 'kill']);
  expect(life.woke(15_000).effects).toEqual(['kill']);
});

test('no time is up while nobody can see its processes', () => {
  const life = new AgentLife({ blind: true }).started(0).tell(0, { kind: 'stop', again: false }).woke(5_000);
  expect([life.effects, life.record.state]).toEqual([[], expect.objectContaining({ stage: 'asked', killAt: 10_000 })]);
});

test('a record of an earlier version goes on where it stood', () => {
  const life = new AgentLife().started(0);
  const stopping = { kind: 'stopping', run: life.run, pid: 1, after: { kind: 'stopped' }, ended: false } as const;
  life.record = { ...life.record, state: { ...stopping, killAt: null } };
  expect(life.tell(5, { kind: 'woke' }).effects).toEqual([]);
  expect(life.exited(6, killed).record.state).toEqual({ kind: 'stopped' });
  expect(agentContext(0).blind).toBeUndefined();
});
