/** What an action will do, said before it is done. */
import type { OverviewRow } from '../../src/dashboard/rules/views.ts';

export type Verb = 'start' | 'stop' | 'restart';
type Row = Pick<OverviewRow, 'name' | 'state' | 'pid' | 'depends_on' | 'kind'>;

export interface Consequence {
  readonly title: string;
  readonly sentences: readonly string[];
}

const list = (names: readonly string[]): string =>
  names.length <= 1 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

const run = ({ pid, kind }: Row): string =>
  pid === null ? (kind === 'process' ? 'its run' : 'its container') : `pid ${pid}`;

const isUp = ({ state }: Row): boolean => state === 'running' || state === 'starting' || state === 'stopping';

export function consequenceOf(verb: Verb, row: Row, all: readonly Row[]): Consequence {
  const dependents = all.filter(({ depends_on }) => Object.hasOwn(depends_on, row.name)).map(({ name }) => name);
  const needs = Object.keys(row.depends_on);
  const felt =
    dependents.length === 0 ? [] : [`${list(dependents)} ${dependents.length === 1 ? 'depends' : 'depend'} on it.`];
  const title = `${verb[0]!.toUpperCase()}${verb.slice(1)} ${row.name}`;
  switch (verb) {
    case 'restart':
      return {
        title,
        sentences: [
          isUp(row) ? `Ends ${run(row)} and begins a new run.` : 'It does not run: begins a new run.',
          ...felt,
        ],
      };
    case 'stop':
      return {
        title,
        sentences: [
          isUp(row) ? `Ends ${run(row)} and all processes it started.` : 'It does not run: no further start is tried.',
          'It stays stopped until somebody starts it, also after a restart of the daemon.',
          ...felt,
        ],
      };
    default:
      return {
        title,
        sentences: [
          isUp(row)
            ? 'It runs already: nothing changes.'
            : 'Begins a new run now, and counts restarts from zero again.',
          ...(needs.length === 0 ? [] : [`It waits for what it depends on: ${list(needs)}.`]),
        ],
      };
  }
}

/** Why an action is not offered; null: it is. */
export function refusal(verb: Verb, row: Row, role: 'read' | 'control', isLive: boolean): string | null {
  if (role === 'read') return 'This link may only read. "keepwell dashboard" opens the page with the right to act.';
  if (!isLive) return 'The daemon does not answer.';
  if (verb === 'start' && row.state === 'running') return `${row.name} runs already.`;
  if (verb === 'stop' && row.state === 'stopped') return `${row.name} is stopped already.`;
  return null;
}
