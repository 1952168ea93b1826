/** The JSON of GET /containers/NAME/json, read with suspicion: null for anything that is not what the Engine documents. */
import { redact, secretValues } from '../base/pure/redact.ts';
import type { ContainerSetup, ContainerState, RestartPolicy } from './ports.ts';
import { readHealth, readHealthCheck } from './health.ts';
import { type Fields, fieldsOf, parseJson, textOf, textsOf } from './json.ts';
import { readPorts } from './published-ports.ts';

export interface Container {
  /** Without the slash that Docker writes before it. */
  readonly name: string;
  readonly state: ContainerState;
  readonly setup: ContainerSetup;
}

/** `secrets`: values that must not be in what is said of it, beside those of its own variables. */
export function parseContainer(text: string, secrets: readonly string[]): Container | null {
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

export const withoutSlash = (name: string): string => name.replace(/^\//, '');

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
    tty: config['Tty'] === true,
    healthCheck: readHealthCheck(fieldsOf(config['Healthcheck'])),
    ports: readPorts(fieldsOf(network['Ports'])),
    networks: Object.keys(fieldsOf(network['Networks']) ?? {}),
  };
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
