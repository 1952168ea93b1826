/** Containers that exist in the test only: an Engine that can be asked about them and told to restart them, and a watch that sees them. */
import type { Clock } from '../../src/base/clock.ts';
import type { ContainerListener, ContainerObservation, ContainerWatch } from '../../src/docker/container-watch.ts';
import type { ActionResult, ContainerSetup, ContainerState, EngineClient } from '../../src/docker/ports.ts';

const SETUP: ContainerSetup = {
  variables: new Map(),
  tmpfs: [],
  name: 'fake',
  image: 'fake',
  imageId: 'sha256:0',
  labels: {},
  restartPolicy: { name: 'no', maxRetries: 0 },
  autoRemove: false,
  logRotation: null,
  tty: false,
  healthCheck: { intervalMs: 1_000, timeoutMs: 1_000, startPeriodMs: 0, retries: 1 },
  ports: [],
  networks: [],
};

type Health = 'starting' | 'healthy' | 'unhealthy';

export class FakeContainers {
  readonly #states = new Map<string, ContainerState>();
  readonly #listeners = new Map<string, Set<ContainerListener>>();
  readonly #clock: Clock;
  #life = 0;
  #away: string | null = null;
  #awayUntil = Number.NEGATIVE_INFINITY;
  /** The watch sees nothing of what happens now. */
  isUnseen = false;
  /** Which were asked to be restarted, in order. */
  readonly restarts: string[] = [];
  /** What the Engine answers to a restart, and when. Default: done at once. */
  answer: (id: string) => ActionResult | Promise<ActionResult> = () => ({ kind: 'done' });
  /** What the Engine answers to a removal. */
  removal: ActionResult = { kind: 'done' };
  /** When the Engine was started, by its own clock; null: it does not tell. */
  engineBegunAt: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  put(id: string, health: Health, over: Partial<ContainerState> = {}): void {
    this.#states.set(id, {
      id,
      status: 'running',
      running: true,
      paused: false,
      restarting: false,
      pid: 1,
      startedAt: this.#newStart(),
      finishedAt: null,
      exitCode: 0,
      oomKilled: false,
      error: '',
      health: {
        status: health,
        failures: 1,
        lastEndedAt: this.#clock.wallNow(),
        lastExitCode: 1,
        lastOutput: 'refused',
      },
      ...over,
    });
    this.#tell(id);
  }

  /** Something about it changes; it stays the same incarnation. */
  change(id: string, health: Health, over: Partial<ContainerState> = {}): void {
    const { startedAt } = this.#states.get(id)!;
    this.put(id, health, { startedAt, ...over });
  }

  remove(id: string): void {
    this.#states.delete(id);
    this.#tell(id);
  }

  away(why: string | null): void {
    this.#away = why;
    this.#awayUntil = this.#clock.now();
    for (const [id, listeners] of this.#listeners) {
      for (const listener of listeners) listener.blind?.(why);
      if (why === null) this.#tell(id);
    }
  }

  get watched(): number {
    return [...this.#listeners.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Each start has its own time, and there is no clock that is fine enough to show it. */
  #newStart(): string {
    this.#life++;
    return new Date(this.#clock.wallNow()).toISOString().replace('Z', `${String(this.#life).padStart(6, '0')}Z`);
  }

  #sight(id: string): ContainerObservation {
    const state = this.#states.get(id);
    return state ? { kind: 'found', state, setup: SETUP } : { kind: 'missing' };
  }

  #tell(id: string): void {
    if (this.#away !== null || this.isUnseen) return;
    for (const listener of this.#listeners.get(id) ?? []) listener.seen(this.#sight(id), null);
  }

  readonly engine = {
    inspect: async (id: string) =>
      this.#away === null ? this.#sight(id) : { kind: 'unreachable' as const, why: this.#away },
    networks: async () => ({
      kind: 'listed' as const,
      items: [{ id: 'b', name: 'bridge', createdAt: this.engineBegunAt, labels: {} }],
    }),
    restart: async (id: string) => {
      this.restarts.push(id);
      const deed = await this.answer(id);
      if (deed.kind === 'done' && this.#states.has(id)) this.put(id, 'starting');
      return deed;
    },
    remove: async (id: string): Promise<ActionResult> => {
      if (this.removal.kind === 'done') this.remove(id);
      return this.removal;
    },
  } as unknown as EngineClient;

  readonly watch: ContainerWatch = {
    watch: (id, listener) => {
      const listeners = this.#listeners.get(id) ?? new Set();
      this.#listeners.set(id, listeners.add(listener));
      listener.seen(this.#sight(id), null);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    blindness: null,
    wasAway: (since) => this.#away !== null || this.#awayUntil >= since,
    hurry: (id) => this.#tell(id),
    close: async () => {},
  };
}
