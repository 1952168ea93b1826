/** The tickets of a daemon, as methods of the library. */
import type { Client } from '../api/client/client.ts';
import type { TicketView } from '../incidents/tickets/rules/view.ts';

export class DaemonTickets {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Newest first. Default: those that are open. */
  async list(
    options: { readonly state?: 'open' | 'closed' | 'all'; readonly limit?: number } = {},
  ): Promise<readonly TicketView[]> {
    return (await this.#client.tickets(options)).tickets;
  }

  /** By its number: 3 or "BUG-003". Rejects with NO_SUCH_TICKET. */
  async get(number: number | string): Promise<TicketView> {
    return (await this.#client.ticket(String(number))).ticket;
  }

  /** Any number of times. The next crash with the same cause opens it again. */
  async close(number: number | string): Promise<TicketView> {
    return (await this.#client.closeTicket(String(number))).ticket;
  }

  async reopen(number: number | string): Promise<TicketView> {
    return (await this.#client.reopenTicket(String(number))).ticket;
  }
}
