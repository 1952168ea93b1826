/** Agents as the records on disk have them. Nobody looks at their processes. */
import { isOver, NO_AGENTS } from '../../agents/spec.ts';
import { agentView } from '../../agents/rules/view.ts';
import type { MonoMs, WallMs } from '../../base/pure/ids.ts';
import type { History } from '../../supervision/ports/store.ts';
import type { Records } from './records.ts';

const UNSEEN = 'not checked: the daemon was not asked';

export const agentRecords = (history: History): Pick<Records, 'agents'> => ({
  agents: async ({ all = false }) => {
    const wall = Date.now() as WallMs;
    const now = performance.now() as MonoMs; // times of another clock are not shown below
    const shown = history.agents().filter(({ state }) => all || !isOver(state));
    const agents = shown.map((record) => {
      const view = agentView(record, { ...NO_AGENTS, maxRespawns: record.respawns.length }, { now, wall });
      const unseen = isOver(record.state) ? {} : { note: UNSEEN, uptime_ms: null, next_attempt_at: null };
      return { ...view, ...unseen };
    });
    return { schema_version: 1, agents };
  },
});
