import { describe, expect, test } from 'vitest';
import type { ComponentSpec, DependencyCondition } from '../../../src/supervision/spec.ts';
import { exitCode, restartSpec, spec } from '../../support/builders.ts';
import { supervisorWorld as world } from '../../support/supervisor-world.ts';

const needs = (
  name: string,
  dependencies: Record<string, DependencyCondition>,
  over: Partial<ComponentSpec> = {},
): ComponentSpec => spec(name, { dependsOn: dependencies as ComponentSpec['dependsOn'], ...over });

const CHAIN = [spec('db'), needs('api', { db: 'ready' }), needs('web', { api: 'started' })];

describe('starting', () => {
  test('goes in dependency order and waits for each condition', async () => {
    const { supervisor, driver, clock } = world(CHAIN);
    supervisor.up(['db', 'api', 'web']);
    expect(driver.liveNames).toEqual(['db']);
    await clock.advance(0);
    expect(driver.liveNames).toEqual(['db', 'api', 'web']);
  });

  test('brings what is named and what it depends on, and nothing else', async () => {
    const { supervisor, driver, clock } = world(CHAIN);
    expect(supervisor.up(['api'])).toEqual(['db', 'api']);
    await clock.advance(0);
    expect(driver.liveNames).toEqual(['db', 'api']);
  });

  test('a dependency that must complete is waited for', async () => {
    const once = spec('migrate', { restart: restartSpec({ policy: 'on-failure' }) });
    const { supervisor, driver, clock, state } = world([once, needs('api', { migrate: 'completed' })]);
    supervisor.up(['api']);
    await clock.advance(0);
    expect(state('api')).toBe('waiting');
    driver.die('migrate', exitCode(0));
    await clock.advance(0);
    expect([state('migrate'), state('api')]).toEqual(['completed', 'running']);
  });

  test('an unknown name changes nothing at all', () => {
    const { supervisor, driver } = world(CHAIN);
    expect(() => supervisor.start(['db', 'apj'])).toThrow(/no component "apj".*Did you mean "api"/);
    expect(driver.liveNames).toEqual([]);
  });
});

describe('stopping', () => {
  test('goes in reverse order: nobody loses what it depends on first', async () => {
    const { supervisor, driver, clock } = world(CHAIN);
    supervisor.up(['web']);
    await clock.advance(0);
    driver.obedient = false;
    supervisor.stop(['db', 'api', 'web']);
    const signalled = () =>
      driver.runs.filter(({ signals }) => signals.length > 0).map(({ launch }) => launch.component);
    expect(signalled()).toEqual(['web']);
    driver.die('web', exitCode(0));
    expect(signalled()).toEqual(['api', 'web']);
    driver.die('api', exitCode(0));
    expect(signalled()).toEqual(['db', 'api', 'web']);
  });

  test('also across a job that has long completed', async () => {
    const once = needs('migrate', { db: 'ready' }, { restart: restartSpec({ policy: 'on-failure' }) });
    const { supervisor, driver, clock, state } = world([spec('db'), once, needs('api', { migrate: 'completed' })]);
    supervisor.up(['api']);
    await clock.advance(0);
    driver.die('migrate', exitCode(0));
    await clock.advance(0);
    driver.obedient = false;
    supervisor.stop(['db', 'migrate', 'api']);
    expect([state('db'), state('migrate'), state('api')]).toEqual(['running', 'stopped', 'stopping']);
    driver.die('api', exitCode(0));
    expect(state('db')).toBe('stopping');
  });

  test('what ignores its signal is killed after the grace', async () => {
    const { supervisor, driver, clock, state } = world([spec('a')]);
    supervisor.up(['a']);
    await clock.advance(0);
    driver.obedient = false;
    supervisor.stop(['a']);
    await clock.advance(9_999);
    expect(driver.live('a').killed).toBe(false);
    await clock.advance(1);
    expect(state('a')).toBe('stopped');
  });

  test('what dies while its stop is pending is not started again', async () => {
    const { supervisor, driver, clock, state } = world(CHAIN);
    supervisor.up(['web']);
    await clock.advance(0);
    driver.obedient = false;
    supervisor.stop(['db', 'api', 'web']);
    driver.die('db', exitCode(1));
    await clock.advance(120_000);
    expect(driver.of('db').length).toBe(1);
    expect(state('db')).toBe('stopped');
  });

  test('a stopped component stays stopped when a new daemon opens the same records', async () => {
    const first = world(CHAIN);
    first.supervisor.up(['db', 'api', 'web']);
    await first.clock.advance(0);
    first.supervisor.stop(['web']);
    await first.clock.advance(0);
    await first.supervisor.shutDown();
    const second = world(CHAIN, first.clock, first.store);
    await second.clock.advance(0);
    expect(second.driver.liveNames).toEqual(['db', 'api']);
  });

  test('shutting down refuses new starts and leaves no alarm behind', async () => {
    const { supervisor, driver, clock } = world(CHAIN);
    supervisor.up(['web']);
    await clock.advance(0);
    await supervisor.shutDown();
    expect(driver.liveNames).toEqual([]);
    expect(() => supervisor.start(['db'])).toThrow(/shutting down/);
    supervisor.close();
    expect(clock.sleeping).toBe(0);
  });
});

