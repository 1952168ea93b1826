import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ProbeSpec } from '../../../src/supervision/rules/health/probe.ts';
import { NO_PROBES } from '../../../src/supervision/rules/health/probe.ts';
import { type ComponentSpec, NO_LIMITS } from '../../../src/supervision/spec.ts';
import { killedBy, restartSpec, spec } from '../../support/builders.ts';
import { MIB, usageOf } from '../../support/fake-sampler.ts';
import { supervisorWorld } from '../../support/supervisor-world.ts';

const soft = (mib: number): Partial<ComponentSpec> => ({ limits: { ...NO_LIMITS, softMemoryBytes: mib * MIB } });
const SECOND = 1_000;

const open: { supervisor: { close(): void } }[] = [];
afterEach(() => {
  for (const { supervisor } of open.splice(0)) supervisor.close();
});

async function running(...specs: readonly ComponentSpec[]) {
  const world = supervisorWorld(specs);
  open.push(world);
  world.supervisor.up(specs.map(({ name }) => name));
  await world.clock.advance(0);
  const view = (name = 'api') => world.supervisor.views().find((each) => each.name === name)!;
  return { ...world, view };
}

describe('what is sampled', () => {
  test('a running process soon after its start, then every 15 s; with soft_memory every 5 s', async () => {
    const world = await running(spec('api'), spec('db', soft(400)));
    const looks = (name: string) => world.sampler.looked.filter((run) => run.startsWith(`${name}~`)).length;
    expect(looks('api')).toBe(0);
    await world.clock.advance(1_500);
    expect([looks('api'), looks('db')]).toEqual([1, 1]);
    expect([...world.sampler.exact]).toEqual(world.sampler.looked.filter((run) => run.startsWith('db~')));
    const [api, db] = [looks('api'), looks('db')];
    await world.clock.advance(300 * SECOND);
    expect(looks('api') - api).toBeGreaterThanOrEqual(20);
    expect(looks('api') - api).toBeLessThanOrEqual(21);
    expect(looks('db') - db).toBeGreaterThanOrEqual(60);
    expect(looks('db') - db).toBeLessThanOrEqual(61);
  });

  test('five hundred begun together go apart, and do not wake us one by one', async () => {
    const world = await running(...Array.from({ length: 500 }, (_, n) => spec(`c${n}`)));
    await world.clock.advance(31 * SECOND);
    const before = world.sampler.looked.length;
    const perTick: number[] = [];
    for (let tick = 0; tick < 30; tick += 1) {
      const seen = world.sampler.looked.length;
      await world.clock.advance(500);
      perTick.push(world.sampler.looked.length - seen);
    }
    expect(world.sampler.looked.length - before).toBe(500);
    expect(Math.max(...perTick)).toBeLessThan(250);
    expect(perTick.filter((looks) => looks > 0)).toHaveLength(3);
  });

  test('nothing that does not run, and nothing of it is kept', async () => {
    const world = await running(spec('api'));
    await world.clock.advance(40 * SECOND);
    world.supervisor.stop(['api']);
    await world.clock.advance(SECOND);
    const seen = world.sampler.looked.length;
    await world.clock.advance(100 * SECOND);
    expect(world.sampler.looked).toHaveLength(seen);
    expect(world.sampler.forgotten).toEqual([world.sampler.looked[0]]);
    expect(world.view().resources).toBeNull();
  });

  test('a closed supervisor leaves no timer behind', async () => {
    const world = await running(spec('api', soft(1)), spec('db'));
    await world.clock.advance(20 * SECOND);
    world.supervisor.close();
    await world.clock.advance(0);
    expect(world.clock.sleeping).toBe(0);
  });

  test('no other kind of component', async () => {
    const target = { kind: 'pid-file', path: '/run/x.pid' } as const;
    const world = await running(
      spec('api', { driver: { kind: 'external', target, recover: null, cwd: '/', env: {}, envFiles: [] } }),
    );
    await world.clock.advance(40 * SECOND);
    expect(world.state('api')).toBe('running');
    expect(world.sampler.looked).toEqual([]);
  });
});

describe('status', () => {
  test('shows the last sample, CPU since the one before', async () => {
    const world = await running(spec('api', soft(400)));
    expect(world.view().resources).toBeNull();
    await world.clock.advance(1_500);
    expect(world.view().resources).toEqual({
      cpu_percent: null,
      memory_bytes: 40 * MIB,
      soft_memory_bytes: 400 * MIB,
      fds: 23,
      threads: 11,
      processes: 1,
      at: expect.stringMatching(/^2026-01-01T00:00:0/),
    });
    await world.clock.advance(10 * SECOND);
    expect(world.view().resources?.cpu_percent).toBe(0);
    world.sampler.usage = usageOf({ cpuMs: 500, fds: null, processes: 2 });
    await world.clock.advance(5 * SECOND);
    expect(world.view().resources).toMatchObject({ cpu_percent: 10, fds: null, processes: 2 });
  });

  test('a suspended machine voids the CPU of that interval and nothing else', async () => {
    const world = await running(spec('api', soft(400)));
    await world.clock.advance(20 * SECOND);
    world.clock.jumpWall(3_600_000);
    world.sampler.usage = usageOf({ cpuMs: 500 });
    await world.clock.advance(5 * SECOND);
    expect(world.view().resources).toMatchObject({ cpu_percent: null, memory_bytes: 40 * MIB });
    await world.clock.advance(5 * SECOND);
    expect(world.view().resources).toMatchObject({ cpu_percent: 0 });
  });

  test('a run of which nothing can be seen shows nothing', async () => {
    const world = await running(spec('api'));
    await world.clock.advance(2 * SECOND);
    world.sampler.usage = null;
    await world.clock.advance(16 * SECOND);
    expect(world.view().resources).toBeNull();
    expect(world.state('api')).toBe('running');
  });
});

