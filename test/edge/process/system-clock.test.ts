import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { after, type MonoMs } from '../../../src/base/pure/ids.ts';

const never = new AbortController().signal;

test('monotonic time counts from boot, so the next daemon can read it', () => {
  const uptimeMs = Number.parseFloat(readFileSync('/proc/uptime', 'utf8')) * 1000;
  // /proc/uptime also counts time asleep, which monotonic time does not.
  expect(systemClock.now()).toBeLessThan(uptimeMs + 1000);
  expect(systemClock.now()).toBeGreaterThan(0);
});

test('the boot is named', () => {
  expect(systemClock.bootId).toMatch(/^[0-9a-f-]{36}$/);
});

test('a wait never ends early', async () => {
  for (let count = 0; count < 20; count++) {
    const at = after(systemClock.now(), count / 2);
    await systemClock.sleepUntil(at, never);
    expect(systemClock.now()).toBeGreaterThanOrEqual(at);
  }
});

test('a wait for a time that has passed ends at once', async () => {
  await systemClock.sleepUntil((systemClock.now() - 1) as MonoMs, never);
});

test('a wait can be ended, before and after it began', async () => {
  const abort = new AbortController();
  const wait = systemClock.sleepUntil(after(systemClock.now(), 60_000), abort.signal);
  abort.abort();
  await expect(wait).rejects.toThrow();
  await expect(systemClock.sleepUntil(systemClock.now(), abort.signal)).rejects.toThrow();
});

test('a wait of a year does not end at once, as a plain timer would', async () => {
  const abort = new AbortController();
  const wait = systemClock.sleepUntil(after(systemClock.now(), 365 * 24 * 3600 * 1000), abort.signal);
  const first = await Promise.race([
    wait.catch(() => 'ended'),
    systemClock.sleepUntil(after(systemClock.now(), 30), never).then(() => 'waited'),
  ]);
  expect(first).toBe('waited');
  abort.abort();
  await expect(wait).rejects.toThrow();
});
