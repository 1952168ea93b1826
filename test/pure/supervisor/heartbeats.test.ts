import { afterEach, describe, expect, test } from 'vitest';
import { openMemoryStore } from '../../../src/history/memory.ts';
import type { Commit } from '../../../src/history/ports.ts';
import type { HeartbeatSource } from '../../../src/supervision/rules/freeze/heartbeat.ts';
import { NO_PROBES, type ProbeSpec } from '../../../src/supervision/rules/health/probe.ts';
import type { ComponentSpec } from '../../../src/supervision/spec.ts';
import { spec } from '../../support/builders.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { supervisorWorld } from '../../support/supervisor-world.ts';

const SECOND = 1_000;
const PING: HeartbeatSource = { kind: 'ping' };
const FILE: HeartbeatSource = { kind: 'file', path: '/state.json', field: null };
const beating = (source: HeartbeatSource, over: Partial<ComponentSpec> = {}): ComponentSpec =>
  spec('api', { heartbeat: { source, freezeAfterMs: 60 * SECOND, dumpSignal: null }, ...over });

const open: { supervisor: { close(): void } }[] = [];
afterEach(() => {
  for (const { supervisor } of open.splice(0)) supervisor.close();
});

function worldOf(aSpec: ComponentSpec, ...rest: [FakeClock?, ReturnType<typeof openMemoryStore>?]) {
  const world = supervisorWorld([aSpec], ...rest);
  open.push(world);
  const view = () => world.supervisor.views()[0]!;
  const told = () => world.events.map((event) => event.replace('api component.', ''));
  return { ...world, view, told };
}

async function running(aSpec: ComponentSpec) {
  const clock = new FakeClock();
  const store = openMemoryStore({ clock });
  const world = worldOf(aSpec, clock, store);
  world.supervisor.up(['api']);
  await clock.advance(0);
  return world;
}

describe('a heartbeat by ping', () => {
  test('keeps it alive, and without it the ladder is climbed to a new run', async () => {
    const { clock, supervisor, view, driver, told, store } = await running(beating(PING));
    for (let minute = 0; minute < 10; minute += 1) {
      await clock.advance(50 * SECOND);
      supervisor.beat('api');
    }
    expect(view()).toMatchObject({ condition: null, heartbeat: { source: 'ping', limit_ms: 60_000, silent_ms: 0 } });
    expect(told()).not.toContain('frozen');
    await clock.advance(69 * SECOND);
    expect(view()).toMatchObject({ condition: 'frozen', state: 'running' });
    expect(driver.live('api').signals).toEqual([]);
    await clock.advance(2 * SECOND); // 10 s after it was noticed, however seldom it was looked at before
    expect(driver.of('api')[0]!.signals).toEqual(['SIGINT']);
    await clock.advance(10 * SECOND);
    expect(view()).toMatchObject({ state: 'running', condition: null, restarts: 1 });
    expect(view().last_restart?.reason).toBe('frozen: no heartbeat for 1 min');
    const why = store.why({ component: 'api' })!;
    expect(why.root_cause).toBe('frozen: no heartbeat for 1 min');
    expect(why.freeze).toMatchObject({ reason: 'frozen: no heartbeat for 1 min', evidence: ['it waits'] });
  });

  test('a beat in time ends the alarm at once', async () => {
    const { clock, supervisor, view, driver, told } = await running(beating(PING));
    await clock.advance(66 * SECOND);
    expect(view().condition).toBe('frozen');
    supervisor.beat('api');
    await clock.advance(0);
    expect(view().condition).toBeNull();
    await clock.advance(30 * SECOND);
    expect(driver.live('api').signals).toEqual([]);
    expect(told().slice(-3)).toEqual(['frozen', 'examined', 'thawed']);
  });

  test('a thousand beats a second are one row in 15 s', async () => {
    const { clock, supervisor, store } = await running(beating(PING));
    const commits: Commit[][] = [];
    const commit = store.commit.bind(store);
    store.commit = (...all) => {
      commits.push([...all]);
      return commit(...all);
    };
    for (let second = 0; second < 30; second += 1) {
      for (let beat = 0; beat < 1_000; beat += 1) supervisor.beat('api');
      await clock.advance(SECOND);
    }
    const ofBeats = commits.filter(([first]) => first?.record !== undefined);
    expect(ofBeats.length).toBeGreaterThan(0);
    expect(ofBeats.length).toBeLessThanOrEqual(3);
  });

  test.each([
    ['apo', 'NO_SUCH_COMPONENT'],
    ['api', 'COMPONENT_NOT_RUNNING'],
  ])('of %s that does not run is refused with %s', (name, code) => {
    const { supervisor } = worldOf(beating(PING));
    expect(() => supervisor.beat(name)).toThrow(expect.objectContaining({ code }));
  });

  test('of one with another heartbeat is refused', async () => {
    const { supervisor } = await running(beating(FILE));
    expect(() => supervisor.beat('api')).toThrow(expect.objectContaining({ code: 'HEARTBEAT_NOT_BY_PING' }));
  });
});

