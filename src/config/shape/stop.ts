/** How a component, or an agent, is ended. */
import { z } from 'zod';
import { DEFAULTS } from '../defaults.ts';
import { durationText } from '../duration.ts';
import { duration, optional, stopSignal } from '../leaves.ts';
export const stopSchema = z.strictObject({
  signal: optional(stopSignal, {
    description: 'The signal that asks it to end.',
    defaultsTo: DEFAULTS.stop.signal,
    example: 'SIGINT',
  }),
  grace: optional(duration, {
    description: 'How long it may take to end before the whole process tree gets SIGKILL.',
    defaultsTo: durationText(DEFAULTS.stop.graceMs),
    example: '30s',
  }),
});
