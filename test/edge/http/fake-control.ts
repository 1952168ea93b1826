/** A Control without a daemon: two components, a history in memory, and a record of what was asked. */

import { type AgentsReportView, type AgentView, agentView } from '../../../src/agents/rules/views.ts';
import type {
  ActionView,
  BeatView,
  Control,
  ReloadOptions,
  ReloadView,
  UpView,
  ValidationView,
} from '../../../src/api/control.ts';
import { AppError } from '../../../src/base/pure/errors.ts';
import { componentName, type MonoMs, type RunId, type WallMs } from '../../../src/base/pure/ids.ts';
import { didYouMean } from '../../../src/base/pure/suggest.ts';
import type { CampaignSummary } from '../../../src/campaigns/rules/views.ts';
import type { HealthQuery } from '../../../src/checks/rules/plan.ts';
import type { HealthReport } from '../../../src/checks/spec.ts';
import type { OverviewView } from '../../../src/dashboard/rules/views.ts';
import type { History, WhyQuery } from '../../../src/history/ports.ts';
import type { AlertsView } from '../../../src/incidents/alerts/rules/view.ts';
import type { Incident, IncidentsQuery } from '../../../src/incidents/rules/incident.ts';
import type { Ticket } from '../../../src/incidents/tickets/rules/ticket.ts';
import type { LogLineView, Logs, LogsQuery } from '../../../src/logs/ports.ts';
import type { SessionRecord } from '../../../src/sessions/spec.ts';
import type { SampleQuery } from '../../../src/supervision/ports/store.ts';
import { configurationView } from '../../../src/supervision/rules/configuration-view.ts';
import type { ProbeStretch } from '../../../src/supervision/rules/health/stretch.ts';
import { appliedView, type PlanStep } from '../../../src/supervision/rules/plan.ts';
import type { SampleStretch } from '../../../src/supervision/rules/usage/stretch.ts';
import type {
  ComponentView,
  CrashView,
  EventView,
  StatusView,
  Subject,
  WhyView,
} from '../../../src/supervision/rules/views.ts';
import { view } from '../../pure/cli/views.ts';
import { agentRecord, agentsSpec } from '../../support/agent-samples.ts';
import { spec } from '../../support/builders.ts';
import { sessionRecord } from '../../support/session-record.ts';
import { START, ticketSample, wall } from '../../support/ticket-samples.ts';

const NO_AGENTS_REPORT: AgentsReportView = {
  ...{ schema_version: 1, status: 'healthy', timestamp: '2026-01-02T03:04:05.678Z', issues: [] },
  metrics: { active_agents: 0, crashed_agents_last_hour: 0, respawn_success_rate: null, orchestrator_last_poll: null },
};

const nameIn = (which: Exclude<WhyQuery, { readonly id: number }>): string =>
  'component' in which ? which.component : which.subject;

export const component = (name: string, more: Partial<ComponentView> = {}): ComponentView =>
  view(name, { run_id: `${name}~000000001000001`, pid: 4321, tree_mechanism: 'process-group + cookie', ...more });

export const event = (seq: number, name = 'api', type = 'component.started'): EventView => ({
  seq,
  at: new Date(1_767_000_000_000 + seq).toISOString(),
  subject: { kind: 'component', name },
  type,
  run_id: null,
  data: { n: seq },
});

export const crash = (id: number, name: string): CrashView => ({
  id,
  subject: { kind: 'component', name },
  run_id: `${name}~000000001000001`,
  at: new Date(1_767_000_000_000 + id).toISOString(),
  uptime_ms: 2040,
  exit: {
    code: 1,
    signal: null,
    oom: false,
    core: false,
    ambiguous: false,
    spawn_error: null,
    unknown: null,
    unhealthy: null,
    usage: null,
  },
  error_type: null,
  error_message: null,
  root_cause: null,
  fingerprint: 'v1:8f14e45fceea167a',
  agent_type: null,
  task_id: null,
  agent_pid: null,
  decision: 'restart in 1 s (1 of 10 in 10 min)',
  incident: null,
  ticket: null,
});

