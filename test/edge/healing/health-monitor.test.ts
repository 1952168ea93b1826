import { expect, test } from 'vitest';
import { silentLog } from '../../../src/base/log.ts';
import { HealthMonitor, type HealthMonitorOptions } from '../../../src/library/health-monitor.ts';
import { startEngine, TestEngine, useEngine } from '../../support/engine.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { NEVER_WELL, runWith, sicken, startedAt, UNLESS_SICK } from './workbench.ts';

const engineFor = useEngine();
const AT_ONCE = { initialMs: 0 };
const LATER = { initialMs: 3_600_000, maxMs: 3_600_000 };

/** One that remembers all states in which it found each container. */
function open(engine: TestEngine, options: HealthMonitorOptions) {
  const seen: string[] = [];
  const monitor = new HealthMonitor({
    docker: engine.socketPath,
    onStatusChange: (_, { state, status }) => seen.push(`${state} ${status}`),
    ...options,
  });
  const until = (id: string, wanted: string) =>
    waitFor(`${wanted}, after ${seen.join(', ')}`, () => {
      const { state, status } = monitor.getHealthStatus(id);
      return `${state} ${status}` === wanted;
    });
  return { monitor, seen, until };
}

test('what falls ill is restarted until it is healthy, and one that was removed is gone', async ({ skip }) => {
  const engine = engineFor(skip);
  const { monitor, seen, until } = open(engine, { restart: { backoff: AT_ONCE } });
  await using _ = monitor;
  const id = await runWith(engine, UNLESS_SICK);
  expect(monitor.getHealthStatus(id)).toMatchObject({ state: 'not-monitored', status: 'unknown', healthy: false });
  monitor.startMonitoring(id);
  monitor.startMonitoring(id);
  expect(monitor.getHealthStatus(id)).toMatchObject({ status: 'unknown', reason: 'not checked yet' });
  await until(id, 'watching healthy');
  const first = await startedAt(engine, id);

  await sicken(engine, id);
  await waitFor('the restart', () => monitor.getHealthStatus(id).restarts === 1);
  await until(id, 'watching healthy');
  expect(monitor.getHealthStatus(id)).toMatchObject({ healthy: true, containerId: id, nextAttemptAt: null });
  expect(await startedAt(engine, id)).not.toBe(first);
  expect(seen).toContain('restarting starting');

  // A death is healed from the same budget as an illness.
  await engine.act(id, 'kill');
  await waitFor('the second restart', () => monitor.getHealthStatus(id).restarts === 2);
  await until(id, 'watching healthy');

  await engine.remove(id);
  await until(id, 'gone unknown');
  expect(monitor.getHealthStatus(id).reason).toBe('the container was removed');
});

test('what stays ill is given up, with the reason, and is told once', async ({ skip }) => {
  const engine = engineFor(skip);
  const gaveUp: [string, string][] = [];
  const errors: string[] = [];
  const { monitor, until } = open(engine, {
    restart: { backoff: AT_ONCE, limit: { max: 1 } },
    onGaveUp: async (id, { reason }) => {
      gaveUp.push([id, reason]);
      throw new Error('the pager is broken'); // unheard of by the process, which would end of it
    },
    log: { ...silentLog, error: (text, fields) => errors.push(`${text}: ${fields?.['error']}`) },
  });
  await using _ = monitor;
  const id = await runWith(engine, NEVER_WELL);
  monitor.startMonitoring(id);
  await until(id, 'gave-up unhealthy');
  const { restarts, nextAttemptAt } = monitor.getHealthStatus(id);
  expect(restarts).toBe(1);
  expect(nextAttemptAt?.getTime()).toBeGreaterThan(Date.now());
  expect(gaveUp).toEqual([
    [id, expect.stringMatching(/^health check failed once: exit 1: no database: gave up: 1 restart in 10 min/)],
  ]);
  expect(errors).toEqual([`a listener of the container ${id} threw: Error: the pager is broken`]);
});

