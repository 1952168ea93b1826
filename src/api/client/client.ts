/** What can be asked of a running daemon over its socket. Tiny: every command of the CLI loads it. */
import type { AgentRequest, AgentsQuery } from '../../agents/ports.ts';
import type { AgentsCheckView, AgentsReportView, AgentsView, OneAgentView } from '../../agents/rules/views.ts';
import { AppError } from '../../base/pure/errors.ts';
import type { CampaignsView, CampaignView } from '../../campaigns/rules/views.ts';
import type { HealthQuery } from '../../checks/rules/plan.ts';
import type { ChecksView } from '../../checks/rules/view.ts';
import type { HealthReport } from '../../checks/spec.ts';
import type { OverviewView, PageView } from '../../dashboard/rules/views.ts';
import type { AlertsView, AlertTestView } from '../../incidents/alerts/rules/view.ts';
import type { IncidentState } from '../../incidents/rules/incident.ts';
import type { IncidentsView, OneIncidentView } from '../../incidents/rules/view.ts';
import type { OneTicketView, TicketsView } from '../../incidents/tickets/rules/view.ts';
import type { LogLineView, LogsQuery, LogsView } from '../../logs/ports.ts';
import type { SessionQuery, SpawnRequest } from '../../sessions/ports.ts';
import type { OneSessionView, SessionsView } from '../../sessions/rules/view.ts';
import type { ConfigurationView } from '../../supervision/rules/configuration-view.ts';
import type { SimulationRequest, SimulationView } from '../../supervision/rules/simulation.ts';
import type {
  ComponentView,
  CrashesView,
  EventsView,
  EventView,
  ProbesView,
  RunsView,
  SamplesView,
  StatusView,
  WhyView,
} from '../../supervision/rules/views.ts';
import type {
  ActionView,
  BeatView,
  DownOptions,
  ReloadOptions,
  ReloadView,
  RestartOptions,
  UpView,
  ValidationView,
} from '../control.ts';
import { type Address, type CallOptions, callJson } from './call.ts';
import { type EventsQuery, type FollowOptions, followEvents, readStream } from './event-reader.ts';

export interface CrashesQuery {
  readonly component?: string | undefined;
  /** The type of an agent. */
  readonly agent?: string | undefined;
  readonly task?: string | undefined;
  /** The type of the error. */
  readonly type?: string | undefined;
  readonly incident?: number | undefined;
  readonly sinceMs?: number | undefined;
  readonly limit?: number | undefined;
}

export interface SamplesQuery {
  readonly component: string;
  readonly sinceMs?: number | undefined;
  readonly limit?: number | undefined;
}

export interface RunListQuery {
  readonly component?: string | undefined;
  readonly limit?: number | undefined;
}

/** Default: those that are open. */
export interface IncidentListQuery {
  readonly state?: IncidentState | 'all' | undefined;
  readonly limit?: number | undefined;
}

/** Default: those that are open. */
export interface TicketListQuery {
  readonly state?: 'open' | 'closed' | 'all' | undefined;
  readonly limit?: number | undefined;
}

