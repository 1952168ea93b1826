/** The Docker Engine over its socket. Paths carry no version: every Engine answers these, old and new alike. */
import type { Clock } from '../base/clock.ts';
import {
  ANSWER_WITHIN_MS,
  type Answer,
  actionResult,
  type Caller,
  createCaller,
  creation,
  faultOf,
  isUnreachable,
  NOT_AN_ENGINE,
  odd,
  unreachable,
} from './caller.ts';
import { healthWord, inspect, listContainers, listNetworks, names } from './container.ts';
import { create, kill, remove, removeStopped, restart, setRestartPolicy, start, stop, unpause } from './containers.ts';
import { archive } from './copy-archive.ts';
import { type EngineEnv, type Places, USUAL_PLACES } from './endpoint.ts';
import { exec, execBytes, execState, launch } from './exec/exec.ts';
import { type Fields, fieldsOf, lines, parseJson, parseMessage, textOf, textsOf } from './json.ts';
import { logs } from './logs.ts';
import type {
  ActionResult,
  ContainerStats,
  Creation,
  EngineClient,
  EngineEvent,
  PathLookup,
  Unreachable,
} from './ports.ts';

export { MAX_ANSWER_BYTES } from './caller.ts';

export interface EngineOptions {
  readonly env: EngineEnv;
  readonly clock: Clock;
  readonly places?: Places;
  /** Null: whoever asks keeps the time. Default: 5 s for each answer. */
  readonly answerWithinMs?: number | null;
  /** Values that must not be in anything that is said of a container, beside those of its own variables. Default: none. */
  secrets?(): readonly string[];
}

export function createEngine(options: EngineOptions): EngineClient {
  const { env, clock, places = USUAL_PLACES, answerWithinMs = ANSWER_WITHIN_MS } = options;
  const caller = createCaller({ env, clock, places, answerWithinMs });
  const secrets = () => options.secrets?.() ?? [];
  return {
    ping: async (signal) => {
      const answer = await caller({ path: '/_ping' }, signal);
      if (isUnreachable(answer)) return answer;
      return answer.status === 200 ? { kind: 'done' } : odd(answer);
    },
    inspect: (container, signal) => inspect(caller, container, signal, secrets()),
    names: (signal) => names(caller, signal),
    list: (labels, signal) => listContainers(caller, labels, signal),
    lookUp: (id, path, signal) => look(caller, id, path, signal),
    exec: (id, command, signal) => exec({ caller, clock }, id, command, signal),
    execBytes: (id, command, maxBytes, signal) => execBytes({ caller, clock }, id, command, maxBytes, signal),
    launch: (id, command, asked, signal) => launch(caller, id, command, asked, signal),
    execState: (launched, signal) => execState(caller, launched, signal),
    create: (name, plan, signal) => create(caller, name, plan, signal),
    start: (id, signal) => start(caller, id, signal),
    stop: (id, graceMs, signal) => stop(caller, id, graceMs, signal),
    restart: (id, graceMs, signal) => restart(caller, id, graceMs, signal),
    kill: (id, unixSignal, signal) => kill(caller, id, unixSignal, signal),
    unpause: (id, signal) => unpause(caller, id, signal),
    remove: (id, signal) => remove(caller, id, signal),
    removeStopped: (id, signal) => removeStopped(caller, id, signal),
    setRestartPolicy: (id, policy, signal) => setRestartPolicy(caller, id, policy, signal),
    stats: (id, signal) => stats(caller, id, signal),
    events: (asked, signal) => events(caller, asked, signal),
    logs: (id, asked, signal) => logs({ caller, now: () => clock.wallNow() }, id, asked, signal),
    archive: (id, path, sink, signal) => archive(caller, id, path, sink, signal),
    imageOf: (image, signal) => imageOf(caller, image, signal),
    pull: (image, signal) => pull(caller, image, signal),
    createNetwork: (network, signal) => createNetwork(caller, network, signal),
    removeNetwork: (id, signal) => removeNetwork(caller, id, signal),
    networks: (labels, signal) => listNetworks(caller, labels, signal),
  };
}

// Networks between containers.

export async function createNetwork(
  caller: Caller,
  { name, labels, internal, options = {} }: Parameters<EngineClient['createNetwork']>[0],
  signal: AbortSignal,
): Promise<Creation> {
  // Several networks may have one name, as far as the Engine is concerned.
  const flags = { Internal: internal, CheckDuplicate: true };
  const body = { Name: name, Labels: labels, ...flags, Driver: 'bridge', Options: options };
  return creation(await caller({ method: 'POST', path: '/networks/create', body, turn: 'start' }, signal));
}