test('what stays ill is removed where that is wanted, after it was told', async ({ skip }) => {
  const engine = engineFor(skip);
  const gaveUp: string[] = [];
  const { monitor, until } = open(engine, {
    restart: { backoff: AT_ONCE, limit: { max: 1 } },
    cleanup: 'remove',
    onGaveUp: (_, { status, reason }) => gaveUp.push(`${status} ${reason}`),
  });
  await using _ = monitor;
  const id = await runWith(engine, NEVER_WELL);
  monitor.startMonitoring(id);
  await until(id, 'gone unknown');
  expect(gaveUp).toEqual([
    expect.stringMatching(/^unhealthy health check failed once: .*: gave up: 1 restart in 10 min/),
  ]);
  expect(monitor.getHealthStatus(id).reason).toMatch(
    /^it could not be saved, and was removed: health check failed once/,
  );
  // It counts as gone as soon as the Engine has begun to remove it.
  await waitFor('it to be removed', async () => {
    const left = JSON.parse(await engine.call('GET', '/containers/json?all=1')) as readonly { readonly Id: string }[];
    return left.every(({ Id }) => Id !== id);
  });
});

test('what is paused is left alone, and so is one without a health check; one that does not exist is said so', async ({
  skip,
}) => {
  const engine = engineFor(skip);
  const { monitor, until } = open(engine, { restart: { backoff: LATER } });
  await using _ = monitor;
  const [ill, plain] = [await runWith(engine, NEVER_WELL), await runWith(engine, null)];
  for (const id of [ill, plain, 'nobody']) monitor.startMonitoring(id);
  await until(ill, 'backing-off unhealthy');
  await engine.act(ill, 'pause');
  await until(ill, 'watching unknown');
  expect(monitor.getHealthStatus(ill)).toMatchObject({ reason: 'it is paused', restarts: 0, nextAttemptAt: null });
  await engine.act(ill, 'unpause');
  await until(ill, 'backing-off unhealthy');
  await until(plain, 'watching none');
  expect(monitor.getHealthStatus(plain).healthy).toBe(true);
  expect(monitor.getHealthStatus('nobody')).toMatchObject({ state: 'gone', reason: 'there is no such container' });
  expect(monitor.getHealthStatus('nobody')).not.toHaveProperty('containerId');
});

test('an Engine that is killed and comes back has no container restarted that lives on', async ({ skip }) => {
  engineFor(skip);
  await using own = await startEngine({ liveRestore: true });
  const engine = new TestEngine(own.socketPath);
  const { monitor, seen, until } = open(engine, { restart: { backoff: AT_ONCE } });
  await using _ = monitor;
  const id = await runWith(engine, UNLESS_SICK);
  monitor.startMonitoring(id);
  await until(id, 'watching healthy');
  const first = await startedAt(engine, id);
  await own.end('SIGKILL');
  await until(id, 'watching unknown');
  const { reason } = monitor.getHealthStatus(id);
  expect(reason).toMatch(/Docker Engine/);
  await own.begin();
  // Not until it is healthy: this Engine forgets health checks when it is restarted, and that is noticed after a while.
  await waitFor('a fresh look', () => monitor.getHealthStatus(id).reason !== reason);
  expect(await startedAt(engine, id)).toBe(first);
  expect(monitor.getHealthStatus(id).restarts).toBe(0);
  expect(new Set(seen)).toEqual(new Set(['watching starting', 'watching healthy', 'watching unknown']));
});

test('without an Engine it is said what to do, and it can be closed', async () => {
  using dir = tempDir();
  const monitor = new HealthMonitor({ docker: dir.at('docker.sock') });
  monitor.startMonitoring('web');
  const { reason } = await waitFor('what is wrong', () => {
    const status = monitor.getHealthStatus('web');
    return status.reason.includes('docker.sock') ? status : null;
  });
  expect(reason).toMatch(/start it/);
  monitor.stopMonitoring('web');
  await monitor.close();
  expect(() => monitor.startMonitoring('web')).toThrow(/closed/);
});