/** Every call throws DAEMON_NOT_RUNNING when nobody listens on the socket (see `ifRunning`). */
export interface Client {
  status(): Promise<StatusView>;
  component(name: string): Promise<ComponentView>;
  /** Asks the checks; throws NO_SUCH_CHECK. */
  health(query: HealthQuery): Promise<HealthReport>;
  version(): Promise<string>;
  /** `files`: must be those the daemon runs with; empty: whichever these are. */
  up(components: readonly string[], files: readonly string[]): Promise<UpView>;
  reload(options?: ReloadOptions): Promise<ReloadView>;
  validate(): Promise<ValidationView>;
  act(
    action: 'start' | 'stop' | 'restart',
    components: readonly string[],
    options?: RestartOptions,
  ): Promise<ActionView>;
  beat(component: string): Promise<BeatView>;
  /** Where the page is, with a token; opens it where the configuration does not. */
  dashboard(role: PageView['role']): Promise<PageView>;
  down(options?: DownOptions): Promise<ActionView>;
  handover(): Promise<void>;
  crashes(query: CrashesQuery): Promise<CrashesView>;
  why(which: { readonly component: string } | { readonly id: number }): Promise<WhyView>;
  incidents(query: IncidentListQuery): Promise<IncidentsView>;
  acknowledgeIncident(id: number): Promise<OneIncidentView>;
  silenceIncident(id: number, forMs: number): Promise<OneIncidentView>;
  alerts(): Promise<AlertsView>;
  testAlerts(): Promise<AlertTestView>;
  probes(component: string, limit: number): Promise<ProbesView>;
  samples(query: SamplesQuery): Promise<SamplesView>;
  runs(query: RunListQuery): Promise<RunsView>;
  checks(limit: number): Promise<ChecksView>;
  overview(): Promise<OverviewView>;
  configuration(component: string): Promise<ConfigurationView>;
  listEvents(query: EventsQuery & { readonly limit: number }): Promise<EventsView>;
  /** Live, over crashes of the daemon, until `signal` aborts. */
  events(options: FollowOptions): AsyncGenerator<EventView, never, undefined>;
  logs(query: LogsQuery): Promise<LogsView>;
  /** The same, and what is written from then on, one connection long. */
  followLogs(query: LogsQuery, signal: AbortSignal): AsyncGenerator<LogLineView, void, undefined>;
  sessions(query: SessionQuery): Promise<SessionsView>;
  session(id: string): Promise<OneSessionView>;
  spawnSession(request: SpawnRequest): Promise<OneSessionView>;
  stopSession(id: string): Promise<OneSessionView>;
  extendSession(id: string, byMs: number): Promise<OneSessionView>;
  tickets(query: TicketListQuery): Promise<TicketsView>;
  ticket(number: string): Promise<OneTicketView>;
  closeTicket(number: string): Promise<OneTicketView>;
  reopenTicket(number: string): Promise<OneTicketView>;
  agents(query: AgentsQuery): Promise<AgentsView>;
  reportAgents(): Promise<AgentsReportView>;
  /** Looks through all of them first. `since`: also tells what was fixed since then. */
  lookAtAgents(since?: string): Promise<AgentsCheckView>;
  spawnAgent(request: AgentRequest): Promise<OneAgentView>;
  /** By pid or by task. */
  stopAgents(which: string): Promise<AgentsView>;
  simulateCrash(request: SimulationRequest): Promise<SimulationView>;
  campaigns(): Promise<CampaignsView>;
  campaign(name: string): Promise<CampaignView>;
}

/** Reading configuration files and preparing dependencies can take its time; everything else is answered from memory. */
const CONFIG_TIMEOUT_MS = 30_000;
const TIMEOUT_MS = 5_000;
/** Whoever beats has work to do. */
const BEAT_TIMEOUT_MS = 1_000;
/** A rare word is looked for in all that is kept, compressed parts too. */
const LOGS_TIMEOUT_MS = 60_000;
/** Checks may be slow one after the other, each within its own time. */
const HEALTH_TIMEOUT_MS = 600_000;
/** A spawn stands in line, and may wait until its container is healthy. */
const SESSION_TIMEOUT_MS = 600_000;

/** The end of an agent may take its grace, and a pass looks at many processes. */
const AGENTS_TIMEOUT_MS = 600_000;

/** Calls at once, of those that are answered soon and of those that may wait for long: the ones never stand behind the others. */
const SOON_AT_ONCE = 8;
const LATE_AT_ONCE = 24;

