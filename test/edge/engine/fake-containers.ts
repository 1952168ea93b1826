/** NOT an Engine: containers that a test changes as it likes, with events that it tells, keeps to itself or tells twice. */
import type {
  ContainerSetup,
  ContainerState,
  EngineClient,
  EngineEvent,
  Unreachable,
} from '../../../src/docker/ports.ts';

type Watched = Pick<EngineClient, 'events' | 'inspect' | 'list'>;

const SETUP: ContainerSetup = {
  variables: new Map(),
  tmpfs: [],
  name: '',
  image: 'x',
  imageId: 'sha256:0',
  labels: { 'keepwell.owner': 'me' },
  restartPolicy: { name: 'no', maxRetries: 0 },
  autoRemove: false,
  logRotation: null,
  tty: false,
  healthCheck: null,
  ports: [],
  networks: [],
};

export const RUNNING: ContainerState = {
  id: '',
  status: 'running',
  running: true,
  paused: false,
  restarting: false,
  pid: 1,
  startedAt: '2026-01-01T00:00:00Z',
  finishedAt: null,
  exitCode: 0,
  oomKilled: false,
  error: '',
  health: null,
};
export const EXITED: ContainerState = { ...RUNNING, status: 'exited', running: false, pid: null, exitCode: 1 };

const away: Unreachable = { kind: 'unreachable', why: 'the Docker Engine is not running' };

export class FakeContainers implements Watched {
  readonly containers = new Map<string, ContainerState>();
  /** The Engine is gone: nothing is answered, and no stream opened. */
  isAway = false;
  /** Names of containers that the Engine cannot inspect. */
  readonly broken = new Set<string>();
  streamsRefused = false;
  /** As a list names the image of all of them: without a name once that stands for another one. */
  image = 'x';
  /** Inspections wait for this. */
  hold: Promise<void> | null = null;
  inspections: string[] = [];
  lists: (readonly string[])[] = [];
  sinces: (number | null)[] = [];
  atOnce = 0;
  mostAtOnce = 0;
  #stream: { tell: (event: EngineEvent) => void; cut: (why: string) => void } | null = null;
  #nano = 0;

  get hasStream(): boolean {
    return this.#stream !== null;
  }

  add(...names: readonly string[]): this {
    for (const name of names) this.containers.set(name, { ...RUNNING, id: `id-of-${name}` });
    return this;
  }

  set(name: string, state: Partial<ContainerState>): void {
    this.containers.set(name, { ...(this.containers.get(name) ?? RUNNING), ...state });
  }

  event(action: string, name: string, attributes: Readonly<Record<string, string>> = {}): EngineEvent {
    const id = `id-of-${name}`;
    const nano = ++this.#nano;
    return {
      of: 'container',
      action,
      id,
      attributes: { name, ...attributes },
      health: null,
      time: 1_000,
      key: `${nano} ${id} ${action}`,
    };
  }

  tell(event: EngineEvent): void {
    this.#stream?.tell(event);
  }

  cut(): void {
    this.#stream?.cut('cut off');
  }

  events: Watched['events'] = ({ since, opened, onEvent }, signal) => {
    this.sinces.push(since);
    if (this.isAway || this.streamsRefused) return Promise.resolve(away);
    return new Promise<Unreachable>((resolve, reject) => {
      const stream = { tell: onEvent, cut: (why: string) => end(() => resolve({ kind: 'unreachable', why })) };
      const end = (settle: () => void) => {
        if (this.#stream === stream) this.#stream = null;
        settle();
      };
      this.#stream = stream;
      signal.addEventListener('abort', () => end(() => reject(signal.reason)), { once: true });
      queueMicrotask(opened);
    });
  };

  inspect: Watched['inspect'] = async (name) => {
    this.inspections.push(name);
    this.atOnce++;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.atOnce);
    await this.hold;
    this.atOnce--;
    if (this.isAway || this.broken.has(name)) return away;
    const state = this.containers.get(name);
    return state ? { kind: 'found', state, setup: { ...SETUP, name } } : { kind: 'missing' };
  };

  list: Watched['list'] = async (labels) => {
    this.lists.push(labels);
    if (this.isAway) return away;
    const items = [...this.containers].map(([name, { id, status, health }]) => ({
      ...{
        id,
        status,
        names: [name],
        image: this.image,
        imageId: 'sha256:0',
        labels: SETUP.labels,
        text: '',
        createdAt: 0,
      },
      health: health?.status ?? ('none' as const),
    }));
    return { kind: 'listed', items };
  };
}
