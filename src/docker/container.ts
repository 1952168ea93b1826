/** The JSON of GET /containers/NAME/json, read with suspicion: null for anything that is not what the Engine documents. */

import { redact, secretValues } from '../base/pure/redact.ts';
import type { DockerHealth, HealthCheckTimes } from '../supervision/rules/container-health.ts';
import { type Caller, isUnreachable, NOT_AN_ENGINE, odd, unreachable } from './caller.ts';
import { type Fields, fieldsOf, listOf, parseJson, parseMessage, textOf, textsOf } from './json.ts';
import type {
  ContainerPlan,
  ContainerSetup,
  ContainerState,
  ContainerSummary,
  FullInspection,
  Listing,
  LogRotation,
  NetworkSummary,
  PublishedPort,
  RestartPolicy,
} from './ports.ts';

interface Container {
  /** Without the slash that Docker writes before it. */
  readonly name: string;
  readonly state: ContainerState;
  readonly setup: ContainerSetup;
}

/** `secrets`: values that must not be in what is said of it, beside those of its own variables. */
function parseContainer(text: string, secrets: readonly string[]): Container | null {
  const { Id: id, Name: name, State: state, ...rest } = fieldsOf(parseJson(text)) ?? {};
  const variables = readVariables(fieldsOf(rest['Config'])?.['Env']);
  const read = readState(fieldsOf(state) ?? {}, [...secretValues(variables), ...secrets]);
  if (typeof id !== 'string' || typeof name !== 'string' || read === null) return null;
  return {
    name: withoutSlash(name),
    state: { id, ...read },
    setup: { ...readSetup(withoutSlash(name), rest), variables: fillOf(variables) },
  };
}

const withoutSlash = (name: string): string => name.replace(/^\//, '');

function readState(state: Fields, secrets: readonly string[]): Omit<ContainerState, 'id'> | null {
  const { Status, Running, Paused, Restarting, OOMKilled, Pid, ExitCode, Error: error, StartedAt, FinishedAt } = state;
  if (typeof Status !== 'string' || typeof Running !== 'boolean' || typeof StartedAt !== 'string') return null;
  if (typeof Pid !== 'number' || typeof ExitCode !== 'number') return null;
  return {
    status: Status,
    running: Running,
    paused: Paused === true,
    restarting: Restarting === true,
    pid: Pid > 0 ? Pid : null,
    startedAt: StartedAt,
    finishedAt: typeof FinishedAt === 'string' && !FinishedAt.startsWith(NEVER) ? FinishedAt : null,
    exitCode: ExitCode,
    oomKilled: OOMKilled === true,
    error: redact(textOf(error), secrets),
    health: readHealth(fieldsOf(state['Health']), secrets),
  };
}

/** How the Engine writes a time that has not come: the year 1. */
const NEVER = '0001-';

function readSetup(
  name: string,
  { Image: imageId, Config, HostConfig, Mounts, NetworkSettings }: Fields,
): Omit<ContainerSetup, 'variables'> {
  const config = fieldsOf(Config) ?? {};
  const hostConfig = fieldsOf(HostConfig) ?? {};
  const network = fieldsOf(NetworkSettings) ?? {};
  const mounts = Array.isArray(Mounts) ? Mounts.map((mount) => fieldsOf(mount) ?? {}) : [];
  const mounted = mounts.filter(({ Type }) => Type === 'tmpfs').map(({ Destination }) => Destination);
  const asked = Object.keys(fieldsOf(hostConfig['Tmpfs']) ?? {});
  return {
    tmpfs: [...new Set([...asked, ...mounted.filter((path) => typeof path === 'string')])],
    name,
    image: textOf(config['Image']),
    imageId: textOf(imageId),
    labels: textsOf(config['Labels']),
    restartPolicy: readRestartPolicy(fieldsOf(hostConfig['RestartPolicy'])),
    autoRemove: hostConfig['AutoRemove'] === true,
    logRotation: readLogRotation(fieldsOf(hostConfig['LogConfig'])),
    tty: config['Tty'] === true,
    healthCheck: readHealthCheck(fieldsOf(config['Healthcheck'])),
    ports: readPorts(fieldsOf(network['Ports'])),
    networks: Object.keys(fieldsOf(network['Networks']) ?? {}),
  };
}

const LOG_SIZE = /^(\d+(?:\.\d+)?) ?([kmg]?)i?b?$/i;
const LOG_UNITS = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 } as const;

/** Of drivers that can be read: `local` always keeps 5 files of 20 MB, unless told otherwise. */
function readLogRotation(config: Fields | null): LogRotation | null {
  const options = textsOf(config?.['Config']);
  const defaults = { 'json-file': ['', '1'], local: ['20m', '5'] }[textOf(config?.['Type'])];
  if (defaults === undefined) return null;
  const [size = '', files = ''] = [options['max-size'] ?? defaults[0], options['max-file'] ?? defaults[1]];
  const [, number, unit = ''] = LOG_SIZE.exec(size) ?? [];
  if (number === undefined) return null;
  const fileBytes = Number(number) * LOG_UNITS[unit.toLowerCase() as keyof typeof LOG_UNITS];
  return { fileBytes, files: Math.max(1, Number(files) || 1) };
}

