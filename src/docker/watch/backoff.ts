/** How long to wait before the Engine is asked again that did not answer. */

const FIRST_MS = 200;
const LONGEST_MS = 5_000;

/** `failures`: in a row, the last one included. Jitter only shortens: not everybody comes back at the same moment. */
export function backoffMs(failures: number, random: () => number): number {
  const ms = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
  return ms * (1 - random() / 2);
}