export function createClient(address: Address, signal?: AbortSignal): Client {
  const [soon, late] = [createPlaces(SOON_AT_ONCE), createPlaces(LATE_AT_ONCE)];
  const call = <T>(method: CallOptions['method'], path: string, body?: object, timeoutMs = TIMEOUT_MS): Promise<T> => {
    const place = timeoutMs > CONFIG_TIMEOUT_MS ? late : soon;
    return place(() => callJson<T>(address, { method, path, timeoutMs, signal, ...(body ? { body } : {}) }));
  };
  const get = <T>(path: string) => call<T>('GET', path);
  return {
    status: async () => filledStatus(await get('/v1/status')),
    component: async (name) => filledComponent(await get(`/v1/components/${encodeURIComponent(name)}`)),
    health: async (wanted) => call('GET', `/v1/health${healthQuery(wanted)}`, undefined, HEALTH_TIMEOUT_MS),
    version: async () => (await get<{ version: string }>('/v1/version')).version,
    up: (components, files) =>
      call('POST', '/v1/up', { components, ...(files.length > 0 ? { files } : {}) }, CONFIG_TIMEOUT_MS),
    reload: ({ dryRun = false } = {}) => call('POST', '/v1/reload', dryRun ? { dry_run: true } : {}, CONFIG_TIMEOUT_MS),
    validate: () => call('GET', '/v1/validate', undefined, CONFIG_TIMEOUT_MS),
    act: (action, components, { recreate = false } = {}) =>
      call('POST', `/v1/${action}`, { components, ...(recreate ? { recreate } : {}) }),
    beat: (component) => call('POST', `/v1/beat/${encodeURIComponent(component)}`, {}, BEAT_TIMEOUT_MS),
    dashboard: (role) => call('POST', '/v1/dashboard', { role }),
    down: (options = {}) => call('POST', '/v1/down', options),
    handover: async () => void (await call('POST', '/v1/handover', {})),
    crashes: ({ sinceMs, ...rest }) => get(`/v1/crashes${query({ ...rest, since: sinceMs })}`),
    incidents: ({ state, limit }) => get(`/v1/incidents${query({ state, limit })}`),
    alerts: () => call('GET', '/v1/alerts'),
    testAlerts: () => call('POST', '/v1/alerts/test', {}),
    acknowledgeIncident: (id) => call('POST', `/v1/incidents/${id}/acknowledge`, {}),
    silenceIncident: (id, forMs) => call('POST', `/v1/incidents/${id}/silence`, { for_ms: forMs }),
    why: (which) => get('id' in which ? `/v1/crashes/${which.id}` : `/v1/why/${encodeURIComponent(which.component)}`),
    probes: (component, limit) => get(`/v1/components/${encodeURIComponent(component)}/probes${query({ limit })}`),
    samples: ({ component, sinceMs, limit }) => get(`/v1/samples${query({ component, since: sinceMs, limit })}`),
    runs: ({ component, limit }) => get(`/v1/runs${query({ component, limit })}`),
    checks: (limit) => get(`/v1/checks${query({ limit })}`),
    overview: () => get('/v1/overview'),
    configuration: (component) => get(`/v1/components/${encodeURIComponent(component)}/configuration`),
    listEvents: ({ after, component, limit }) => get(`/v1/events${query({ after, component, limit })}`),
    events: (options) => followEvents(address, options),
    logs: (wanted) => call('GET', `/v1/logs${logsQuery(wanted)}`, undefined, LOGS_TIMEOUT_MS),
    followLogs: (wanted, until) => readStream(address, `/v1/logs${logsQuery(wanted, true)}`, until),
    sessions: ({ user, all }) => get(`/v1/sessions${query({ user_id: user, all: all ? 'true' : undefined })}`),
    session: (id) => get(sessionPath(id)),
    spawnSession: ({ template, user, ttlMs, wait }) =>
      call('POST', '/v1/sessions', { template, user_id: user, ttl_ms: ttlMs, wait }, SESSION_TIMEOUT_MS),
    stopSession: (id) => call('POST', `${sessionPath(id)}/stop`, {}, SESSION_TIMEOUT_MS),
    extendSession: (id, byMs) => call('POST', `${sessionPath(id)}/extend`, { by_ms: byMs }),
    tickets: ({ state, limit }) => get(`/v1/tickets${query({ state, limit })}`),
    ticket: (number) => get(ticketPath(number)),
    closeTicket: (number) => call('POST', `${ticketPath(number)}/close`, {}),
    reopenTicket: (number) => call('POST', `${ticketPath(number)}/reopen`, {}),
    agents: ({ all }) => get(`/v1/agents${query({ all: all ? 'true' : undefined })}`),
    reportAgents: () => get('/v1/agents/report'),
    lookAtAgents: (since) => call('POST', '/v1/agents/look', { since }, AGENTS_TIMEOUT_MS),
    spawnAgent: ({ type, task }) => call('POST', '/v1/agents', { type, task }),
    stopAgents: (agent) => call('POST', '/v1/agents/stop', { agent }, AGENTS_TIMEOUT_MS),
    simulateCrash: ({ dryRun, ...rest }) => call('POST', '/v1/simulate-crash', { ...rest, dry_run: dryRun }),
    campaigns: () => get('/v1/campaigns'),
    campaign: (name) => get(`/v1/campaigns/${encodeURIComponent(name)}`),
  };
}

