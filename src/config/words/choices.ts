/** What to say where exactly one of several keys must be given, and none or more than one is. */
import { CHANNEL_KINDS } from '../../incidents/alerts/kinds.ts';
import { TRACKER_KINDS } from '../../incidents/tickets/kinds.ts';
import { keysOf } from '../kind.ts';
import { refuse } from '../readers.ts';
import { inWords } from '../text.ts';
import type { Mistake } from '../tree.ts';
import { generalPlace } from './argv.ts';

interface Choice {
  readonly none: Mistake;
  readonly several: (given: readonly string[]) => Mistake;
}

const inList = (keys: readonly string[]): string =>
  keys
    .filter((key) => key !== 'all_of')
    .map((key) => `{ ${key}: … }`)
    .join(', ');

/** The kinds beside the one that is shown as an example. */
const others = <Kinds extends object>(kinds: Kinds, shown: keyof Kinds): string =>
  keysOf(kinds)
    .filter((kind) => kind !== shown)
    .map((kind) => `${kind}: …`)
    .join(', ');

const ASK = 'for example http: { port: 8080, path: /healthz }, tcp: 7234, exec: { command: [./bin/check] } or pid: {}';

const HEARTBEAT: Choice = {
  none: refuse('nothing says what a beat is', 'Write one of: file: state.json, log_every: 30s, ping: true'),
  several: (given) => refuse(`a beat is one thing, not ${inWords(given)}`, 'Keep one.'),
};

const CHOICES: Readonly<Record<string, Choice>> = {
  'components.*': {
    none: refuse(
      'nothing says what to run',
      'Write: process: { command: [./bin/server] }, or: container: { image: name:tag }',
    ),
    several: (given) =>
      refuse(
        `${inWords(given)} exclude each other: a component is one thing`,
        'Keep process, container or compose to have it started here, or external to watch what others start.',
      ),
  },
  'components.*.external': {
    none: refuse(
      'nothing says how to find it',
      'Write one of: pid_file: /run/legacy.pid, address: "127.0.0.1:7233", container: redis',
    ),
    several: (given) =>
      refuse(`it can be found in one way only, not by ${inWords(given)}`, 'Keep one; use a probe for the others.'),
  },
  'components.*.heartbeat': HEARTBEAT,
  'agents.types.*.heartbeat': HEARTBEAT,
  'tickets.trackers.*': {
    none: refuse(
      'nothing says which tracker',
      `Write one of: local: { dir: tickets }, ${others(TRACKER_KINDS, 'local')}`,
    ),
    several: (given) =>
      refuse(`a tracker is one thing, not ${inWords(given)}`, `Write them as a list: ${inList(given)}`),
  },
  'alerts.channels.*': {
    none: refuse(
      'nothing says how people are told',
      `Write one of: slack: { url: "\${SLACK_URL}" }, ${others(CHANNEL_KINDS, 'slack')}`,
    ),
    several: (given) =>
      refuse(`a channel is one thing, not ${inWords(given)}`, `Write them as a list: ${inList(given)}`),
  },
  PROBE: {
    none: refuse('nothing says what to ask', `Add a question, ${ASK}.`),
    several: (given) =>
      refuse(
        `a probe asks one question, not ${inWords(given)}`,
        given.includes('all_of')
          ? `Put the other into the list: all_of: [${inList(given)}, …]`
          : `Keep one, or write: all_of: [${inList(given)}]`,
      ),
  },
  CHECK: {
    none: refuse(
      'nothing says what to ask',
      'Add a question, for example container_running: sandbox, file_exists: /path, component: api, http: 8080 or exec: { command: [./bin/check] }.',
    ),
    several: (given) =>
      refuse(
        `a check asks one question, not ${inWords(given)}`,
        'Write a check for each; one can name the other in "needs".',
      ),
  },
  ITEM: {
    none: refuse('nothing says what to ask', `Add a question, ${ASK}.`),
    several: (given) => refuse(`an item of all_of asks one question, not ${inWords(given)}`, `Write: ${inList(given)}`),
  },
};

/** Null when the choice is fine. */
export function choiceProblem(place: string, given: readonly string[]): Mistake | null {
  if (given.length === 1) return null;
  const choice = CHOICES[generalPlace(place)];
  if (!choice)
    return refuse(given.length === 0 ? 'something is missing' : `only one of ${inWords(given)} may be given`);
  return given.length === 0 ? choice.none : choice.several(given);
}