function readRestartPolicy(policy: Fields | null): RestartPolicy {
  const retries = policy?.['MaximumRetryCount'];
  // Podman writes it empty.
  return { name: textOf(policy?.['Name']) || 'no', maxRetries: typeof retries === 'number' ? retries : 0 };
}

/** As the Engine hands them to a program: of several of one name the last counts, and a name alone takes the variable away. */
function readVariables(entries: unknown): Readonly<Record<string, string>> {
  const variables = new Map<string, string>();
  for (const entry of Array.isArray(entries) ? entries : []) {
    if (typeof entry !== 'string') continue;
    const at = entry.indexOf('=');
    if (at === -1) variables.delete(entry);
    else variables.set(entry.slice(0, at), entry.slice(at + 1));
  }
  return Object.fromEntries(variables);
}

/** Their values are nobody's business but the program's. */
const fillOf = (variables: Readonly<Record<string, string>>): ContainerSetup['variables'] =>
  new Map(Object.entries(variables).map(([name, value]) => [name, value === '' ? 'empty' : 'set']));

// One container, by its exact name, its full id, or as much of it as `docker ps` prints.

/**
 * The Engine takes any beginning of an id that fits one container only. Less than what `docker ps` prints may as well be the name of one
 * that is not there: "db" or "cafe" must not find a stranger whose id begins like that.
 */
const SHORT_ID = /^[0-9a-f]{12,}$/;

export const isIdOf = (text: string, id: string): boolean =>
  text === id || (SHORT_ID.test(text) && id.startsWith(text));

const MISSING = /no such container|no container with name or id/i;

/** `secrets`: values that must not be in what is said of it, beside those of its own variables. */
export async function inspect(
  caller: Caller,
  container: string,
  signal: AbortSignal,
  secrets: readonly string[] = [],
): Promise<FullInspection> {
  const answer = await caller({ path: `/containers/${encodeURIComponent(container)}/json` }, signal);
  if (isUnreachable(answer)) return answer;
  if (answer.status === 200) {
    const found = parseContainer(answer.body, secrets);
    if (!found) return unreachable(NOT_AN_ENGINE);
    const { state, setup } = found;
    const isIt = setup.name === container || isIdOf(container, state.id);
    return isIt ? { kind: 'found', state, setup } : { kind: 'missing' };
  }
  if (answer.status === 404 && MISSING.test(parseMessage(answer.body))) return { kind: 'missing' };
  return odd(answer);
}

// Lists of containers and networks: one call for hundreds of them.

/** A container is about 1 KiB of it, with many labels several. */
const MAX_LIST_BYTES = 2 ** 25;

export function listContainers(
  caller: Caller,
  labels: readonly string[],
  signal: AbortSignal,
): Promise<Listing<ContainerSummary>> {
  return list(caller, `/containers/json?all=1${byLabels(labels, '&')}`, readContainer, signal);
}

export function listNetworks(
  caller: Caller,
  labels: readonly string[],
  signal: AbortSignal,
): Promise<Listing<NetworkSummary>> {
  return list(caller, `/networks${byLabels(labels, '?')}`, readNetwork, signal);
}

/** The names of all containers; empty when the Engine cannot be asked. */
export async function names(caller: Caller, signal: AbortSignal): Promise<readonly string[]> {
  const listing = await listContainers(caller, [], signal);
  return listing.kind === 'listed' ? listing.items.flatMap((container) => container.names) : [];
}

const byLabels = (labels: readonly string[], sign: string): string =>
  labels.length === 0 ? '' : `${sign}filters=${encodeURIComponent(JSON.stringify({ label: labels }))}`;

async function list<T>(
  caller: Caller,
  path: string,
  read: (row: Fields) => T | null,
  signal: AbortSignal,
): Promise<Listing<T>> {
  const answer = await caller({ path, maxBytes: MAX_LIST_BYTES }, signal);
  if (isUnreachable(answer)) return answer;
  if (answer.status !== 200) return odd(answer);
  const rows = parseJson(answer.body);
  if (!Array.isArray(rows)) return unreachable(NOT_AN_ENGINE);
  const items = rows.map((row) => read(fieldsOf(row) ?? {}));
  return items.includes(null) ? unreachable(NOT_AN_ENGINE) : { kind: 'listed', items: items as T[] };
}

function readContainer(row: Fields): ContainerSummary | null {
  const { Id: id, State: status, Created } = row;
  if (typeof id !== 'string' || typeof status !== 'string') return null;
  return {
    id,
    names: listOf(row['Names'])
      .map((name) => withoutSlash(textOf(name)))
      .filter((name) => name !== '' && !name.includes('/')), // a link's name for another container
    image: textOf(row['Image']),
    imageId: textOf(row['ImageID']),
    labels: textsOf(row['Labels']),
    status,
    text: textOf(row['Status']),
    health: healthOfSummary(row),
    createdAt: typeof Created === 'number' ? Created * 1_000 : 0,
  };
}

