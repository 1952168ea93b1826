/** A ticket service with a clock of its own: what is tried again later is tried again at once when the test says so. */

import type { CommandRunner } from '../../../src/base/command.ts';
import { noFailpoints } from '../../../src/base/failpoints.ts';
import type { Log } from '../../../src/base/log.ts';
import { ALONE } from '../../../src/incidents/ports.ts';
import type { TicketService, TicketsSpec } from '../../../src/incidents/tickets/ports.ts';
import type { Ticket } from '../../../src/incidents/tickets/rules/ticket.ts';
import { createTicketService } from '../../../src/incidents/tickets/service.ts';
import { createAsk } from '../../../src/incidents/web.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { MemoryBook } from '../../support/ticket-samples.ts';
import { waitFor } from '../../support/wait-for.ts';

const noCommands: CommandRunner = { run: () => Promise.reject(new Error('no commands here')) };

export class TicketsWorld implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly book: MemoryBook;
  readonly logged: string[] = [];
  service: TicketService;
  readonly #commands: CommandRunner;

  constructor(spec: TicketsSpec, tickets: readonly Ticket[], commands: CommandRunner = noCommands) {
    this.book = new MemoryBook(...tickets);
    this.#commands = commands;
    this.service = this.#open(spec);
  }

  #open(spec: TicketsSpec): TicketService {
    const say = (message: string, data?: unknown) => void this.logged.push(`${message} ${JSON.stringify(data)}`);
    const log: Log = { info: say, warn: say, error: say };
    const env = { PATH: '/usr/bin:/bin' };
    const { book, clock } = this;
    const ask = createAsk(clock);
    const secrets = () => ['zebra-4711-giraffe'];
    const parts = {
      book,
      clock,
      log,
      failpoints: noFailpoints,
      commands: this.#commands,
      env,
      secrets,
      ask,
      spec,
      shared: ALONE,
    };
    return createTicketService(parts);
  }

  /** As after a kill -9: nothing is remembered but the book. */
  async restart(spec: TicketsSpec): Promise<void> {
    await this.service.dispose();
    this.service = this.#open(spec);
  }

  standing(tracker: string, number = 3) {
    return this.book.find(number)!.trackers[tracker]!;
  }

  /** Lets pauses pass until it holds. */
  async until(what: string, condition: () => boolean): Promise<void> {
    await waitFor(what, async () => {
      if (condition()) return true;
      await this.clock.advance(60_000);
      return condition();
    });
  }

  async delivered(tracker: string, number = 3): Promise<void> {
    await this.until(`${tracker} to know everything`, () => this.standing(tracker, number).errands.length === 0);
  }

  /** Everything that anybody can get to see. */
  everything(): string {
    return JSON.stringify([...this.book.tickets.values(), ...this.book.told, ...this.logged]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service.dispose();
  }
}
