/** Test seams: seconds for a shim to wait before the claim, after it, before telling the exit, and between telling and recording it. */
export const DELAY_POINTS = ['claim', 'started', 'exit', 'record'] as const;
export type Delays = Readonly<Record<(typeof DELAY_POINTS)[number], number>>;

/** `claim:0.4,exit:0.2`: no wait at the points that are not named. */
export function parseDelays(text: string | undefined): Delays {
  const delays = { claim: 0, started: 0, exit: 0, record: 0 };
  for (const part of text ? text.split(',') : []) {
    const [, point, seconds] = /^(\w+):(\d+(?:\.\d+)?)$/.exec(part) ?? [];
    if (!point || !(DELAY_POINTS as readonly string[]).includes(point)) {
      throw new TypeError(`shimDelay "${part}" is not one of ${DELAY_POINTS.join(', ')} with a number of seconds`);
    }
    delays[point as keyof Delays] = Number(seconds);
  }
  return delays;
}
