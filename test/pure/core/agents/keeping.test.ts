/** The agents of a daemon with everything around them replaced: what they hear, use and are told, and what the next daemon makes of it. */

import { expect, test } from 'vitest';
import { superviseAgents } from '../../../../src/agents/agent-supervisor.ts';
import { runOfAgent } from '../../../../src/agents/rules/step.ts';
import type { AgentRecord, AgentsSpec, AgentType } from '../../../../src/agents/spec.ts';
import { noFailpoints } from '../../../../src/base/failpoints.ts';
import { silentLog } from '../../../../src/base/log.ts';
import type { Commit } from '../../../../src/history/ports.ts';
import type { ProcessDriver } from '../../../../src/supervision/ports/driver.ts';
import type { HeartbeatSpec } from '../../../../src/supervision/rules/freeze/heartbeat.ts';
import { NO_LIMITS } from '../../../../src/supervision/spec.ts';
import { agentsSpec, agentType } from '../../../support/agent-samples.ts';
import { exitCode } from '../../../support/builders.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { FakeDriver } from '../../../support/fake-driver.ts';
import { FakeHeartbeatSources } from '../../../support/fake-heartbeat-sources.ts';
import { FakeSampler, MIB, usageOf } from '../../../support/fake-sampler.ts';

const PING: HeartbeatSpec = { source: { kind: 'ping' }, freezeAfterMs: 60_000, dumpSignal: null };
const FILE: HeartbeatSpec = { ...PING, source: { kind: 'file', path: '/beats/{task}', field: null } };

function world(type: Partial<AgentType> = {}, more: Partial<AgentsSpec> = {}) {
  const clock = new FakeClock();
  const driver = new FakeDriver(clock);
  const sources = new FakeHeartbeatSources();
  const sampler = new FakeSampler();
  const commits: Commit[] = [];
  const specOf = (over: Partial<AgentType> = type) => agentsSpec({ types: [agentType(over)], ...more });
  const begin = (remembered: readonly AgentRecord[] = []) =>
    superviseAgents(
      {
        ...{ driver: driver as unknown as ProcessDriver, clock, random: () => 0, sampler, heartbeatSources: sources },
        ...{ log: silentLog, failpoints: noFailpoints, fatal: (error) => expect(error).toBeUndefined() },
        incidentService: { recovered: () => {} },
        record: (...written) => {
          commits.push(...written);
          for (const { onDurable } of written) onDurable?.();
          return written;
        },
        isRecorded: () => false,
        logFrom: () => 0,
        examine: async () => sources.findings,
        launch: ({ name: component }, { process }, run) => ({
          ...{
            kind: 'process',
            run,
            component,
            command: process.command,
            cwd: '/',
            env: {},
            logPath: '',
            specHash: '',
          },
        }),
        begun: () => ({ specHash: '', ingredients: {}, logOffset: 0 }),
        evidence: () => ({
          ...{ logTail: [], changedSinceGood: null, errorType: null, errorMessage: null, rootCause: null },
        }),
      },
      remembered,
      specOf(),
    );
  const keeping = begin();
  const crashes = () => commits.flatMap(({ crash }) => (crash ? [crash] : []));
  const told = () => commits.flatMap(({ events = [] }) => events.map((event) => event.type));
  /** As it was last written down. */
  const written = () => commits.flatMap(({ agents = [] }) => agents).at(-1)!;
  const spawn = async (task = 'A') => {
    const { name } = keeping.spawn({ type: 'architect', task });
    await clock.advance(0);
    return name;
  };
  return { clock, driver, sources, sampler, commits, crashes, told, written, keeping, begin, specOf, spawn };
}

test('an agent that stops to beat is examined, ended and respawned, and its crash has the evidence', async () => {
  const { clock, driver, crashes, told, spawn, keeping } = world({ heartbeat: PING });
  const name = await spawn();
  await clock.advance(50_000);
  expect(keeping.beat(name)).toBe(true);
  expect(keeping.heartbeat(name)).toMatchObject({ source: 'ping', silent_ms: 0, limit_ms: 60_000 });
  await clock.advance(59_000);
  expect(told()).not.toContain('agent.frozen');
  await clock.advance(20_000);
  expect(driver.of(name)[0]!.signals).toEqual(['SIGINT']);
  expect(crashes()).toMatchObject([
    {
      ...{ rootCause: 'frozen: no heartbeat for 1 min', taskId: 'A', decision: 'respawn in 1 s (1 of 3)' },
      freeze: { reason: 'frozen: no heartbeat for 1 min', evidence: ['it waits'] },
    },
  ]);
  expect(crashes()[0]!.freeze).not.toHaveProperty('timeout');
  await clock.advance(2_000);
  expect(driver.of(name)).toHaveLength(2);
});