describe('what is no silence', () => {
  test('a daemon that was not awake: nobody was there to hear it', async () => {
    const world = await running(beating(FILE));
    world.sources.mark = 'one';
    await world.clock.advance(30 * SECOND);
    await world.clock.stall(3_600 * SECOND); // as after a SIGSTOP
    await world.clock.advance(20 * SECOND);
    expect(world.told()).not.toContain('frozen');
    await world.clock.advance(15 * SECOND);
    expect(world.view().condition).toBe('frozen');
    await world.clock.stall(3_600 * SECOND);
    expect(world.driver.live('api').signals).toEqual([]);
    world.sources.mark = 'two';
    await world.clock.advance(SECOND);
    expect(world.view().condition).toBeNull();
  });

  test('a container that is paused, or whose Engine is away: also not in the middle of an alarm', async () => {
    const world = await running(beating(FILE));
    const hold = (why: string | null) => world.driver.live('api').report({ kind: 'held', why });
    world.sources.mark = 'one';
    await world.clock.advance(30 * SECOND);
    hold('paused');
    await world.clock.advance(3_600 * SECOND);
    expect(world.view()).toMatchObject({ note: 'unknown for 1 h: paused', condition: null });
    hold(null);
    await world.clock.advance(20 * SECOND);
    expect(world.told()).not.toContain('frozen');
    await world.clock.advance(15 * SECOND);
    expect(world.view().condition).toBe('frozen');
    hold('paused');
    await world.clock.advance(3_600 * SECOND);
    hold(null);
    await world.clock.advance(SECOND);
    expect(world.driver.of('api')[0]!.signals).toEqual([]);
    world.sources.mark = 'two';
    await world.clock.advance(SECOND);
    expect(world.view().condition).toBeNull();
  });

  test('a wall clock that jumps', async () => {
    const world = await running(beating(FILE));
    world.clock.jumpWall(365 * 24 * 3_600 * SECOND);
    await world.clock.advance(50 * SECOND);
    world.clock.jumpWall(-700 * 24 * 3_600 * SECOND);
    await world.clock.advance(5 * SECOND);
    expect(world.view().condition).toBeNull();
  });

  test('sources that hear nothing', async () => {
    const world = await running(beating(FILE));
    world.sources.deaf = 'its log is not there';
    await world.clock.advance(600 * SECOND);
    expect(world.view()).toMatchObject({ condition: null, heartbeat: { problem: 'its log is not there' } });
    world.sources.deaf = null;
    await world.clock.advance(65 * SECOND);
    expect(world.view().condition).toBe('frozen');
  });

  test('sources that hear nothing during an alarm: its step is late by that, and only once', async () => {
    const world = await running(beating(FILE));
    world.sources.findings = { busy: 'busy: 3 s of CPU in 3 s', stopped: null, evidence: [] };
    await world.clock.advance(65 * SECOND);
    expect(world.view().condition).toBe('frozen'); // and it gets 60 s more
    world.sources.deaf = 'its log is not there';
    await world.clock.advance(600 * SECOND);
    world.sources.deaf = null;
    await world.clock.advance(60 * SECOND);
    expect(world.driver.of('api')[0]!.signals).toEqual([]);
    await world.clock.advance(10 * SECOND);
    expect(world.driver.of('api')[0]!.signals).toEqual(['SIGINT']);
  });

  test('the time it takes to start', async () => {
    const probe = { periodMs: 10_000, timeoutMs: 1_000, initialDelayMs: 0, failureThreshold: 100, successThreshold: 1 };
    const startup = { ...probe, question: { kind: 'tcp', host: '127.0.0.1', port: 1 } } as const;
    const aSpec = beating(PING, { probes: { startup, liveness: null, readiness: null } });
    const world = worldOf(aSpec);
    world.prober.otherwise = { outcome: 'fail', message: 'refused' };
    world.supervisor.up(['api']);
    await world.clock.advance(300 * SECOND);
    expect(world.view()).toMatchObject({ state: 'running', condition: null });
    world.prober.otherwise = { outcome: 'pass', message: 'fine' };
    await world.clock.advance(55 * SECOND);
    expect(world.told()).not.toContain('frozen');
    await world.clock.advance(30 * SECOND);
    expect(world.told()).toContain('frozen');
  });
});