describe('soft_memory', () => {
  const REASON = 'soft_memory: 412 MiB, more than 400 MiB in 3 samples';

  test('three samples above it restart the run gracefully, and it is said why everywhere', async () => {
    const world = await running(spec('api', soft(400)));
    await world.clock.advance(2 * SECOND);
    world.sampler.usage = usageOf({ memoryBytes: 412 * MIB });
    await world.clock.advance(9 * SECOND);
    expect(world.driver.live('api').signals).toEqual([]);
    world.driver.obedient = false;
    await world.clock.advance(5 * SECOND);
    expect(world.driver.live('api').signals).toEqual(['SIGTERM']);
    expect(world.view()).toMatchObject({ state: 'stopping', note: expect.stringContaining(`${REASON}; SIGTERM sent`) });
    world.driver.die('api', killedBy('SIGTERM'));
    await world.clock.advance(0);
    expect(world.view()).toMatchObject({
      state: 'backing-off',
      note: `ended because ${REASON}; restart in 1 s`,
      last_exit: { signal: 'SIGTERM', oom: false, unhealthy: REASON },
    });
    await world.clock.advance(SECOND);
    expect(world.view()).toMatchObject({ state: 'running', restarts: 1, last_restart: { reason: REASON } });
    expect(world.store.why({ component: 'api' })).toMatchObject({
      decision: 'restart in 1 s (1 of 10 in 10 min)',
      exit: { unhealthy: REASON },
      rule: { name: 'backoff', counters: { restarts_in_window: 1, failures: 1 } },
    });
    const told = world.store
      .events({ afterSeq: 0, limit: 100 })
      .find(({ type }) => type === 'component.over-soft-memory');
    expect(told?.data).toEqual({ reason: REASON, used_bytes: 412 * MIB, limit_bytes: 400 * MIB, restarts: true });
  });

  test('a sample below begins the count again', async () => {
    const world = await running(spec('api', soft(400)));
    await world.clock.advance(10 * SECOND);
    for (let round = 0; round < 5; round += 1) {
      world.sampler.usage = usageOf({ memoryBytes: 500 * MIB });
      await world.clock.advance(10 * SECOND);
      world.sampler.usage = usageOf();
      await world.clock.advance(5 * SECOND);
    }
    expect(world.driver.runs).toHaveLength(1);
    expect(world.driver.live('api').signals).toEqual([]);
  });

  test('a new run begins at nought', async () => {
    const world = await running(spec('api', soft(400)));
    world.sampler.usage = usageOf({ memoryBytes: 500 * MIB });
    await world.clock.advance(7 * SECOND);
    world.driver.die('api', killedBy('SIGSEGV'));
    await world.clock.advance(3 * SECOND);
    expect(world.driver.runs).toHaveLength(2);
    await world.clock.advance(5 * SECOND);
    expect(world.driver.live('api').signals).toEqual([]);
  });

  test('is not asked for while the startup probe has not passed', async () => {
    const startup: ProbeSpec = {
      question: { kind: 'tcp', host: '127.0.0.1', port: 80 },
      ...{ periodMs: 10_000, timeoutMs: 1_000, initialDelayMs: 0, failureThreshold: 100, successThreshold: 1 },
    };
    const world = supervisorWorld([spec('api', { ...soft(400), probes: { ...NO_PROBES, startup } })]);
    open.push(world);
    world.prober.otherwise = { outcome: 'fail', message: 'refused' };
    world.sampler.usage = usageOf({ memoryBytes: 500 * MIB });
    world.supervisor.up(['api']);
    await world.clock.advance(60 * SECOND);
    expect(world.driver.live('api').signals).toEqual([]);
    world.prober.otherwise = { outcome: 'pass', message: 'connected' };
    await world.clock.advance(10 * SECOND);
    expect(world.driver.runs).toHaveLength(1);
    await world.clock.advance(15 * SECOND);
    expect(world.driver.runs.length).toBeGreaterThan(1);
  });

  test('neither resets nor escapes the budget: a leak gives up like any other failure, and is tried quietly', async () => {
    const restart = restartSpec({ limit: { max: 2, withinMs: 600_000, retryMs: 900_000 }, backoff: { initialMs: 0 } });
    const world = await running(spec('api', { ...soft(400), restart }));
    world.sampler.usage = usageOf({ memoryBytes: 500 * MIB });
    await world.clock.advance(120 * SECOND);
    expect(world.state('api')).toBe('gave-up');
    expect(world.driver.runs).toHaveLength(3);
    await world.clock.advance(900 * SECOND);
    expect(world.driver.runs).toHaveLength(4);
    expect(world.state('api')).toBe('gave-up');
    expect(world.view().note).toMatch(/^gave up \(quiet-retry-failed\): ended because soft_memory: 500 MiB/);
  });

  test('under the policy never it is told once each time, and the run goes on', async () => {
    const world = await running(spec('api', { ...soft(400), restart: restartSpec({ policy: 'never' }) }));
    const told = () => world.events.filter((event) => event === 'api component.over-soft-memory').length;
    world.sampler.usage = usageOf({ memoryBytes: 500 * MIB });
    await world.clock.advance(120 * SECOND);
    expect([told(), world.state('api')]).toEqual([1, 'running']);
    world.sampler.usage = usageOf();
    await world.clock.advance(10 * SECOND);
    world.sampler.usage = usageOf({ memoryBytes: 500 * MIB });
    await world.clock.advance(60 * SECOND);
    expect([told(), world.state('api'), world.driver.live('api').signals]).toEqual([2, 'running', []]);
  });

  test('a limit that is given, raised or taken away counts from then on, without a restart', async () => {
    const world = await running(spec('api'));
    world.sampler.usage = usageOf({ memoryBytes: 500 * MIB });
    await world.clock.advance(60 * SECOND);
    world.supervisor.apply([spec('api', soft(600))], false);
    await world.clock.advance(60 * SECOND);
    expect(world.driver.runs).toHaveLength(1);
    world.supervisor.apply([spec('api', soft(400))], false);
    await world.clock.advance(16 * SECOND);
    expect(world.driver.runs[0]?.signals).toEqual(['SIGTERM']);
    world.supervisor.apply([spec('api')], false);
    await world.clock.advance(60 * SECOND);
    expect(world.driver.runs).toHaveLength(2);
  });
});

