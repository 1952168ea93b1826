/** Who counts as well: with a heartbeat only who has been heard in this run. */
import { afterEach, describe, expect, test } from 'vitest';
import type { HeartbeatSource } from '../../../src/supervision/rules/freeze/heartbeat.ts';
import type { ComponentSpec } from '../../../src/supervision/spec.ts';
import { spec } from '../../support/builders.ts';
import { supervisorWorld } from '../../support/supervisor-world.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const PING: HeartbeatSource = { kind: 'ping' };
const FILE: HeartbeatSource = { kind: 'file', path: '/state.json', field: null };
const beating = (source: HeartbeatSource): ComponentSpec =>
  spec('api', { heartbeat: { source, freezeAfterMs: 5 * MINUTE, dumpSignal: null } });

const open: { supervisor: { close(): void } }[] = [];
afterEach(() => {
  for (const { supervisor } of open.splice(0)) supervisor.close();
});

async function running(aSpec: ComponentSpec) {
  const world = supervisorWorld([aSpec]);
  open.push(world);
  world.supervisor.up(['api']);
  await world.clock.advance(0);
  return { ...world, standing: () => world.supervisor.snapshots()[0]! };
}

test('without a heartbeat it is well as soon as it runs, for as long as it does', async () => {
  const { clock, standing } = await running(spec('api'));
  await clock.advance(30 * SECOND);
  expect(standing()).toMatchObject({ name: 'api', state: 'running', isWell: true, upMs: 30 * SECOND });
});

describe('with a heartbeat', () => {
  test.each([PING, FILE])('by $kind it is not well before it was heard', async (source) => {
    const { clock, standing, supervisor, sources: heartbeatSources } = await running(beating(source));
    await clock.advance(4 * MINUTE);
    expect(standing()).toMatchObject({ state: 'running', isWell: false, upMs: 0 });
    if (source.kind === 'ping') supervisor.beat('api');
    else heartbeatSources.mark = 'first';
    await clock.advance(5 * SECOND);
    expect(standing().isWell).toBe(true);
    expect(standing().upMs).toBeGreaterThanOrEqual(4 * MINUTE);
  });

  test('it is known to go on until its last beat, and no longer', async () => {
    const { clock, standing, supervisor } = await running(beating(PING));
    await clock.advance(2 * SECOND);
    supervisor.beat('api');
    await clock.advance(4 * MINUTE);
    expect(standing()).toMatchObject({ isWell: true, upMs: 2 * SECOND });
  });

  test('a beat of the run before does not count after a restart', async () => {
    const { clock, standing, supervisor, driver, state } = await running(beating(PING));
    await clock.advance(MINUTE);
    supervisor.beat('api');
    expect(standing().isWell).toBe(true);
    await clock.advance(6 * MINUTE); // it is frozen, ended, and started again
    expect([driver.of('api').length, state('api')]).toEqual([2, 'running']);
    expect(standing()).toMatchObject({ isWell: false, upMs: 0 });
    supervisor.beat('api');
    expect(standing().isWell).toBe(true);
  });

  test('it is not well while it is frozen', async () => {
    const { clock, standing, supervisor } = await running(beating(PING));
    await clock.advance(MINUTE);
    supervisor.beat('api');
    await clock.advance(5 * MINUTE + 6 * SECOND);
    expect(standing()).toMatchObject({ state: 'running', isWell: false });
  });
});