const ticketPath = (number: string): string => `/v1/tickets/${encodeURIComponent(number)}`;
const sessionPath = (id: string): string => `/v1/sessions/${encodeURIComponent(id)}`;

function logsQuery(wanted: LogsQuery, follow = false): string {
  const { components, tail, after, sinceMs, untilMs, grep, previous } = wanted;
  const positions = Object.entries(after).map(([name, offset]) => `${name}:${offset}`);
  return query({
    component: components.join(',') || undefined,
    tail,
    after: positions.join(',') || undefined,
    since: sinceMs,
    until: untilMs,
    grep: grep?.source,
    previous: previous ? 'true' : undefined,
    follow: follow ? 'true' : undefined,
  });
}

function healthQuery({ checks, withDeps, timeoutMs }: HealthQuery): string {
  // A list of one empty name would be written like no list, and be answered with all checks; one with a comma, like two.
  const name = checks.find((each) => each === '' || each.includes(','));
  if (name !== undefined) throw new AppError('NO_SUCH_CHECK', { name, suggestion: '' });
  const check = checks.length === 0 ? undefined : checks.join(',');
  return query({ check, with_deps: withDeps ? 'true' : undefined, timeout_ms: timeoutMs });
}

function query(values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given as [string, string][])}`;
}

/** The answer, or null when no daemon is running. */
export async function ifRunning<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AppError && error.code === 'DAEMON_NOT_RUNNING') return null;
    throw error;
  }
}

// The package may be newer than the daemon that answers: what its answers do not have yet is filled in as not known.

type Answer<T, Later extends keyof T> = Omit<T, Later> & Partial<Pick<T, Later>>;

/** Keys that came after the first version. */
export type AnsweredComponent = Answer<ComponentView, 'probes' | 'heartbeat' | 'limits' | 'resources' | 'trial_ms'>;

export interface AnsweredStatus extends Omit<StatusView, 'daemon' | 'components'> {
  readonly daemon: Answer<StatusView['daemon'], 'logs' | 'sessions'>;
  readonly components: readonly AnsweredComponent[];
}

export const filledComponent = (view: AnsweredComponent): ComponentView => ({
  ...view,
  probes: view.probes ?? [],
  heartbeat: view.heartbeat ?? null,
  limits: view.limits ?? [],
  resources: view.resources ?? null,
  trial_ms: view.trial_ms ?? null,
});

export const filledStatus = ({ daemon, components, ...rest }: AnsweredStatus): StatusView => ({
  ...rest,
  daemon: { ...daemon, logs: daemon.logs ?? null, sessions: daemon.sessions ?? null },
  components: components.map(filledComponent),
});

/** So many calls at once: a program with a hundred users asks for a hundred things, and the daemon has places for others, too. */

export type Places = <T>(call: () => Promise<T>) => Promise<T>;

/** Those that come when all places are taken wait for their turn, in order. */
export function createPlaces(count: number): Places {
  let free = count;
  const waiting: (() => void)[] = [];
  return async (call) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await call();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
