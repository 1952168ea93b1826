/** Sessions over a real Engine, as one process after the other would keep them: the book outlives them, the containers too. */
import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { noFailpoints } from '../../src/base/failpoints.ts';
import { silentLog } from '../../src/base/log.ts';
import { createEngine } from '../../src/docker/engine.ts';
import { createHealer } from '../../src/docker/healing/healer.ts';
import type { EngineClient } from '../../src/docker/ports.ts';
import { createContainerWatch } from '../../src/docker/watch/watch.ts';
import { createMemoryBook } from '../../src/sessions/memory-book.ts';
import type { SessionBook, Sessions } from '../../src/sessions/ports.ts';
import type { SessionTemplate } from '../../src/sessions/rules/template.ts';
import { createSessions } from '../../src/sessions/service.ts';
import type { SessionEvent, SessionRecord } from '../../src/sessions/spec.ts';
import type { TestEngine } from './engine.ts';
import { template } from './session-record.ts';

export interface WorldOptions {
  readonly templates?: readonly SessionTemplate[];
  readonly max?: number;
  readonly clock?: Clock;
}

export class SessionsWorld {
  readonly engine: TestEngine;
  readonly owner = `test-${randomBytes(6).toString('hex')}`;
  readonly told: { readonly session: string; readonly event: SessionEvent }[] = [];
  readonly client: EngineClient;
  #records: readonly SessionRecord[] = [];
  #book: SessionBook | null = null;
  #end: (() => Promise<void>) | null = null;

  constructor(engine: TestEngine) {
    this.engine = engine;
    this.client = createEngine({ env: engine.env, clock: systemClock });
  }

  /** A process begins to keep sessions. */
  begin({ templates = [template()], max = 100, clock = systemClock }: WorldOptions = {}): Sessions {
    const kept = createMemoryBook(this.#records);
    this.#book = kept;
    const book: SessionBook = {
      ...kept,
      save: (record, told) => {
        kept.save(record, told);
        for (const event of told) this.told.push({ session: record.id, event });
      },
    };
    const watch = createContainerWatch({
      engine: this.client,
      clock: systemClock,
      log: silentLog,
      random: Math.random,
    });
    const healer = createHealer({
      engine: this.client,
      watch,
      clock: systemClock,
      random: Math.random,
      log: silentLog,
    });
    const sessions = createSessions({
      engine: this.client,
      watch,
      healer,
      clock,
      book,
      owner: this.owner,
      log: silentLog,
      failpoints: noFailpoints,
      spec: { templates, max },
      newId: () => randomBytes(16).toString('hex'),
      environmentOf: ({ env }) => env,
    });
    this.#end = async () => {
      await sessions.close();
      await healer.close();
      await watch.close();
    };
    return sessions;
  }

  /** That process ends. `forget`: and the book is lost with it. */
  async end({ forget = false } = {}): Promise<void> {
    await this.#end?.();
    this.#end = null;
    const book = this.#book;
    this.#records = forget || !book ? [] : [...book.open(), ...book.ended({ limit: 100 })];
  }

  types(session: string): readonly string[] {
    return this.told.filter((each) => each.session === session).map(({ event }) => event.type);
  }

  /** The full ids of its containers. */
  async containers(): Promise<readonly string[]> {
    return (await this.engine.labelled(this.#label)).map(({ Id }) => Id);
  }

  async networks(): Promise<readonly string[]> {
    const filters = encodeURIComponent(JSON.stringify({ label: [this.#label] }));
    const found = JSON.parse(await this.engine.call('GET', `/networks?filters=${filters}`)) as { Id: string }[];
    return found.map(({ Id }) => Id);
  }

  get #label(): string {
    return `keepwell.owner=${this.owner}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end?.();
    for (const id of await this.containers()) await this.engine.remove(id);
    for (const id of await this.networks()) await this.engine.call('DELETE', `/networks/${id}`);
  }
}
