/** Incidents as the records on disk have them. */
import { incidentsView } from '../../incidents/rules/view.ts';
import type { History } from '../../supervision/ports/store.ts';
import type { Records } from './records.ts';

/** As the daemon answers. */
const DEFAULT_LIMIT = 100;

export const incidentRecords = (history: History): Pick<Records, 'incidents'> => ({
  incidents: async ({ state = 'open', limit = DEFAULT_LIMIT }) =>
    incidentsView(history.incidents({ state: state === 'all' ? undefined : state, limit })),
});
