/** Agents as the records on disk have them. Nobody looks at their processes. */
import type { MonoMs, WallMs } from '../base/pure/ids.ts';
import type { History } from '../history/ports.ts';
import type { Agents } from './ports.ts';
import { agentView } from './rules/views.ts';
import { isOver, NO_AGENTS } from './spec.ts';

const UNSEEN = { note: 'not checked: the daemon was not asked', uptime_ms: null, next_attempt_at: null };

export const recordedAgents = (history: Pick<History, 'agents'>, wall: WallMs): Pick<Agents, 'list'> => ({
  list: ({ all = false } = {}) => {
    const shown = history.agents().filter(({ state }) => all || !isOver(state));
    return shown.map((record) => {
      // What depends on the time since boot is not shown of those that live.
      const view = agentView(record, { ...NO_AGENTS, maxRespawns: record.respawns.length }, { now: 0 as MonoMs, wall });
      return isOver(record.state) ? view : { ...view, ...UNSEEN };
    });
  },
});
