/** Passes while the main process is there. A zombie is not. That of a container may be on another machine: its run ends with it. */

import { z } from 'zod';
import { optional } from '../../config/leaves.ts';
import { refuse } from '../../config/readers.ts';
import { runsInContainer } from '../../supervision/spec.ts';
import { fail, inquiry, pass } from '../inquiry.ts';
import type { ProbeKind } from '../kind.ts';

const schema = optional(z.strictObject({}).meta({ id: 'probe-pid' }), {
  description: 'Passes as long as the main process exists.',
  defaultNote: 'none',
  example: {},
});

export const pid = {
  schema,
  missing: {},
  resolve: () => ({ kind: 'pid' }),
  forms: {
    '': (node) =>
      node.kind === 'map' || node.kind === 'broken' ? null : refuse('must be an empty map', 'Write: pid: {}'),
  },
  open: (_, { target: { pid, spec }, parts: { isAlive } }) =>
    inquiry(async () => {
      if (runsInContainer(spec.driver)) return pass('its container runs');
      if (pid === null) return fail('it has no process');
      return isAlive(pid) ? pass(`process ${pid} is there`) : fail(`process ${pid} is gone`);
    }),
} satisfies ProbeKind<'pid', typeof schema>;