export const stretch = (name: string, outcome: ProbeStretch['outcome'], second: number): ProbeStretch => ({
  component: componentName(name),
  run: `${name}~000000001000001` as RunId,
  role: 'liveness',
  question: 'tcp :7233',
  outcome,
  message: 'as it was',
  firstAt: (second * 1000) as WallMs,
  lastAt: (second * 1000 + 500) as WallMs,
  count: 3,
  lastMs: 4,
  maxMs: 5,
});

export const sampled = (name: string, second: number): SampleStretch => ({
  component: componentName(name),
  run: `${name}~000000001000001` as RunId,
  firstAt: (second * 1000) as WallMs,
  lastAt: (second * 1000 + 45_000) as WallMs,
  ...{ count: 4, cpuPercent: 0.26, memoryBytes: 42_991_616, memoryMaxBytes: 44_040_192 },
  ...{ fds: 23, threads: 11, processes: 1 },
});

export const why = (id: number, name: string): WhyView => ({
  ...crash(id, name),
  schema_version: 1,
  log_tail: ['boom'],
  stack: [],
  related_files: [],
  earlier_error: null,
  probes: [],
  freeze: null,
  dependencies: [],
  changed_since_good: [],
  rule: { name: 'backoff', counters: { restarts_in_window: 1, failures: 1, spawn_errors: 0, total: 1 } },
});

const statusOf = (components: readonly ComponentView[]): StatusView => ({
  schema_version: 1,
  project: 'demo',
  daemon: {
    running: true,
    answers: true,
    pid: 99,
    version: '0.1.0',
    started_at: '2026-01-02T03:04:05.678Z',
    store: 'ok',
    loop_delay_ms: 1,
    alerts: null,
    guardian_pid: null,
    logs: null,
    sessions: null,
  },
  components,
});

const CAMPAIGN: CampaignSummary = {
  ...{ campaign: 'night', state: 'done', reason: null, file: '/lab/night.yaml' },
  ...{ created_at: '2026-01-02T03:04:05.678Z', ended_at: '2026-01-02T05:04:05.678Z', done: 1, failed: 0, total: 1 },
};

export const EMPTY_OVERVIEW: OverviewView = {
  schema_version: 1,
  project: 'shop',
  daemon: { version: '0.0.0', started_at: null, pid: 1 },
  timeline: { from: '2026-01-01T00:00:00.000Z', bucket_ms: 900_000, buckets: 96 },
  attention: [],
  components: [],
};

export class FakeControl implements Control {
  readonly asked: unknown[][] = [];
  components: ComponentView[] = [component('api'), component('worker')];
  /** What a reload does. */
  steps: PlanStep[] = [];
  settings: string[] = [];
  readonly events: EventView[] = [];
  readonly crashList: WhyView[] = [];
  readonly incidentList: Incident[] = [];
  readonly alerts = {
    view: (): AlertsView => ({
      ...{ schema_version: 1, on: ['gave-up'], channels: [], open: [] },
      ...{ quiet_until: null, next_digest: null },
    }),
    test: () => Promise.resolve({ schema_version: 1, results: [] } as const),
  };
  readonly incidents = {
    incidents: ({ limit }: IncidentsQuery) => this.incidentList.slice(0, limit),
    acknowledge: (id: number) => this.#incident('acknowledge', id),
    silence: (id: number, forMs: number) => this.#incident('silence', id, forMs),
  };
  overviewAnswer: OverviewView = EMPTY_OVERVIEW;
  readonly checks = (limit: number) => {
    this.#record('checks', limit);
    return { schema_version: 1, every_ms: null, checks: [] } as const;
  };
  readonly configuration = (name: string) => {
    this.#record('configuration', name);
    return configurationView(spec(name), (text) => text);
  };
  readonly overview = async () => {
    this.#record('overview');
    return this.overviewAnswer;
  };
  readonly dashboard = async (role: 'read' | 'control') => {
    this.#record('dashboard', role);
    const address = 'http://127.0.0.1:7070/';
    return { schema_version: 1, url: `${address}#token=x`, address, role } as const;
  };
  readonly stretches: ProbeStretch[] = [];
  readonly sampled: SampleStretch[] = [];
  /** By component; what is added later is what is written later. */
  readonly written = new Map<string, string[]>();
  readonly listeners = new Set<(event: EventView) => void>();
  /** Thrown by the next call, whichever it is. */
  failure: Error | null = null;