describe('restarting', () => {
  test('a crash is restarted after its backoff, and the record is released once written', async () => {
    const { supervisor, driver, clock, store } = world([spec('a')]);
    supervisor.up(['a']);
    await clock.advance(0);
    driver.die('a', exitCode(7));
    expect(driver.runs[0]!.released).toBe(true);
    await clock.advance(999);
    expect(driver.of('a').length).toBe(1);
    await clock.advance(1);
    expect(driver.of('a').length).toBe(2);
    expect(store.crashes({})).toMatchObject([
      { subject: { name: 'a' }, exit: { code: 7 }, decision: 'restart in 1 s (1 of 10 in 10 min)' },
    ]);
  });

  test('what others started and ended is watched again, and was not restarted', async () => {
    const target = { kind: 'pid-file', path: '/run/x.pid' } as const;
    const { supervisor, driver, clock, state } = world([
      spec('a', { driver: { kind: 'external', target, recover: null, cwd: '/', env: {}, envFiles: [] } }),
    ]);
    supervisor.up(['a']);
    await clock.advance(0);
    driver.die('a', exitCode(1));
    await clock.advance(0);
    expect(driver.of('a').length).toBe(2);
    expect(state('a')).toBe('running');
    expect(supervisor.views()[0]).toMatchObject({ restarts: 0, last_restart: null, last_exit: { code: 1 } });
  });

  test('a crash loop gives up after its limit and retries quietly', async () => {
    const { supervisor, driver, clock, state } = world([
      spec('a', { restart: restartSpec({ backoff: { initialMs: 0 } }) }),
    ]);
    supervisor.up(['a']);
    await clock.advance(0);
    for (let i = 0; i < 11; i++) {
      driver.die('a', exitCode(1));
      await clock.advance(0);
    }
    expect(driver.of('a').length).toBe(11);
    expect(state('a')).toBe('gave-up');
    await clock.advance(900_000);
    expect(driver.of('a').length).toBe(12);
    driver.die('a', exitCode(1));
    await clock.advance(0);
    expect(state('a')).toBe('gave-up');
  });

  test('dependents are restarted after recovery only when asked for', async () => {
    const db = spec('db', { restart: restartSpec({ dependents: true }) });
    const { supervisor, driver, clock } = world([db, needs('api', { db: 'ready' }), spec('other')]);
    supervisor.up(['api', 'other']);
    await clock.advance(0);
    driver.die('db', exitCode(1));
    await clock.advance(1_000);
    expect(driver.of('api').length).toBe(2);
    expect(driver.of('other').length).toBe(1);
  });

  test('a wall clock that jumps a year restarts nothing', async () => {
    const { supervisor, driver, clock } = world(CHAIN);
    supervisor.up(['web']);
    await clock.advance(0);
    for (const years of [1, -2, 1]) {
      clock.jumpWall(years * 365 * 86_400_000);
      await clock.advance(1_000_000);
    }
    expect(driver.runs.length).toBe(3);
  });

  test('a crash a day for a year leaves nothing growing', async () => {
    const { supervisor, driver, clock } = world([spec('a')]);
    supervisor.up(['a']);
    await clock.advance(0);
    for (let day = 0; day < 365; day++) {
      await clock.advance(900_000); // well for long enough to be forgiven, and the rest of the day is the same
      driver.die('a', exitCode(1));
    }
    await clock.advance(1_000);
    expect(driver.of('a').length).toBe(366);
    expect(clock.sleeping).toBeLessThanOrEqual(2); // the next look at what it uses, and the next batch of what was seen
  });
});

