import { describe, expect, test } from 'vitest';
import type { SpawnProblem } from '../../../src/base/pure/exit.ts';
import { exitCode, restartSpec, spec } from '../../support/builders.ts';
import { supervisorWorld as world } from '../../support/supervisor-world.ts';

const FULL: SpawnProblem = { code: 'out-of-resources', message: 'the disk is full (ENOSPC)', heals: true };
const TYPO: SpawnProblem = { code: 'command-not-found', message: 'no such command: "nod"', heals: false };

describe('a fault of the machine', () => {
  test('is never a reason to give up, and is tried again at most 5 s later', async () => {
    const { supervisor, driver, clock, state } = world([spec('api')]);
    driver.problems.set('api', FULL);
    supervisor.up(['api']);
    await clock.advance(600_000);
    expect(state('api')).toBe('backing-off');
    const tries = driver.of('api').length;
    await clock.advance(5_000);
    expect(driver.of('api').length).toBeGreaterThan(tries);
  });

  test('that is over for one is over for all: who waits is tried at once, and so is who gave up meanwhile', async () => {
    const limited = { restart: restartSpec({ limit: { max: 1, withinMs: 60_000, retryMs: 900_000 } }) };
    const { supervisor, driver, clock, state } = world([spec('a'), spec('b'), spec('sick', limited), spec('typo')]);
    for (const name of ['a', 'b']) driver.problems.set(name, FULL);
    driver.problems.set('typo', TYPO);
    supervisor.up(['typo']);
    await clock.advance(300_000);
    expect(state('typo')).toBe('gave-up'); // before the fault: that one has to be corrected
    supervisor.up(['a', 'b', 'sick']);
    await clock.advance(1_000);
    for (let deaths = 0; state('sick') !== 'gave-up' && deaths < 5; deaths++) {
      if (state('sick') === 'running') driver.die('sick', exitCode(1)); // it needs the disk, too
      await clock.advance(20_000);
    }
    expect([state('a'), state('b'), state('sick')]).toEqual(['backing-off', 'backing-off', 'gave-up']);
    driver.problems.clear();
    const typos = driver.of('typo').length;
    supervisor.start(['a']);
    await clock.advance(0);
    expect([state('a'), state('b'), state('sick')]).toEqual(['running', 'running', 'running']);
    expect(driver.of('typo')).toHaveLength(typos);
  });
});
