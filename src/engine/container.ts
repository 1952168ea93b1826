/** The JSON of GET /containers/NAME/json, read with suspicion: null for anything that is not what the Engine documents. */
import type { ContainerState } from '../ports/engine.ts';

export interface Container {
  /** Without the slash that Docker writes before it. */
  readonly name: string;
  readonly state: ContainerState;
}

type Fields = Readonly<Record<string, unknown>>;

export function parseContainer(text: string): Container | null {
  const { Id: id, Name: name, State: state } = fieldsOf(parseJson(text)) ?? {};
  const read = readState(fieldsOf(state) ?? {});
  if (typeof id !== 'string' || typeof name !== 'string' || read === null) return null;
  return { name: name.replace(/^\//, ''), state: { id, ...read } };
}

function readState(state: Fields): Omit<ContainerState, 'id'> | null {
  const { Status, Running, Paused, Restarting, OOMKilled, Pid, ExitCode, Error: error, StartedAt } = state;
  if (typeof Status !== 'string' || typeof Running !== 'boolean' || typeof StartedAt !== 'string') return null;
  if (typeof Pid !== 'number' || typeof ExitCode !== 'number') return null;
  return {
    status: Status,
    running: Running,
    paused: Paused === true,
    restarting: Restarting === true,
    pid: Pid > 0 ? Pid : null,
    startedAt: StartedAt,
    exitCode: ExitCode,
    oomKilled: OOMKilled === true,
    error: typeof error === 'string' ? error : '',
  };
}

/** What the Engine says about a request that it refused; empty when it says nothing we understand. */
export function parseMessage(text: string): string {
  const message = fieldsOf(parseJson(text))?.['message'];
  return typeof message === 'string' ? message.trim() : '';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const fieldsOf = (value: unknown): Fields | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
