/** What is answered to a question, whoever asks and whoever answers: a route of the API, or a command when there is no daemon. */

import type { AgentsQuery } from '../agents/ports.ts';
import type { AgentsView } from '../agents/rules/views.ts';
import { AppError } from '../base/pure/errors.ts';
import type { WallMs } from '../base/pure/ids.ts';
import { didYouMean } from '../base/pure/suggest.ts';
import type { CrashQuery } from '../history/ports.ts';
import { type IncidentsView, incidentsView } from '../incidents/rules/view.ts';
import { ticketNumber } from '../incidents/tickets/rules/number.ts';
import { type OneTicketView, oneTicketView, type TicketsView, ticketsView } from '../incidents/tickets/rules/view.ts';
import type { LogLineView, LogsQuery, LogsView } from '../logs/ports.ts';
import type { SessionQuery } from '../sessions/ports.ts';
import { type OneSessionView, oneSessionView, type SessionsView, sessionsView } from '../sessions/rules/view.ts';
import type { RunRow, SampleQuery } from '../supervision/ports/store.ts';
import { stretchView } from '../supervision/rules/health/stretch.ts';
import { sampleView } from '../supervision/rules/usage/stretch.ts';
import type {
  ComponentView,
  CrashesView,
  EventsView,
  ProbesView,
  RunsView,
  RunView,
  SamplesView,
  WhyView,
} from '../supervision/rules/views.ts';
import type { Client, IncidentListQuery, RunListQuery, TicketListQuery } from './client/client.ts';
import type { Control, Records } from './control.ts';

/** Throws NO_SUCH_COMPONENT, with the nearest name there is. */
export function findComponent(records: Pick<Records, 'component' | 'status'>, name: string): ComponentView {
  const found = records.component(name);
  if (found) return found;
  const names = records.status().components.map((component) => component.name);
  const short = name.slice(0, 100);
  throw new AppError('NO_SUCH_COMPONENT', { name: short, suggestion: didYouMean(short, names) });
}

export function crashes(records: Records, query: CrashQuery): CrashesView {
  const { component } = query;
  const found = records.history.crashes(query);
  // A component that is gone from the configuration keeps its history, so only a name nobody knows at all is an error.
  if (component !== undefined && found.length === 0 && records.history.why({ component }) === null) {
    findComponent(records, component);
  }
  return { schema_version: 1, crashes: found };
}

export function crash(records: Records, id: number): WhyView {
  const found = Number.isSafeInteger(id) ? records.history.why({ id }) : null;
  if (found === null) throw new AppError('NO_SUCH_CRASH', { id });
  return found;
}

/** What is not asked for otherwise: those that are open, and of all others so many. */
const DEFAULT_LIMIT = 100;

const listed = <State extends string>({
  state,
  limit = DEFAULT_LIMIT,
}: {
  state?: State | 'all' | undefined;
  limit?: number | undefined;
}) => ({
  state: state === 'all' ? undefined : (state ?? ('open' as const)),
  limit,
});

export const incidents = (records: Records, query: IncidentListQuery): IncidentsView =>
  incidentsView(records.incidents.incidents(listed(query)));

export const tickets = (records: Records, query: TicketListQuery): TicketsView =>
  ticketsView(records.tickets.list(listed(query)));

/** Throws NO_SUCH_TICKET and TICKET_NUMBER_INVALID. */
export const ticket = (records: Records, number: string): OneTicketView =>
  oneTicketView(records.tickets.show(ticketNumber(number)));

export const sessions = (records: Records, query: SessionQuery): SessionsView =>
  sessionsView(records.sessions.list(query));

/** Throws NO_SUCH_SESSION and SESSION_ID_AMBIGUOUS. */
export const session = (records: Records, id: string): OneSessionView => oneSessionView(records.sessions.get(id));

export const agents = (records: Records, query: AgentsQuery): AgentsView => ({
  schema_version: 1,
  agents: records.agents.list(query),
});

/** The newest crash of a component; of a name that no component has, of whatever is called so. */
export function why(records: Records, component: string): WhyView {
  const newest = records.unrecordedDeath?.(component) ?? records.history.why({ component });
  const found = newest ?? records.history.why({ subject: component });
  if (found) return found;
  const isAgent = records.agents.list({ all: true }).some(({ agent_type: type }) => type === component);
  const name = isAgent ? component : findComponent(records, component).name;
  throw new AppError('NOTHING_RECORDED', { name });
}

