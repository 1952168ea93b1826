import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { MonoMs, WallMs } from '../../../src/base/pure/ids.ts';
import { createStallWatch } from '../../../src/base/stall-watch.ts';
import { bundle } from '../../support/bundle.ts';

test('a stall is known at once, before the timer that would have noticed it, and forgotten by what began later', () => {
  let now = 1_000;
  using stalls = createStallWatch({ now: () => now as MonoMs, wallNow: () => (1_000_000 + now) as WallMs });
  using _attention = stalls.attend();
  now += 700; // and no timer has fired, because the loop had no turn
  expect(stalls.longestSince(1_000 as MonoMs)).toBe(600);
  now += 1;
  expect(stalls.longestSince(1_000 as MonoMs)).toBe(600);
  expect(stalls.longestSince(now as MonoMs)).toBe(0);
});

test('a jump of the wall clock, or a machine that slept, counts like a stall', () => {
  let [now, wall] = [1_000, 1_000_000];
  using stalls = createStallWatch({ now: () => now as MonoMs, wallNow: () => wall as WallMs });
  using _attention = stalls.attend();
  now += 130;
  wall += 3_600_130;
  expect(stalls.longestSince(1_000 as MonoMs)).toBeGreaterThan(3_000_000);
  expect(stalls.latestSince(1_000 as MonoMs)).toBe(30); // this process itself was not held up
});

test('whoever begins to wait after a quiet time is not told that the quiet was a stall', () => {
  let now = 1_000;
  using stalls = createStallWatch({ now: () => now as MonoMs, wallNow: () => (1_000_000 + now) as WallMs });
  now += 3_000;
  using _attention = stalls.attend();
  now += 90;
  expect(stalls.longestSince(4_000 as MonoMs)).toBe(0);
});

test('a process that was held up while nobody waited for anything says so once it is awake', () => {
  let now = 1_000;
  using stalls = createStallWatch({ now: () => now as MonoMs, wallNow: () => (1_000_000 + now) as WallMs });
  now += 60_000;
  expect(stalls.latestSince(1_000 as MonoMs)).toBeGreaterThan(50_000);
});

test('its timer does not keep a program alive', async () => {
  const program = await bundle('test/fixtures/stalls/watch.ts');
  using _ = { [Symbol.dispose]: program.remove };
  const child = spawn(process.execPath, [program.path]);
  expect(await once(child, 'exit')).toEqual([0, null]);
});
