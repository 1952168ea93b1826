import { describe, expect, test } from 'vitest';
import type { RunId } from '../../../src/base/pure/ids.ts';
import { openMemoryStore } from '../../../src/history/memory.ts';
import {
  type Answer,
  NO_PROBES,
  type ProbeSpec,
  type ProbesSpec,
} from '../../../src/supervision/rules/health/probe.ts';
import type { ComponentSpec } from '../../../src/supervision/spec.ts';
import { restartSpec, spec } from '../../support/builders.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { FAIL, PASS, UNSURE } from '../../support/fake-prober.ts';
import { supervisorWorld } from '../../support/supervisor-world.ts';

const probe = (over: Partial<ProbeSpec> = {}): ProbeSpec => ({
  question: { kind: 'http', scheme: 'http', host: '127.0.0.1', port: 8080, path: '/healthz', ...HTTP },
  periodMs: 10_000,
  timeoutMs: 1_000,
  initialDelayMs: 0,
  failureThreshold: 3,
  successThreshold: 1,
  ...over,
});
const HTTP = { method: 'GET', headers: {}, status: null, contains: null, insecure: false } as const;
const pid = probe({ question: { kind: 'pid' } });
const tcp: Partial<ProbeSpec> = { question: { kind: 'tcp', host: '127.0.0.1', port: 80 } };
const asked = (probes: Partial<ProbesSpec>, over: Partial<ComponentSpec> = {}): ComponentSpec =>
  spec('api', { probes: { ...NO_PROBES, ...probes }, ...over });

interface Past {
  readonly clock?: FakeClock;
  readonly store?: ReturnType<typeof openMemoryStore>;
  /** What every question is answered with at first. */
  readonly first?: Answer;
}

async function up(specs: readonly ComponentSpec[], { clock, store, first = PASS }: Past = {}) {
  const world = supervisorWorld(specs, clock, store);
  world.prober.otherwise = first;
  world.supervisor.up(specs.map(({ name }) => name));
  await world.clock.advance(0);
  const view = (name = 'api') => world.supervisor.views().find((each) => each.name === name)!;
  return { ...world, view };
}

describe('liveness', () => {
  test('a component that stops answering is restarted after its threshold, with the reason', async () => {
    const { clock, driver, prober, view, store } = await up([asked({ liveness: probe() })]);
    await clock.advance(2_000);
    expect(view()).toMatchObject({ health: 'healthy', ready: true });
    prober.answers.set('http', FAIL);
    await clock.advance(20_000);
    expect(driver.of('api')).toHaveLength(1);
    expect(view().probes).toMatchObject([{ role: 'liveness', failures: 2, failure_threshold: 3, verdict: 'pass' }]);
    await clock.advance(12_000);
    expect(driver.of('api')).toHaveLength(2);
    const reason = 'liveness http :8080/healthz failed 3 times: HTTP 503';
    expect(view().last_restart?.reason).toBe(reason);
    const crash = store.why({ component: 'api' });
    expect(crash).toMatchObject({ root_cause: reason, rule: { name: 'backoff' } });
    expect(crash?.probes).toMatchObject([
      { role: 'liveness', outcome: 'pass', message: 'fine' },
      { role: 'liveness', outcome: 'fail', count: 3, message: 'HTTP 503' },
    ]);
  });

  test('what cannot be asked is never held against it, but it is said', async () => {
    const { clock, driver, prober, view } = await up([asked({ liveness: probe() })]);
    prober.answers.set('http', UNSURE);
    await clock.advance(3_600_000);
    expect(driver.of('api')).toHaveLength(1);
    expect(view().note).toBe('liveness http :8080/healthz: too many open files');
  });

  test('an answer that arrives when we were not awake is void', async () => {
    const { clock, driver, prober, stalls, view } = await up([asked({ liveness: probe() })]);
    await clock.advance(2_000);
    prober.answers.set('http', FAIL);
    stalls.sleptMs = 60_000;
    await clock.advance(600_000);
    expect(driver.of('api')).toHaveLength(1);
    expect(view().probes[0]?.failures).toBe(0);
    stalls.sleptMs = 0;
    await clock.advance(35_000);
    expect(driver.of('api').length).toBeGreaterThan(1);
  });

  test('at most one question is open, and the answer of an earlier run means nothing to the next', async () => {
    const { clock, driver, prober, supervisor } = await up([asked({ liveness: probe({ failureThreshold: 1 }) })]);
    prober.answers.set('http', 'hang');
    await clock.advance(60_000);
    expect(prober.asked).toHaveLength(1);
    supervisor.restart(['api']);
    await clock.advance(0);
    prober.answers.set('http', PASS);
    prober.release(FAIL);
    await clock.advance(60_000);
    expect(driver.of('api')).toHaveLength(2);
  });

  test('restarts for health and for crashes share one budget', async () => {
    const restart = restartSpec({ limit: { max: 2, retryMs: null }, backoff: { initialMs: 0, maxMs: 0 } });
    const { clock, driver, prober, view } = await up([asked({ liveness: probe({ periodMs: 1_000 }) }, { restart })]);
    driver.die('api', { kind: 'code', code: 1, ambiguous: false });
    await clock.advance(0);
    prober.answers.set('http', FAIL);
    await clock.advance(10_000);
    expect(driver.of('api')).toHaveLength(3);
    expect(view()).toMatchObject({ state: 'gave-up', health: 'unhealthy' });
  });

  test('nothing is asked while it is being stopped, and nothing stays open', async () => {
    const { clock, driver, prober, supervisor } = await up([asked({ liveness: probe(), readiness: probe(tcp) })]);
    await clock.advance(2_000);
    driver.obedient = false;
    supervisor.stop(['api']);
    const before = prober.asked.length;
    await clock.advance(9_000);
    expect(prober.asked).toHaveLength(before);
    expect(prober.opened.size).toBe(0);
  });
});