function readNetwork(row: Fields): NetworkSummary | null {
  const { Id: id, Name: name } = row;
  if (typeof id !== 'string' || typeof name !== 'string') return null;
  const createdAt = Date.parse(textOf(row['Created']));
  return { id, name, createdAt: Number.isNaN(createdAt) ? null : createdAt, labels: textsOf(row['Labels']) };
}

// Ports of a container in the Engine's words: {"80/tcp": [{"HostIp": "0.0.0.0", "HostPort": "32768"}]}.

function readPorts(ports: Fields | null): readonly PublishedPort[] {
  return Object.entries(ports ?? {}).flatMap(([name, places]) => {
    const [number, protocol = 'tcp'] = name.split('/');
    if (protocol !== 'tcp' && protocol !== 'udp') return [];
    return listOf(places).flatMap((place) => {
      const hostPort = Number(textOf(fieldsOf(place)?.['HostPort']));
      const hostIp = textOf(fieldsOf(place)?.['HostIp']);
      return hostPort > 0 ? [{ port: Number(number), protocol, hostIp, hostPort }] : [];
    });
  });
}

type PlannedPort = ContainerPlan['ports'][number];

const nameOf = ({ port, protocol }: PlannedPort): string => `${port}/${protocol}`;

/** For the container itself. */
export const exposedPorts = (ports: readonly PlannedPort[]): Fields =>
  Object.fromEntries(ports.map((port) => [nameOf(port), {}]));

/** For the machine. An empty port: the Engine chooses one. */
export function portBindings(ports: readonly PlannedPort[]): Fields {
  const bindings: Record<string, { HostIp: string; HostPort: string }[]> = {};
  for (const port of ports) {
    bindings[nameOf(port)] ??= [];
    bindings[nameOf(port)]?.push({
      HostIp: port.hostIp,
      HostPort: port.hostPort === null ? '' : String(port.hostPort),
    });
  }
  return bindings;
}

// What an inspection says about a container's health check: its results so far and its times.

/** The Engine keeps 4 KiB of each check, and nobody reads that much in a reason. */
const MAX_OUTPUT_CHARS = 400;
const NS_PER_MS = 1e6;
/** What the Engine takes where a health check says 0 or nothing. */
const DEFAULTS: HealthCheckTimes = { intervalMs: 30_000, timeoutMs: 30_000, startPeriodMs: 0, retries: 3 };

type HealthWord = DockerHealth['status'];

export function healthWord(text: string): HealthWord | null {
  return text === 'starting' || text === 'healthy' || text === 'unhealthy' ? text : null;
}

/**
 * Null: there is no health check. The Engine then says "none", or nothing at all. What the check printed goes into reasons, events
 * and crashes of many kinds, so secrets are taken out of it here, before anybody has it. `known`: values that it must not show.
 */
function readHealth(health: Fields | null, known: readonly string[]): DockerHealth | null {
  const status = healthWord(textOf(health?.['Status']));
  if (health === null || status === null) return null;
  const last = fieldsOf(listOf(health['Log']).at(-1));
  const endedAt = Date.parse(textOf(last?.['End']));
  const exitCode = last?.['ExitCode'];
  const failures = health['FailingStreak'];
  return {
    status,
    failures: typeof failures === 'number' ? failures : 0,
    // A time that has not come is written as the year 1.
    lastEndedAt: endedAt > 0 ? endedAt : null,
    lastExitCode: typeof exitCode === 'number' ? exitCode : null,
    lastOutput: redact(textOf(last?.['Output']), known, { end: true }).trim().slice(0, MAX_OUTPUT_CHARS),
  };
}

/** Null: there is none, or it was switched off. */
function readHealthCheck(check: Fields | null): HealthCheckTimes | null {
  const [kind] = listOf(check?.['Test']);
  if (check === null || kind === undefined || kind === 'NONE') return null;
  return {
    intervalMs: ms(check['Interval']) || DEFAULTS.intervalMs,
    timeoutMs: ms(check['Timeout']) || DEFAULTS.timeoutMs,
    startPeriodMs: ms(check['StartPeriod']),
    retries: count(check['Retries']) || DEFAULTS.retries,
  };
}

export const nanoseconds = (milliseconds: number): number => Math.round(milliseconds * NS_PER_MS);

const count = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0);
const ms = (ns: unknown): number => count(ns) / NS_PER_MS;

/** From a list: newer Engines say it, with all others it stands in the text, "Up 3 minutes (healthy)". */
function healthOfSummary(row: Fields): HealthWord | 'none' {
  const said = healthWord(textOf(textsOf(row['Health'])['Status']));
  if (said !== null) return said;
  const [, word = ''] = /\((?:health: )?(starting|healthy|unhealthy)\)/.exec(textOf(row['Status'])) ?? [];
  return healthWord(word) ?? 'none';
}