describe('another daemon', () => {
  async function died(after: number, source: HeartbeatSource) {
    const first = await running(beating(source));
    first.sources.mark = 'one';
    await first.clock.advance(after);
    const run = first.view().run_id!;
    first.supervisor.close();
    return { ...first, run, second: () => worldOf(beating(source), first.clock, first.store) };
  }

  test('goes on counting the silence that a file shows, and knows what was heard before', async () => {
    const { clock, second, run } = await died(50 * SECOND, FILE);
    const again = second();
    again.sources.mark = 'one';
    again.supervisor.up(['api']);
    await clock.advance(16 * SECOND);
    expect(again.sources.opened).toEqual(['one']);
    expect(again.view()).toMatchObject({ run_id: run, condition: 'frozen' });
  });

  test('hears what was written while there was none', async () => {
    const { clock, second } = await died(50 * SECOND, FILE);
    const again = second();
    again.sources.mark = 'two';
    again.supervisor.up(['api']);
    await clock.advance(50 * SECOND);
    expect(again.view().condition).toBeNull();
  });

  test('does not hold pings against it that nobody could take', async () => {
    const { clock, second } = await died(50 * SECOND, PING);
    const again = second();
    again.supervisor.up(['api']);
    await clock.advance(50 * SECOND);
    expect(again.view().condition).toBeNull();
  });

  test('goes on with the alarm of the one before', async () => {
    const { clock, second, view } = await died(66 * SECOND, PING);
    expect(view().condition).toBe('frozen');
    const again = second();
    again.supervisor.up(['api']);
    await clock.advance(5 * SECOND);
    expect(again.view().condition).toBe('frozen');
    expect(again.told()).not.toContain('frozen');
    again.supervisor.beat('api');
    await clock.advance(0);
    expect(again.told()).toContain('thawed');
  });
});

describe('lines that our own probes cause', () => {
  const LOG: HeartbeatSource = { kind: 'log', everyMs: 30 * SECOND, pattern: null };
  const liveness = (kind: 'tcp' | 'pid'): ProbeSpec => ({
    question: kind === 'pid' ? { kind } : { kind, host: '127.0.0.1', port: 80 },
    ...{ periodMs: 5 * SECOND, timeoutMs: SECOND, initialDelayMs: 0, failureThreshold: 3, successThreshold: 1 },
  });
  const asked = (kind: 'tcp' | 'pid') => beating(LOG, { probes: { ...NO_PROBES, liveness: liveness(kind) } });

  test('are no sign of progress: it is found frozen, and the reason says why', async () => {
    const { clock, sources: heartbeatSources, view, prober } = await running(asked('tcp'));
    heartbeatSources.lines = 'when-asked';
    await clock.advance(60 * SECOND);
    expect(view().heartbeat).toMatchObject({ problem: 'its log has new lines only when its own probes ask it' });
    await clock.advance(15 * SECOND);
    const before = prober.asked.length;
    await clock.advance(10 * SECOND);
    expect(prober.asked).toHaveLength(before); // a line of its own would be seen now
    expect(view().condition).toBeNull();
    await clock.advance(12 * SECOND);
    expect(view()).toMatchObject({ condition: 'frozen' });
    expect(prober.asked.length).toBeGreaterThan(before);
    await clock.advance(20 * SECOND);
    expect(view().last_restart?.reason).toBe(
      'frozen: no heartbeat for 1 min 30 s (its log has new lines only when its own probes ask it)',
    );
  });

  test('do not hide those of its own, even if all of these fell into questions so far', async () => {
    const { clock, sources: heartbeatSources, view, told, prober } = await running(asked('tcp'));
    heartbeatSources.lines = 'own';
    prober.answers.set('tcp', 'hang'); // so that there is a question open all the time
    await clock.advance(30 * SECOND);
    expect(view().heartbeat?.silent_ms).toBeGreaterThan(20_000);
    prober.answers.set('tcp', { outcome: 'pass', message: '' });
    prober.release({ outcome: 'pass', message: '' });
    await clock.advance(15 * 60 * SECOND);
    expect(view()).toMatchObject({ condition: null, restarts: 0 });
    expect(told()).not.toContain('frozen');
  });

  test('are none when a probe does not touch it', async () => {
    const { clock, sources: heartbeatSources, view, prober } = await running(asked('pid'));
    heartbeatSources.lines = 'when-asked';
    await clock.advance(89 * SECOND);
    expect(view().condition).toBeNull();
    await clock.advance(6 * SECOND);
    expect(view().condition).toBe('frozen');
    expect(prober.asked.length).toBeGreaterThanOrEqual(18);
  });
});
