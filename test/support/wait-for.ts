/** Waits for a fact, not for time: polls until the condition gives something, and says what it waited for when it never does. */
import { setTimeout as pause } from 'node:timers/promises';

export async function waitFor<T>(
  what: string,
  condition: () => T | Promise<T>,
  { limitMs = 20_000 }: { limitMs?: number } = {},
): Promise<NonNullable<T>> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > deadline) throw new Error(`waited ${limitMs} ms in vain for: ${what}`);
    await pause(10);
  }
}