/** Refused while there are containers in it. */
export async function removeNetwork(caller: Caller, id: string, signal: AbortSignal): Promise<ActionResult> {
  const answer = await caller({ method: 'DELETE', path: `/networks/${encodeURIComponent(id)}` }, signal);
  return !isUnreachable(answer) && answer.status === 404 ? { kind: 'missing' } : actionResult(answer, { of: id });
}

// What a container uses right now.

const NS_PER_MS = 1e6;
/** How the Engine writes a time that has not come: the year 1. */
const NEVER = '0001-';

export async function stats(
  caller: Caller,
  id: string,
  signal: AbortSignal,
): Promise<Awaited<ReturnType<EngineClient['stats']>>> {
  // Without "one-shot" the Engine takes two samples, a second apart. Those before 20.10 do so all the same.
  const path = `/containers/${encodeURIComponent(id)}/stats?stream=false&one-shot=true`;
  const answer = await caller({ path }, signal);
  if (isUnreachable(answer) || answer.status !== 200) return actionResult(answer, { of: id });
  const fields = fieldsOf(parseJson(answer.body));
  if (fields === null) return unreachable(NOT_AN_ENGINE);
  return readStats(fields);
}

function readStats(fields: Fields): { readonly kind: 'read'; readonly stats: ContainerStats } | ActionResult {
  const memory = fieldsOf(fields['memory_stats']) ?? {};
  const cpu = fieldsOf(fieldsOf(fields['cpu_stats'])?.['cpu_usage']) ?? {};
  const used = memory['usage'];
  if (textOf(fields['read']).startsWith(NEVER) || typeof used !== 'number')
    return { kind: 'refused', why: 'the container does not run, so it uses nothing' };
  const detail = fieldsOf(memory['stats']) ?? {};
  // The first is of cgroup v1, the second of v2.
  const cache = number(detail['total_inactive_file']) || number(detail['inactive_file']);
  return {
    kind: 'read',
    stats: {
      cpuMs: number(cpu['total_usage']) / NS_PER_MS,
      memoryBytes: Math.max(0, used - cache),
      memoryLimitBytes: number(memory['limit']) || null,
      processes: number(fieldsOf(fields['pids_stats'])?.['current']),
    },
  };
}

const number = (value: unknown): number => (typeof value === 'number' ? value : 0);

// Whether a file is there in a container, asked without running anything in it: HEAD on the archive of its path. That works in images
// without a shell and whatever user the container has, and it sees volumes and bind mounts. It sees neither memory that is mounted (tmpfs,
// /dev/shm) nor /proc, /sys and /dev: those exist only for the processes in the container.

const STAT_HEADER = 'x-docker-container-path-stat';
/** Docker follows all links itself; others that speak its language need not. */
const MAX_LINKS = 8;
/** The path leads through a file, or its links lead in a circle: such a path names nothing. */
const NAMES_NOTHING = /not a directory|too many (links|levels of symbolic links)|file name too long/i;

export async function look(caller: Caller, id: string, path: string, signal: AbortSignal): Promise<PathLookup> {
  for (let links = 0, at = path; links <= MAX_LINKS; links++) {
    const found = await stat(caller, id, at, signal);
    // Of a link the Engine says where it leads, and not whether something is there.
    if (found.kind !== 'link') return found;
    at = found.target;
  }
  return { kind: 'absent' };
}

type Stat = PathLookup | { readonly kind: 'link'; readonly target: string };

async function stat(caller: Caller, id: string, path: string, signal: AbortSignal): Promise<Stat> {
  const address = `/containers/${encodeURIComponent(id)}/archive?path=${encodeURIComponent(path)}`;
  const answer = await caller({ method: 'HEAD', path: address }, signal);
  if (isUnreachable(answer)) return answer;
  if (answer.status === 200) return readStat(answer);
  if (answer.status === 404) return { kind: 'absent' };
  // An answer to HEAD has no body to say why in.
  const again = await caller({ path: address }, signal);
  if (isUnreachable(again)) return again;
  if (again.status === 200) return { kind: 'there' };
  if (again.status === 404 || NAMES_NOTHING.test(parseMessage(again.body))) return { kind: 'absent' };
  return { kind: 'unknown', why: odd(again).why };
}

function readStat({ headers }: Answer): Stat {
  const header = headers[STAT_HEADER];
  const fields = fieldsOf(parseJson(Buffer.from(String(header ?? ''), 'base64').toString('utf8')));
  if (!fields) return unreachable('what answered is not a Docker Engine, or one that we do not understand');
  const target = fields['linkTarget'];
  return typeof target === 'string' && target !== '' ? { kind: 'link', target } : { kind: 'there' };
}

