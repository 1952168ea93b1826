import { describe, expect, type TestContext, test } from 'vitest';
import type { EventView } from '../../src/supervision/rules/views.ts';
import { type PrivateEngine, type PrivateEngineOptions, startEngine, TestEngine } from '../support/engine.ts';
import { TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const SESSIONS = 20;
/** How often the Engine is ended and begun; KEEPWELL_ENGINE_ROUNDS=20 for a longer trial. */
const ROUNDS = Number(process.env['KEEPWELL_ENGINE_ROUNDS'] ?? 8);
/** As many as the Engine starts side by side without all of them getting slower. */
const SPAWNS_AT_ONCE = 4;

const CONFIG = `
components:
  watched:
    container: { image: keepwell-test, network: none, command: [sleep, "100000"] }
sessions:
  templates:
    quiet: { image: keepwell-test, network: none, command: [sleep, "100000"], ttl: 1h, per_user: 100 }
`;

interface SessionView {
  readonly session_id: string;
  readonly container_id: string;
  readonly health_status: string;
}

/** A daemon with sessions on an Engine that is ended and begun again under it. */
class World implements AsyncDisposable {
  readonly engine: PrivateEngine;
  readonly project: TestProject;
  readonly #docker: TestEngine;

  constructor(engine: PrivateEngine) {
    this.engine = engine;
    this.#docker = new TestEngine(engine.socketPath);
    this.project = new TestProject(CONFIG, this.#docker.env);
  }

  async fill(count: number): Promise<void> {
    await this.project.ok('up');
    let left = count;
    const spawner = async () => {
      while (left-- > 0) await this.project.ok('sessions', 'spawn', 'quiet', '--user', `user-${left}`);
    };
    await Promise.all(Array.from({ length: SPAWNS_AT_ONCE }, spawner));
  }

  /** Ends the Engine, waits until that is noticed, and begins it again. */
  async restartEngine(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    await this.engine.end(signal);
    await this.project.until('watched', 'out of sight', ({ condition }) => condition === 'engine-unreachable');
    await this.engine.begin();
    await this.project.until(
      'watched',
      'seen again',
      ({ condition, state }) => condition === null && state === 'running',
    );
    await waitFor('the health of all sessions to be known', async () =>
      (await this.sessions()).every(({ health_status }) => health_status !== 'unknown'),
    );
  }

  async sessions(): Promise<readonly SessionView[]> {
    const listed = JSON.parse(await this.project.ok('-o', 'json', 'sessions', 'list'));
    return (listed as { sessions: readonly SessionView[] }).sessions;
  }

  /** When each container was started, by id: those of sessions and of components. */
  async starts(): Promise<Readonly<Record<string, string>>> {
    const listed = JSON.parse(await this.#docker.call('GET', '/containers/json')) as { Id: string }[];
    const started = listed.map(async ({ Id }) => {
      const { State } = JSON.parse(await this.#docker.call('GET', `/containers/${Id}/json`));
      return [Id, State.StartedAt] as const;
    });
    return Object.fromEntries(await Promise.all(started));
  }

  async events(...types: readonly string[]): Promise<readonly EventView[]> {
    const text = await this.project.ok('-o', 'json', 'events', '--limit', '1000');
    const events = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as EventView);
    return events.filter(({ type }) => types.includes(type));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.project[Symbol.asyncDispose]();
    await this.engine[Symbol.asyncDispose]();
  }
}

async function open(options: PrivateEngineOptions, { skip, onTestFinished }: TestContext): Promise<World> {
  try {
    const world = new World(await startEngine(options));
    onTestFinished(() => world[Symbol.asyncDispose]());
    return world;
  } catch (error) {
    if (process.env['KEEPWELL_REQUIRE_ALL'] === '1') throw error;
    return skip((error as Error).message);
  }
}

describe('an Engine that is ended and begun again under sessions', () => {
  test('again and again under 20 containers that go on meanwhile: not one is restarted, and all are known again', async (context) => {
    const world = await open({ liveRestore: true }, context);
    await world.fill(SESSIONS);
    const before = await world.starts();
    expect(Object.keys(before)).toHaveLength(SESSIONS + 1);
    for (let round = 0; round < ROUNDS; round++) await world.restartEngine(round % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
    expect(await world.starts()).toEqual(before);
    expect(await world.sessions()).toHaveLength(SESSIONS);
    expect(await world.events('session.restarted', 'session.unhealthy', 'component.exited')).toEqual([]);
    expect(await world.project.component('watched')).toMatchObject({ state: 'running', restarts: 0 });
  });

  test('when it takes its containers with it they are brought back, and no budget is spent', async (context) => {
    const world = await open({}, context);
    await world.fill(5);
    const before = Object.keys(await world.starts()).sort();
    for (const signal of ['SIGTERM', 'SIGKILL', 'SIGTERM'] as const) {
      await world.restartEngine(signal);
      await waitFor('all containers to run again', async () => Object.keys(await world.starts()).length === 6);
    }
    expect(Object.keys(await world.starts()).sort()).toEqual(before);
    expect(await world.project.crashes()).toEqual([]);
    expect(await world.events('session.gave-up', 'component.gave-up')).toEqual([]);
  });
});
