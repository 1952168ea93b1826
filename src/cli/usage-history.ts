/** keepwell status NAME --history: what a component used, also when no daemon runs. */
import { historyTable } from './print/usage.ts';
import { readRecords } from './records/read.ts';
import { type Session, usage } from './call.ts';

const DEFAULT_SINCE_MS = 60 * 60 * 1000;
/** As many as the daemon keeps of a component. */
const MAX_STRETCHES = 2_000;

export async function showUsageHistory(session: Session, names: readonly string[], sinceMs: number = DEFAULT_SINCE_MS) {
  const [component] = names;
  if (component === undefined || names.length > 1) {
    throw usage('--history shows one component: keepwell status NAME --history');
  }
  const from = Math.max(0, Date.now() - sinceMs);
  const { value, offline } = await readRecords(session, (records) =>
    records.samples({ component, sinceMs: from, limit: MAX_STRETCHES }),
  );
  if (offline !== null) session.note(`${offline}; this is what the records say`);
  session.printJson(value);
  if (value.samples.length === 0)
    session.print(`nothing was recorded of ${component} in this time; --since 1d looks further back`);
  else for (const line of historyTable(value.samples)) session.print(line);
  return 0;
}