// Images: which one a name stands for, and fetching it.

export async function imageOf(
  caller: Caller,
  image: string,
  signal: AbortSignal,
): Promise<Awaited<ReturnType<EngineClient['imageOf']>>> {
  // The slashes of a name belong to the path.
  const path = image.split('/').map(encodeURIComponent).join('/');
  const answer = await caller({ path: `/images/${path}/json` }, signal);
  if (isUnreachable(answer)) return answer;
  if (answer.status === 404) return { kind: 'missing' };
  const id = answer.status === 200 ? fieldsOf(parseJson(answer.body))?.['Id'] : undefined;
  return typeof id === 'string' ? { kind: 'found', id } : odd(answer);
}

/** The Engine tells in 200 that it has begun, and in the last of many lines whether it has managed. */
export async function pull(caller: Caller, image: string, signal: AbortSignal): Promise<ActionResult> {
  let failure = '';
  let last: unknown = null;
  const told = lines((line) => {
    last = parseJson(line);
    failure ||= textOf(fieldsOf(last)?.['error']);
  });
  const path = `/images/create?fromImage=${encodeURIComponent(withTag(image))}`;
  const answer = await caller({ method: 'POST', path, onPiece: told.push }, signal);
  if (isUnreachable(answer)) return answer;
  told.end();
  if (failure !== '') return faultOf(failure, false);
  if (answer.status === 404) return { kind: 'refused', why: faultText(answer.body, image) };
  if (answer.status === 200 && fieldsOf(last) === null)
    return unreachable(`the Docker Engine did not say what came of fetching ${image}`);
  return actionResult(answer, { of: image });
}

const faultText = (body: string, image: string): string =>
  textOf(fieldsOf(parseJson(body))?.['message']) || `there is no image ${image}`;

/** Without a tag, all tags would be fetched. */
function withTag(image: string): string {
  const last = image.slice(image.lastIndexOf('/') + 1);
  return last.includes(':') || last.includes('@') ? image : `${image}:latest`;
}

// The Engine's events of containers and images, Docker's and Podman's in the same words.

/** Podman's words for what Docker calls otherwise. Asked for "die" alone it tells of no death. */
const PODMAN: Readonly<Record<string, string>> = { died: 'die', remove: 'destroy', loadfromarchive: 'load' };

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
/** By which the name of an image may come to stand for another one. */
const IMAGE_ACTIONS = ['tag', 'pull', 'load', 'import'];
const FILTERS = encodeURIComponent(
  JSON.stringify({ type: ['container', 'image'], event: [...ACTIONS, ...IMAGE_ACTIONS, ...Object.keys(PODMAN)] }),
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

/** Null: of something else than containers and images, or an action that nobody asked for. */
export function readEvent(line: string): EngineEvent | null | 'unreadable' {
  const fields = fieldsOf(parseJson(line));
  if (fields === null) return 'unreadable';
  const actor = fieldsOf(fields['Actor']) ?? {};
  const attributes = textsOf(actor['Attributes']);
  const id = textOf(actor['ID']) || textOf(fields['id']);
  const [word = '', detail = ''] = (textOf(fields['Action']) || textOf(fields['status'])).split(': ');
  const action = PODMAN[word] ?? word;
  const of = subjectOf(fields);
  if (id === '' || of === null || !(of === 'image' ? IMAGE_ACTIONS : ACTIONS).includes(action)) return null;
  const health = action === 'health_status' ? healthOf(detail, fields, attributes) : null;
  const time = typeof fields['time'] === 'number' ? fields['time'] : 0;
  return {
    of,
    action,
    id,
    attributes,
    health,
    time,
    key: `${nanoseconds(line) ?? time} ${id} ${action} ${health ?? ''}`,
  };
}

function subjectOf({ Type = 'container' }: Fields): EngineEvent['of'] | null {
  return Type === 'container' || Type === 'image' ? Type : null;
}

/** Docker writes it behind the action; Podman beside it, or in its attributes. */
const healthOf = (detail: string, fields: Fields, attributes: Readonly<Record<string, string>>) =>
  healthWord(detail) ??
  healthWord(attributes['health_status'] ?? '') ??
  healthWord(textOf(fields['HealthStatus']) || textOf(fields['health_status']));

/** As text: the number is larger than what JavaScript can hold exactly. The last one of the line, no label can stand behind it. */
const nanoseconds = (line: string): string | undefined => [...line.matchAll(/"timeNano":\s*(\d+)/g)].at(-1)?.[1];