describe('the history', () => {
  const samples = (world: Awaited<ReturnType<typeof running>>, since?: number) =>
    world.supervisor.samples({
      component: 'api',
      limit: 100,
      ...(since === undefined ? {} : { since: since as never }),
    });

  test('can be asked for at once, also for what is not written yet', async () => {
    const world = await running(spec('api'));
    expect(samples(world)).toEqual([]);
    await world.clock.advance(20 * SECOND);
    const count = world.sampler.looked.length;
    expect(samples(world)).toMatchObject([{ component: 'api', count, memoryBytes: 40 * MIB }]);
    expect(world.store.samples({ component: 'api', limit: 100 })).toEqual([]);
    await world.clock.advance(600 * SECOND);
    expect(samples(world)).toHaveLength(1);
    expect(samples(world)[0]?.count).toBeGreaterThan(40);
    expect(world.store.samples({ component: 'api', limit: 100 })).toHaveLength(1);
    expect(samples(world, world.clock.wallNow() + 1)).toEqual([]);
    expect(world.supervisor.samples({ component: 'nobody', limit: 100 })).toEqual([]);
  });

  test('has the end of a run, and all of it once the daemon has ended', async () => {
    const world = await running(spec('api'));
    await world.clock.advance(20 * SECOND);
    const count = world.sampler.looked.length;
    world.driver.die('api', killedBy('SIGKILL'));
    world.sampler.usage = usageOf({ memoryBytes: 70 * MIB });
    await world.clock.advance(20 * SECOND);
    world.supervisor.close();
    expect(world.store.samples({ component: 'api', limit: 100 })).toMatchObject([
      { memoryBytes: 70 * MIB },
      { memoryBytes: 40 * MIB, count },
    ]);
  });

  test('has nothing of a look that took longer than the run', async () => {
    const world = await running(spec('api'));
    let release = () => {};
    world.sampler.held = new Promise((resolve) => {
      release = resolve;
    });
    await world.clock.advance(2 * SECOND);
    expect(world.sampler.looked).toHaveLength(1);
    world.supervisor.stop(['api']);
    await world.clock.advance(SECOND);
    release();
    await world.clock.advance(180 * SECOND);
    world.supervisor.close();
    expect(world.store.samples({ component: 'api', limit: 100 })).toEqual([]);
  });

  test('of five hundred idle components costs a transaction a minute', async () => {
    const world = await running(...Array.from({ length: 500 }, (_, n) => spec(`c${n}`)));
    await world.clock.advance(61 * SECOND);
    const commit = vi.spyOn(world.store, 'commit');
    await world.clock.advance(600 * SECOND);
    expect(commit.mock.calls.length).toBeLessThanOrEqual(11);
  });
});