test('a heartbeat file is that of the task, and what was heard is written down for the next daemon', async () => {
  const { clock, driver, sources, written, spawn, keeping, begin } = world({ heartbeat: FILE });
  await spawn('T 1');
  sources.mark = 'one';
  await clock.advance(30_000);
  expect(written()).toMatchObject({ pulse: { mark: 'one', run: driver.runs[0]!.launch.run } });
  const record = written();
  keeping.close();
  begin([record]);
  expect(driver.adopted).toEqual([runOfAgent(record.state)]);
  expect(sources.opened).toEqual([null]); // not before it is known to live
});

test('who is asked to beat and has no such heartbeat, or no run, says so; who is not known is nobody of ours', async () => {
  const { spawn, keeping, driver, clock } = world({ heartbeat: PING });
  const name = await spawn();
  driver.die(name, exitCode(0));
  await clock.advance(0);
  expect(() => keeping.beat(name)).toThrow('not running');
  expect(keeping.beat('somebody')).toBe(false);
  const quiet = world();
  const other = await quiet.spawn();
  expect(() => quiet.keeping.beat(other)).toThrow('ping');
});

test('a timeout that passed while there was no daemon is not up before it is known that the run lives', async () => {
  const { clock, driver, crashes, written, spawn, keeping, begin, told } = world({ timeoutMs: 60_000 });
  await spawn();
  await clock.advance(10_000);
  const record = written();
  const reports: ((report: never) => void)[] = [];
  keeping.close();
  await clock.advance(100_000);
  driver.adopt = (_run, ...rest: unknown[]) => void reports.push(rest.at(-1) as never);
  begin([record]);
  await clock.advance(5_000);
  expect([told().includes('agent.timed-out'), reports.length]).toEqual([false, 1]);
  reports[0]!({ kind: 'started', pid: 101, at: clock.now() } as never);
  await clock.advance(0);
  expect(told()).toContain('agent.timed-out');
  await clock.advance(1_000);
  reports[0]!({ kind: 'exited', at: clock.now(), cause: exitCode(0), leftovers: [] } as never);
  expect(crashes()).toMatchObject([
    { rootCause: 'it ran longer than its timeout of 1 min', freeze: { timeout: true, evidence: ['it waits'] } },
  ]);
});

test('another timeout or heartbeat in the configuration holds for agents that run', async () => {
  const { clock, crashes, keeping, specOf, spawn, told } = world({ timeoutMs: 3_600_000 });
  const name = await spawn();
  await clock.advance(120_000);
  keeping.use(specOf({ timeoutMs: 60_000, heartbeat: PING }));
  await clock.advance(1_000);
  expect(crashes()[0]).toMatchObject({ rootCause: 'it ran longer than its timeout of 1 min' });
  keeping.use(specOf({ timeoutMs: null, heartbeat: PING }));
  await clock.advance(5_000);
  expect(keeping.heartbeat(name)).not.toBeNull();
  const before = told().length;
  keeping.use(specOf({ timeoutMs: null, heartbeat: PING }));
  await clock.advance(0);
  expect(told()).toHaveLength(before);
});

test('an agent above its soft memory is ended and respawned; others are not even measured', async () => {
  const { clock, sampler, crashes, spawn } = world({ limits: { ...NO_LIMITS, softMemoryBytes: 400 * MIB } });
  sampler.usage = usageOf({ memoryBytes: 412 * MIB });
  await spawn();
  await clock.advance(30_000);
  expect(crashes()[0]?.rootCause).toContain('soft_memory: 412 MiB');
  const other = world();
  await other.spawn();
  await other.clock.advance(60_000);
  expect(other.sampler.looked).toEqual([]);
});

test('limits that cannot be kept on this machine are told of, with the task', async () => {
  const { driver, commits, spawn } = world();
  const limit = { name: 'memory', max: MIB, mechanism: null, note: 'there is no cgroup' };
  (driver as { limits(): unknown }).limits = () => [limit];
  await spawn();
  expect(commits.flatMap(({ events = [] }) => events)).toContainEqual(
    expect.objectContaining({
      ...{ type: 'agent.unlimited', subject: { kind: 'agent', name: 'architect' } },
      data: { task: 'A', limit: 'memory', max: MIB, why: 'there is no cgroup' },
    }),
  );
});

test('what waits for its respawn when everything ends is left for the next daemon', async () => {
  const { clock, driver, keeping, spawn } = world();
  const [waits] = [await spawn('A'), await spawn('B')];
  driver.die(waits, exitCode(1));
  driver.obedient = false;
  await clock.advance(0);
  const ended = keeping.stopAll({ again: true });
  await clock.advance(4_000); // longer than its backoff, shorter than the grace of the other
  expect(driver.of(waits)).toHaveLength(1);
  await clock.advance(2_000);
  await ended;
  expect(driver.liveNames).toEqual([]);
});

test('an agent whose task would lead its heartbeat file astray is refused', () => {
  const { keeping } = world({ heartbeat: FILE });
  expect(() => keeping.spawn({ type: 'architect', task: '../../etc/x' })).toThrow('out of its folder');
  expect(keeping.respawn({ type: 'architect', task: '../x' })).toMatchObject({ kind: 'none' });
});
