import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { MonoMs, WallMs } from '../../../src/core/ids.ts';
import { createStallWatch } from '../../../src/daemon/stall-watch.ts';
import { systemClock } from '../../../src/supervisor/system-clock.ts';

const block = (ms: number) => {
  for (const until = performance.now() + ms; performance.now() < until; );
};
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('a stall is known at once, before the timer that would have noticed it, and forgotten by what began later', async () => {
  using stalls = createStallWatch(systemClock);
  const before = systemClock.now();
  await turn();
  block(700);
  expect(stalls.longestSince(before)).toBeGreaterThan(400);
  const after = systemClock.now();
  expect(stalls.longestSince(before)).toBeGreaterThan(400);
  expect(stalls.longestSince(after)).toBeLessThan(400);
});

test('a jump of the wall clock, or a machine that slept, counts like a stall', () => {
  let [now, wall] = [1_000, 1_000_000];
  using stalls = createStallWatch({ now: () => now as MonoMs, wallNow: () => wall as WallMs });
  now += 130;
  wall += 3_600_130;
  expect(stalls.longestSince(1_000 as MonoMs)).toBeGreaterThan(3_000_000);
  expect(stalls.latestSince(1_000 as MonoMs)).toBe(30); // this process itself was not held up
});

test('its timer does not keep a program alive', async () => {
  const program = `
    import { createStallWatch } from '${process.cwd()}/src/daemon/stall-watch.ts';
    createStallWatch({ now: () => performance.now(), wallNow: () => Date.now() });
  `;
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: process.cwd(), loader: 'ts' },
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
  });
  const child = spawn(process.execPath, ['-e', outputFiles[0]!.text]);
  expect(await once(child, 'exit')).toEqual([0, null]);
});