/** Also of a component that is gone from the configuration. */
export function runs(records: Records, query: RunListQuery): RunsView {
  const { component, limit = DEFAULT_LIMIT } = query;
  const found = records.history.runs({ component, limit });
  if (component !== undefined && found.length === 0) findComponent(records, component);
  return { schema_version: 1, runs: found.map(runView) };
}

const runView = ({ run, component, begunAt, endedAt, pid, exit, planned, good, decision, rule }: RunRow): RunView => ({
  ...{ run_id: run, component, started_at: new Date(begunAt).toISOString() },
  ended_at: endedAt === null ? null : new Date(endedAt).toISOString(),
  ...{ pid, exit, planned, crashed: good === null ? null : !good && planned === false, decision, rule },
});

/** Also of a component that is gone from the configuration: what it answered stays on record. */
export function probes(records: Records, component: string, limit: number): ProbesView {
  const found = records.history.probes({ component, limit });
  if (found.length === 0) findComponent(records, component);
  return { schema_version: 1, probes: found.map(stretchView) };
}

/** Also of a component that is gone from the configuration. */
export function samples(records: Records, query: SampleQuery): SamplesView {
  const found = records.samples(query);
  if (found.length === 0) requireKnown(records, query.component);
  return { schema_version: 1, samples: found.map(sampleView) };
}

/** Nothing since a certain time is an answer about a component that is, or was, there. */
function requireKnown(records: Records, component: string): void {
  if (records.samples({ component, limit: 1 }).length === 0) findComponent(records, component);
}

export function events(
  { history }: Records,
  { after = 0, component, limit }: { after?: number | undefined; component?: string | undefined; limit: number },
): EventsView {
  const filter = component === undefined ? {} : { component };
  const found = history.events({ afterSeq: after, limit, ...filter });
  return { schema_version: 1, last_seq: history.lastSeq(), events: found };
}

/** A component that has written nothing yet is known to the daemon, one that is gone from the configuration still has its log. */
export function requireLogged(control: Control, components: readonly string[]): void {
  const logged = components.length === 0 ? [] : control.logs.names();
  for (const name of components) if (!logged.includes(name)) findComponent(control, name);
}

/** Lines that are answered at once, together; of more than this the newest. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** The last lines, component by component. */
export async function logs(control: Control, query: LogsQuery): Promise<LogsView> {
  requireLogged(control, query.components);
  await using cursor = control.logs.open(query);
  const newest = new NewestLines(MAX_ANSWER_BYTES);
  for (let more = true; more; ) {
    const batch = await cursor.read();
    newest.add(batch.lines);
    more = batch.more;
  }
  // The last line of each comes in `rest` when it has no line break yet: it belongs behind the others of its component.
  newest.add(await cursor.rest());
  return { schema_version: 1, lines: newest.lines.toSorted((a, b) => compare(a.component, b.component)) };
}

/** Keeps what comes last within its bounds. */
class NewestLines {
  readonly #maxBytes: number;
  #bytes = 0;
  lines: LogLineView[] = [];

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(lines: readonly LogLineView[]): void {
    for (const line of lines) {
      this.lines.push(line);
      this.#bytes += line.line.length;
    }
    let gone = 0;
    while (this.#bytes > this.#maxBytes && gone < this.lines.length - 1) this.#bytes -= this.lines[gone++]!.line.length;
    if (gone > 0) this.lines = this.lines.slice(gone);
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

// For commands: as the client of a daemon answers, from records.

export type RecordsClient = Pick<
  Client,
  | 'status'
  | 'crashes'
  | 'why'
  | 'incidents'
  | 'samples'
  | 'runs'
  | 'listEvents'
  | 'sessions'
  | 'session'
  | 'tickets'
  | 'ticket'
  | 'agents'
>;

const DEFAULT_SAMPLES = 100;

export const recordsClient = (records: Records): RecordsClient => ({
  status: async () => records.status(),
  crashes: async ({ sinceMs, ...rest }) => crashes(records, { ...rest, since: sinceMs as WallMs | undefined }),
  why: async (which) => ('id' in which ? crash(records, which.id) : why(records, which.component)),
  incidents: async (query) => incidents(records, query),
  samples: async ({ component, sinceMs, limit = DEFAULT_SAMPLES }) =>
    samples(records, { component, limit, ...(sinceMs === undefined ? {} : { since: sinceMs as WallMs }) }),
  runs: async (query) => runs(records, query),
  listEvents: async (query) => events(records, query),
  sessions: async (query) => sessions(records, query),
  session: async (id) => session(records, id),
  tickets: async (query) => tickets(records, query),
  ticket: async (number) => ticket(records, number),
  agents: async (query) => agents(records, query),
});
