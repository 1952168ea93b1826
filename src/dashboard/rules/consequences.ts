/** What an action will do, said before it is done: the page and the terminal ask with the same words. Pure. */
import type { OverviewRow } from './views.ts';

export type Verb = 'restart' | 'start' | 'stop';
type Row = Pick<OverviewRow, 'name' | 'state' | 'pid' | 'depends_on' | 'next_attempt_at' | 'kind'>;

/** "Restart api: ends pid 123 and starts it again; web depends on it" */
export function consequences(verb: Verb, row: Row, all: readonly Row[]): string {
  const dependents = all.filter(({ depends_on }) => Object.hasOwn(depends_on, row.name)).map(({ name }) => name);
  const needed = verb === 'start' || dependents.length === 0 ? '' : `; ${depend(dependents)} on it`;
  return `${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${row.name}: ${SENTENCES[verb](row)}${needed}`;
}

const SENTENCES: Readonly<Record<Verb, (row: Row) => string>> = {
  restart: (row) =>
    isUp(row) ? `ends ${running(row)} and starts it again` : 'it does not run; starts it, and counts its restarts anew',
  start: (row) =>
    isUp(row) ? `it runs already (${running(row)})` : 'starts it, keeps it running, and counts its restarts anew',
  stop: (row) => (isUp(row) ? `ends ${running(row)}; it stays stopped` : `it stays stopped${noRetry(row)}`),
};

const isUp = ({ state }: Row): boolean => state === 'running' || state === 'starting' || state === 'stopping';
const running = ({ pid, kind }: Row): string =>
  pid === null ? (kind === 'process' ? 'its process' : 'its container') : `pid ${pid}`;
const noRetry = ({ next_attempt_at }: Row): string => (next_attempt_at === null ? '' : ', and is not tried again');

/** "web depends", "web and job depend", "web, job and 3 more depend" */
function depend(names: readonly string[]): string {
  if (names.length === 1) return `${names[0]} depends`;
  if (names.length <= 3) return `${names.slice(0, -1).join(', ')} and ${names.at(-1)} depend`;
  return `${names.slice(0, 2).join(', ')} and ${names.length - 2} more depend`;
}