  readonly history: History = {
    components: () => [],
    crashes: ({ component: name, since, limit }) =>
      this.crashList
        .filter((one) => name === undefined || one.subject.name === name)
        .filter((one) => since === undefined || Date.parse(one.at) >= since)
        .toSorted((a, b) => b.id - a.id)
        .slice(0, limit),
    crashesAfter: (id, limit) => this.crashList.filter((one) => one.id > id).slice(0, limit),
    why: (which) =>
      this.crashList.findLast((one) => ('id' in which ? one.id === which.id : one.subject.name === nameIn(which))) ??
      null,
    events: ({ afterSeq, limit, component: name }) =>
      this.events
        .filter(({ seq, subject }) => seq > afterSeq && (name === undefined || subject.name === name))
        .slice(0, limit),
    lastSeq: () => this.events.at(-1)?.seq ?? 0,
    run: () => null,
    runs: () => [],
    probes: ({ component: name, limit }) =>
      this.stretches.filter(({ component: whose }) => whose === name).slice(0, limit),
    samples: (query) => this.samples(query),
    checkResults: () => [],
    sessions: () => [],
    agents: () => [],
    healthChecks: () => [],
    session: () => null,
    incidents: ({ limit }) => this.incidentList.slice(0, limit),
    incident: () => null,
    incidentOf: () => null,
    tickets: () => [],
    ticket: () => null,
    ticketByFingerprint: () => null,
    lastNumber: () => 0,
    campaigns: () => [],
    campaign: () => null,
    lastGoodIngredients: () => null,
    meta: () => null,
  };

  samples({ component: name, since = 0 as WallMs, limit }: SampleQuery): readonly SampleStretch[] {
    return this.sampled.filter(({ component: whose, lastAt }) => whose === name && lastAt >= since).slice(0, limit);
  }

  component(name: string): ComponentView | null {
    return this.status().components.find((each) => each.name === name) ?? null;
  }

  status(): StatusView {
    if (this.failure) throw this.failure;
    return statusOf(this.components);
  }

  async health(query: HealthQuery): Promise<HealthReport> {
    this.#record('health', query);
    const sandbox = { status: 'failed', message: 'container stopped - start it' } as const;
    return { status: 'unhealthy', timestamp: '2026-01-02T03:04:05.678Z', checks: { sandbox } };
  }

  async up(names: readonly string[], files: readonly string[]): Promise<UpView> {
    this.#record('up', names, files);
    const all = this.components.map(({ name }) => name);
    return { schema_version: 1, applied: appliedView(this.steps), components: names.length > 0 ? names : all };
  }

  async reload(options: ReloadOptions = {}): Promise<ReloadView> {
    this.#record('reload', ...(options.dryRun ? [options] : []));
    return { schema_version: 1, dry_run: options.dryRun ?? false, settings: this.settings, ...appliedView(this.steps) };
  }

  async validate(): Promise<ValidationView> {
    this.#record('validate');
    const names = this.components.map(({ name }) => name);
    return { schema_version: 1, valid: true, files: ['/p/keepwell.yaml'], components: names, problems: [] };
  }