describe('startup', () => {
  test('a slow start is not restarted, and the other probes wait for it', async () => {
    const startup = probe({ ...tcp, periodMs: 1_000, failureThreshold: 30 });
    const { clock, driver, prober, view } = await up([asked({ startup, liveness: probe(), readiness: probe() })], {
      first: FAIL,
    });
    await clock.advance(25_000);
    expect(view()).toMatchObject({ health: 'starting', ready: false, note: 'startup tcp :80: HTTP 503' });
    expect(prober.asked.filter((each) => each === 'api http')).toEqual([]);
    prober.answers.set('tcp', PASS);
    prober.answers.set('http', PASS);
    await clock.advance(3_000);
    expect(view()).toMatchObject({ health: 'healthy', ready: true, restarts: 0 });
    expect(view().probes.map(({ role }) => role)).toEqual(['liveness', 'readiness']);
    expect(driver.of('api')).toHaveLength(1);
  });

  test('one that never comes up is restarted after its threshold', async () => {
    const startup = probe({ periodMs: 1_000, failureThreshold: 5 });
    const { clock, driver } = await up([asked({ startup })], { first: FAIL });
    await clock.advance(4_900);
    expect(driver.of('api')).toHaveLength(1);
    await clock.advance(2_000);
    expect(driver.of('api')).toHaveLength(2);
  });
});

describe('readiness', () => {
  test('that flaps never restarts anything', async () => {
    const specs = [asked({ readiness: probe({ periodMs: 1_000 }) })];
    const { clock, driver, prober, view, events } = await up(specs, { first: FAIL });
    for (let n = 0; n < 100; n += 1) {
      prober.answers.set('http', n % 2 === 0 ? FAIL : PASS);
      await clock.advance(5_000);
      expect(view().ready).toBe(n % 2 === 1);
    }
    expect(driver.of('api')).toHaveLength(1);
    expect(events.filter((each) => each === 'api component.not-ready')).toHaveLength(49);
    expect(events.filter((each) => each === 'api component.ready')).toHaveLength(50);
  });

  test('is what dependents wait for', async () => {
    const web = spec('web', { dependsOn: { api: 'ready' } as ComponentSpec['dependsOn'] });
    const world = supervisorWorld([asked({ readiness: probe() }), web]);
    world.prober.answers.set('http', FAIL);
    world.supervisor.up(['api', 'web']);
    await world.clock.advance(5_000);
    expect(world.driver.liveNames).toEqual(['api']);
    world.prober.answers.set('http', PASS);
    await world.clock.advance(1_000);
    expect(world.driver.liveNames).toEqual(['api', 'web']);
  });

  test('comes at once when there is news', async () => {
    const readiness = probe({ question: { kind: 'log', pattern: 'ready' } });
    const { clock, prober, view } = await up([asked({ readiness })]);
    prober.answers.set('log', FAIL);
    await clock.advance(4_100);
    prober.answers.set('log', PASS);
    prober.news();
    await clock.advance(0);
    expect(view().ready).toBe(true);
  });
});

