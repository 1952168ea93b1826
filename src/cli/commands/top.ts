/** keepwell top: the overview on the whole terminal, until somebody quits. */
import { usage } from '../call.ts';
import type { Definition } from '../define.ts';

export const top: Definition<object> = {
  usage: 'top',
  group: 'See what happened:',
  summary: 'watch everything on one screen: what needs attention, logs, why, restart with one key',
  description:
    'Changes show at once. Keys: arrows or j and k choose a component, w why it died, l its log, r restart, s start, x stop (each asks first), ' +
    '/ filter, o sort, ? help, q quit. Quitting stops nothing. Without a daemon it shows what the records say, and says so.',
  examples: [
    ['keepwell top', 'the whole project on one screen'],
    ['NO_COLOR=1 keepwell top', 'without colours'],
  ],
  handler: async (call) => {
    const { out } = call.world;
    if (call.json || !out.isTty || !call.world.inIsTty) {
      throw usage('"top" needs a terminal. In a pipe or a script use "keepwell status", or "keepwell status --watch".');
    }
    return await (await import('../top/run.ts')).runTop(call);
  },
};
