/**
 * Lines of a container that nobody can read any more. Docker keeps only so much of what a container writes: what was not read when it
 * began to throw away is gone, and it says nothing about that. It is certain when its oldest is newer than the last that was told.
 */

/** The Engine's times of the last line before and of the first line after what is missing. */
export interface Loss {
  readonly from: string;
  readonly to: string;
}

/** Where it went on with the very next line there is nothing missing: that was written sooner than a file of many megabytes. */
const GAP_MS = 20;

/** `last`: that was told; `oldest`: that Docker still has. */
export const isThrownAway = (last: string, oldest: string | null): boolean => oldest !== null && ms(oldest) > ms(last);

export const isGap = ({ from, to }: Loss): boolean => ms(to) - ms(from) >= GAP_MS;

const ms = (time: string): number => Date.parse(time);

export const lossLine = ({ from, to }: Loss): string =>
  `[keepwell] lines are missing here: Docker threw away what was written from ${from} to ${to} before it was read\n`;