describe('following the configuration', () => {
  const command = (name: string, ...argv: string[]) =>
    spec(name, { driver: { kind: 'process', command: argv, shell: false, cwd: '/', env: {}, envFiles: [] } });
  test('touches only what changed', async () => {
    const { supervisor, driver, clock } = world([command('a', 'x'), command('b', 'x'), command('c', 'x')]);
    supervisor.up(['a', 'b', 'c']);
    await clock.advance(0);
    const applied = supervisor.apply([command('a', 'x'), command('b', 'y'), command('d', 'x')]);
    await clock.advance(0);
    expect(applied).toMatchObject({
      ...{ added: ['d'], changed: ['b'], restarted: ['b'], removed: ['c'], unchanged: ['a'] },
    });
    expect(driver.of('a').length).toBe(1);
    expect(driver.of('b').map(({ launch }) => launch.kind === 'process' && launch.command)).toEqual([['x'], ['y']]);
    expect(driver.liveNames).toEqual(['a', 'b']);
    expect(supervisor.views().map(({ name }) => name)).toEqual(['a', 'b', 'd']);
  });

  test('a new restart policy takes hold without a restart', async () => {
    const { supervisor, driver, clock, state } = world([spec('a')]);
    supervisor.up(['a']);
    await clock.advance(0);
    supervisor.apply([spec('a', { restart: restartSpec({ policy: 'never' }) })]);
    await clock.advance(0);
    expect(driver.of('a').length).toBe(1);
    driver.die('a', exitCode(1));
    expect(state('a')).toBe('gave-up');
  });
});

test('five hundred deaths at once are all handled and all restarted', async () => {
  const names = Array.from({ length: 500 }, (_, i) => `c${i}`);
  const { supervisor, driver, clock } = world(names.map((name) => spec(name)));
  supervisor.up(names);
  await clock.advance(0);
  for (const name of names) driver.die(name, exitCode(1));
  await clock.advance(1_000);
  expect(driver.runs.length).toBe(1_000);
  expect(driver.liveNames.length).toBe(500);
});

describe('a dependency of which nothing is known', () => {
  test('brings nobody up, restarts nobody that runs, and is waited for', async () => {
    const restart = restartSpec({ policy: 'always' });
    const specs = [spec('db'), needs('api', { db: 'ready' }, { restart }), needs('job', { db: 'ready' }, { restart })];
    const { supervisor, driver, clock, state } = world(specs);
    supervisor.up(['api', 'job']);
    await clock.advance(0);
    driver.live('db').report({ kind: 'held', why: 'the Docker Engine does not answer' });
    await clock.advance(0);
    expect(supervisor.views()[0]).toMatchObject({ health: 'unknown', ready: false, unknown_since: expect.any(String) });
    driver.die('job', exitCode(1));
    await clock.advance(600_000);
    expect([state('db'), state('api'), state('job')]).toEqual(['running', 'running', 'waiting']);
    expect([driver.of('api').length, driver.of('job').length]).toEqual([1, 1]);
    driver.live('db').report({ kind: 'held', why: null });
    await clock.advance(0);
    expect([state('db'), state('api'), state('job')]).toEqual(['running', 'running', 'running']);
    expect(driver.of('api').length).toBe(1);
  });

  test('is told with the reason and since when, also when only its health check says nothing any more', async () => {
    const { supervisor, driver, clock } = world([spec('db')]);
    supervisor.up(['db']);
    await clock.advance(0);
    driver
      .live('db')
      .report({ kind: 'docker-health', verdict: { status: 'unknown', reason: 'its check has not run' } });
    await clock.advance(90_000);
    const since = new Date(clock.wallNow() - 90_000).toISOString();
    const told = {
      health: 'unknown',
      ready: false,
      unknown_since: since,
      note: 'unknown for 1 min 30 s: its check has not run',
    };
    expect(supervisor.views()).toMatchObject([{ state: 'running', condition: null, ...told }]);
    driver.live('db').report({ kind: 'docker-health', verdict: { status: 'healthy', reason: '' } });
    await clock.advance(0);
    expect(supervisor.views()).toMatchObject([{ health: 'healthy', ready: true, unknown_since: null, note: null }]);
  });
});

describe('an image that was built anew', () => {
  test('restarts who runs with the old one, and those only; what depends on them is asked as well', async () => {
    const { supervisor, driver, clock } = world([spec('db'), needs('api', { db: 'ready' }), spec('web')]);
    supervisor.up(['api', 'web']);
    await clock.advance(0);
    driver.outdated.add('db').add('web');
    expect(await supervisor.outdated(['api'])).toEqual(['db']);
    supervisor.renew(['db']);
    await clock.advance(0);
    expect(['db', 'api', 'web'].map((name) => driver.of(name).length)).toEqual([2, 1, 1]);
  });
});
