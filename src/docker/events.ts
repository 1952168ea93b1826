/** The Engine's events of containers, Docker's and Podman's in the same words. */

import { type Caller, isUnreachable, odd, unreachable } from './caller.ts';
import { healthWord } from './health.ts';
import { type Fields, fieldsOf, lines, parseJson, textOf, textsOf } from './json.ts';
import type { EngineClient, EngineEvent, Unreachable } from './ports.ts';

/** Podman's words for what Docker calls otherwise. Asked for "die" alone it tells of no death. */
const PODMAN: Readonly<Record<string, string>> = { died: 'die', remove: 'destroy' };

/** Each health check makes three more, which nobody needs: what is not in here is left out by the Engine. */
const ACTIONS = [
  'create',
  'start',
  'restart',
  'die',
  'kill',
  'stop',
  'oom',
  'pause',
  'unpause',
  'destroy',
  'health_status',
  'rename',
  'update',
];
const FILTERS = encodeURIComponent(
  JSON.stringify({ type: ['container'], event: [...ACTIONS, ...Object.keys(PODMAN)] }),
);

export async function events(
  caller: Caller,
  { since, opened, onEvent }: Parameters<EngineClient['events']>[0],
  signal: AbortSignal,
): Promise<Unreachable> {
  const told = lines((line) => {
    const event = readEvent(line);
    if (event === 'unreadable') throw new Error('a line of it is not an event');
    if (event !== null) onEvent(event);
  });
  const path = `/events?filters=${FILTERS}${since === null ? '' : `&since=${since}`}`;
  const answer = await caller({ path, onPiece: told.push, onOpen: opened }, signal);
  if (isUnreachable(answer)) return answer;
  return answer.status === 200 ? unreachable('the Docker Engine ended the stream of its events') : odd(answer);
}

/** Null: of something else than containers, or an action that nobody asked for. */
export function readEvent(line: string): EngineEvent | null | 'unreadable' {
  const fields = fieldsOf(parseJson(line));
  if (fields === null) return 'unreadable';
  const actor = fieldsOf(fields['Actor']) ?? {};
  const attributes = textsOf(actor['Attributes']);
  const id = textOf(actor['ID']) || textOf(fields['id']);
  const [word = '', detail = ''] = (textOf(fields['Action']) || textOf(fields['status'])).split(': ');
  const action = PODMAN[word] ?? word;
  if (id === '' || !ACTIONS.includes(action) || !isAboutContainer(fields)) return null;
  const health = action === 'health_status' ? healthOf(detail, fields, attributes) : null;
  const time = typeof fields['time'] === 'number' ? fields['time'] : 0;
  return { action, id, attributes, health, time, key: `${nanoseconds(line) ?? time} ${id} ${action} ${health ?? ''}` };
}

const isAboutContainer = ({ Type }: Fields): boolean => Type === undefined || Type === 'container';

/** Docker writes it behind the action; Podman beside it, or in its attributes. */
const healthOf = (detail: string, fields: Fields, attributes: Readonly<Record<string, string>>) =>
  healthWord(detail) ??
  healthWord(attributes['health_status'] ?? '') ??
  healthWord(textOf(fields['HealthStatus']) || textOf(fields['health_status']));

/** As text: the number is larger than what JavaScript can hold exactly. The last one of the line, no label can stand behind it. */
const nanoseconds = (line: string): string | undefined => [...line.matchAll(/"timeNano":\s*(\d+)/g)].at(-1)?.[1];