  /** Every line is ten bytes long. */
  readonly logs: Logs = {
    names: () => [...this.written.keys()].sort(),
    open: (query) => {
      this.openedLogs.push(query);
      const { components, tail, after } = query;
      const at = new Map<string, number>();
      const begin = (name: string, count: number) =>
        name in after ? after[name]! / 10 + 1 : Math.max(0, count - tail);
      const lines = (): LogLineView[] =>
        (components.length > 0 ? components : this.logs.names()).flatMap((component) => {
          const all = this.written.get(component) ?? [];
          const from = at.get(component) ?? begin(component, all.length);
          at.set(component, all.length);
          const rest = { at: null, run: null, cut_bytes: 0, lost_bytes: 0 };
          return all.slice(from).map((line, i) => ({ component, line, offset: (from + i) * 10, ...rest }));
        });
      return {
        read: async () => ({ lines: lines(), more: false }),
        rest: async () => [],
        [Symbol.asyncDispose]: async () => void this.closedCursors++,
      };
    },
  };
  readonly sessions: Control['sessions'] = {
    spawn: async (request) => this.#session('spawn', request),
    stop: async (id) => this.#session('stop-session', id),
    extend: (id, byMs) => this.#session('extend', id, byMs),
    get: (id) => this.#session('get', id),
    list: (query) => [this.#session('list', query)],
  };
  readonly agents: Control['agents'] = {
    spawn: async (request) => this.#agent('spawn-agent', request),
    stop: async (which) => [this.#agent('stop-agent', which)],
    list: (query) => [this.#agent('agents', query)],
    report: () => {
      this.#record('report');
      return NO_AGENTS_REPORT;
    },
    check: async (since) => {
      this.#record('check', since);
      return { ...NO_AGENTS_REPORT, fixed: [] };
    },
  };
  readonly tickets: Control['tickets'] = {
    list: (query) => [this.#ticket('tickets', query)],
    show: (number) => this.#ticket('ticket', number),
    close: (number) => ({ ...this.#ticket('close-ticket', number), state: 'closed', closedAt: wall(START) }),
    reopen: (number) => this.#ticket('reopen-ticket', number),
  };

  readonly campaigns: Control['campaigns'] = {
    list: async () => {
      this.#record('campaigns');
      return { schema_version: 1, campaigns: [CAMPAIGN] };
    },
    get: async (name) => {
      this.#record('campaign', name);
      return { schema_version: 1, ...CAMPAIGN, campaign: name, experiments: [] };
    },
  };
  closedCursors = 0;
  readonly openedLogs: LogsQuery[] = [];

  simulate: Control['simulate'] = async (request) => {
    this.#record('simulate', request);
    const { component, agent, kind = 'exit', dryRun = false } = request;
    if (component !== undefined) this.#refuseUnknown([component]);
    const subject =
      component === undefined ? { kind: 'agent', name: agent ?? '' } : { kind: 'component', name: component };
    const rest = { task_id: null, run_id: null, pid: null, steps: ['done'] };
    return { schema_version: 1, dry_run: dryRun, kind, subject: subject as Subject, ...rest };
  };
  start = (names: readonly string[]): ActionView => this.#act('start', names);
  stop = (names: readonly string[]): ActionView => this.#act('stop', names);
  restart = (names: readonly string[]): ActionView => this.#act('restart', names);
  beat = (name: string): BeatView => {
    this.#record('beat', name);
    this.#refuseUnknown([name]);
    return { schema_version: 1, component: name };
  };
  down = (): ActionView => this.#act('down', []);
  handover = (): void => this.#record('handover');

  subscribe(listener: (event: EventView) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** As the supervisor does: into the history and to those who listen, in one go. */
  emit(one: EventView): void {
    this.events.push(one);
    for (const listener of this.listeners) listener(one);
  }

  #act(action: ActionView['action'], names: readonly string[]): ActionView {
    this.#record(action, names);
    this.#refuseUnknown(names);
    return { schema_version: 1, action, components: names, not_remembered: null };
  }

  #refuseUnknown(names: readonly string[]): void {
    const known = this.components.map(({ name }) => name);
    const name = names.find((each) => !known.includes(each));
    if (name !== undefined) throw new AppError('NO_SUCH_COMPONENT', { name, suggestion: didYouMean(name, known) });
  }

  #session(...call: unknown[]): SessionRecord {
    this.#record(...call);
    return sessionRecord();
  }

  #agent(...call: unknown[]): AgentView {
    this.#record(...call);
    return agentView(agentRecord(), agentsSpec(), { now: 0 as MonoMs, wall: 0 as WallMs });
  }

  #ticket(...call: unknown[]): Ticket {
    this.#record(...call);
    if (call[1] === 404) throw new AppError('NO_SUCH_TICKET', { ticket: 'BUG-404' });
    return ticketSample();
  }

  #incident(...call: unknown[]): Incident {
    this.#record(...call);
    const found = this.incidentList.find(({ id }) => id === call[1]);
    if (found === undefined) throw new AppError('NO_SUCH_INCIDENT', { incident: String(call[1]) });
    return { ...found, acknowledgedAt: 0 as WallMs };
  }

  #record(...call: unknown[]): void {
    if (this.failure) throw this.failure;
    this.asked.push(call);
  }
}