describe('crash patterns', () => {
  test('each hit is one failed liveness answer', async () => {
    const { clock, driver, prober, view } = await up([asked({ liveness: pid }, { crashPatterns: ['panic:'] })]);
    await clock.advance(2_000);
    const hit = () => prober.watched[0]?.hit({ pattern: 'panic:', line: 'panic: out of luck' });
    hit();
    hit();
    await clock.advance(0);
    expect(driver.of('api')).toHaveLength(1);
    hit();
    await clock.advance(2_000);
    expect(driver.of('api')).toHaveLength(2);
    expect(view().last_restart?.reason).toBe('liveness pid failed 3 times: crash pattern "panic:": panic: out of luck');
  });

  test('old hits are forgiven by the passes in between', async () => {
    const { clock, driver, prober } = await up([asked({ liveness: pid }, { crashPatterns: ['panic:'] })]);
    for (let n = 0; n < 10; n += 1) {
      prober.watched[0]?.hit({ pattern: 'panic:', line: 'panic: a little' });
      await clock.advance(11_000);
    }
    expect(driver.of('api')).toHaveLength(1);
  });
});

test('a change of the probes does not look at old lines again', async () => {
  const crashPatterns = ['panic:'];
  const { clock, prober, supervisor, written } = await up([asked({ liveness: pid }, { crashPatterns })]);
  expect(prober.watched.map(({ target }) => target.logFrom)).toEqual([0]);
  written.bytes = 500;
  supervisor.apply([asked({ liveness: { ...pid, periodMs: 5_000 } }, { crashPatterns })]);
  await clock.advance(0);
  expect(prober.watched.map(({ target }) => target.logFrom)).toEqual([500]);
});

describe('a daemon that comes back', () => {
  test('knows what was ready, goes on asking somewhere within the period, and restarts nothing', async () => {
    const clock = new FakeClock();
    const store = openMemoryStore({ clock });
    const specs = [asked({ liveness: probe(), readiness: probe(tcp) })];
    const first = await up(specs, { clock, store });
    await clock.advance(2_000);
    const { run_id } = first.view();
    first.supervisor.close();
    const second = supervisorWorld(specs, clock, store);
    await clock.advance(0);
    expect(second.driver.adopted).toEqual([run_id as RunId]);
    const [view] = second.supervisor.views();
    expect(view).toMatchObject({ ready: true, health: 'healthy', adopted: true });
    expect(second.prober.asked).toEqual([]);
    await clock.advance(11_000);
    expect(second.prober.asked.length).toBeGreaterThanOrEqual(2);
    expect(second.driver.runs).toEqual([]);
  });
});

describe('the configuration', () => {
  test('of probes takes hold without a restart', async () => {
    const { clock, driver, prober, supervisor, view } = await up([asked({ readiness: probe() })]);
    prober.answers.set('http', FAIL);
    await clock.advance(20_000);
    supervisor.apply([asked({ readiness: probe(tcp) })]);
    await clock.advance(100);
    expect(view()).toMatchObject({ ready: true });
    expect(view().probes.map(({ question }) => question)).toEqual(['tcp :80']);
    supervisor.apply([asked({})]);
    await clock.advance(100);
    expect(view()).toMatchObject({ ready: true, probes: [] });
    expect(prober.opened.size).toBe(0);
    expect(driver.of('api')).toHaveLength(1);
  });
});

test('the timeline is written in batches, as stretches', async () => {
  const { clock, prober, store, supervisor } = await up([asked({ liveness: probe({ periodMs: 100 }) })]);
  await clock.advance(30_000);
  prober.answers.set('http', UNSURE);
  await clock.advance(1_000);
  supervisor.close();
  const probes = store.probes({ component: 'api', limit: 10 });
  expect(probes).toMatchObject([{ outcome: 'inconclusive' }, { outcome: 'pass', question: 'http :8080/healthz' }]);
  expect(probes[1]!.count).toBeGreaterThan(250);
});
