/** keepwell incidents: problems with one cause each, also those that are too small for a ticket. */
import { Option } from 'commander';
import type { Definition } from '../define.ts';
import { incidentNames, incidentTable } from '../print/incidents.ts';
import { readRecords } from '../records/read.ts';

interface Options {
  readonly all?: true;
  readonly resolved?: true;
}

export const incidents: Definition<Options> = {
  usage: 'incidents',
  group: 'Look:',
  summary: 'what is wrong now and what it affects, one line for each cause',
  description:
    'An incident opens at the first crash, or when something has been not ready, waiting, frozen or unreachable for a minute. It is resolved when everything named in it is well again. Crashes with the same cause are one incident, whichever component they come from; components that only suffer from it are listed as affected. The third crash opens a ticket.',
  options: [
    new Option('-a, --all', 'also resolved ones'),
    new Option('--resolved', 'only resolved ones').conflicts('all'),
  ],
  examples: [
    ['keepwell incidents', 'what is wrong now?'],
    ['keepwell incidents --all', 'also what is resolved, newest first'],
    ['keepwell incidents -o json | jq -r ".incidents[].root_cause"', 'the causes, for a script'],
  ],
  handler: async (session, _, { all, resolved }) => {
    const state = all ? 'all' : resolved ? 'resolved' : 'open';
    const { value, offline } = await readRecords(session, (records) => records.incidents({ state }));
    if (offline !== null) session.note(`${offline}; this is what the records say`);
    session.printJson(value);
    const { out } = session.world;
    if (value.incidents.length === 0) session.print(state === 'open' ? 'no open incidents' : 'no incidents');
    else {
      const columns = out.isTty ? out.columns : undefined;
      for (const line of incidentTable(value.incidents, session.paint, Date.now(), columns)) session.print(line);
      for (const line of incidentNames(value.incidents)) session.print(line);
    }
    return 0;
  },
};
