/** Waits for a fact, not for time: polls until the condition gives something, and says what it waited for when it never does. */
import { setTimeout as pause } from 'node:timers/promises';

/** Only against waiting for ever: a machine with much else to do takes its time. */
const LIMIT_MS = 120_000;
const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [10, 500];

export async function waitFor<T>(what: string, condition: () => T | Promise<T>): Promise<NonNullable<T>> {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const asked = performance.now();
    const value = await condition();
    if (value) return value;
    if (performance.now() > deadline) throw new Error(`waited ${LIMIT_MS / 1_000} s in vain for: ${what}`);
    // To ask takes the processor from what is waited for; a start of the program takes much of it. At most half of the time is for asking.
    await pause(Math.min(Math.max(MIN_PAUSE_MS, performance.now() - asked), MAX_PAUSE_MS));
  }
}
