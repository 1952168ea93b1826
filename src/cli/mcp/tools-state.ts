/** Tools about how things stand: problems, status, health, graph, usage, tickets. */
import { z } from 'zod';
import { daemonHealth } from '../../api/client/daemon-health.ts';
import type { HealthReport } from '../../checks/spec.ts';
import type { IncidentView } from '../../incidents/rules/view.ts';
import type { TicketView } from '../../incidents/tickets/rules/view.ts';
import { dependentsOf, levels, withDependencies } from '../../supervision/rules/graph.ts';
import type { ComponentView, DaemonView, SampleView } from '../../supervision/rules/views.ts';
import { wellbeing } from '../../supervision/rules/wellbeing.ts';
import { parseWhen } from '../logs/when.ts';
import { resolveTargets } from '../targets.ts';
import { type Answer, answer } from './answer.ts';
import type { McpProject } from './project.ts';
import { count, NAME, PATTERN, SINCE, tool } from './tool.ts';

const MORE_BY_NAME = 'Ask again with a name.';

export const problems = tool({
  name: 'problems',
  title: 'What is wrong now',
  description:
    'The first call to make. Everything that is wrong right now in one answer: open incidents (each with its cause and what is affected), components that gave up, are frozen, unhealthy or not ready, open tickets, and problems of the daemon itself. "well": true means there is nothing to do.',
  input: z.strictObject({}),
  run: (project) => problemsAnswer(project),
});

export async function problemsAnswer(project: McpProject): Promise<Answer> {
  const { value, source } = await project.read(async (records) => ({
    status: await records.status(),
    incidents: (await records.incidents({ state: 'open' })).incidents,
    tickets: (await records.tickets({ state: 'open', limit: 50 })).tickets,
  }));
  const { status, incidents, tickets } = value;
  const unwell = status.components.flatMap((view) => {
    const judged = wellbeing(view);
    if (judged.kind === 'well' || judged.kind === 'unwanted') return [];
    const { message, advice = null } = judged;
    return [{ name: view.name, state: view.state, what: message, advice, next_attempt_at: view.next_attempt_at }];
  });
  const ofDaemon = daemonProblems(status.daemon);
  const well = incidents.length + unwell.length + ofDaemon.length === 0;
  const facts = {
    project: status.project,
    well,
    ...source,
    daemon: ofDaemon,
    incidents: incidents.slice(0, 20).map(briefIncident),
    tickets: tickets.slice(0, 20).map(briefTicket),
  };
  return answer(facts, { list: { key: 'components', items: unwell, more: 'See "status" for all components.' } });
}

function daemonProblems(daemon: DaemonView): readonly string[] {
  const { running, answers, store, logs, alerts, waits_for: waitsFor, page } = daemon;
  const all = [
    running ? null : 'no daemon is running: nothing is restarted. Run "keepwell up".',
    running && !answers ? 'the daemon does not answer' : null,
    waitsFor,
    store === null || store === 'ok' ? null : store,
    logs?.condition,
    alerts,
    page?.problem,
  ];
  return all.filter((one): one is string => typeof one === 'string');
}

const briefIncident = ({
  id,
  title,
  root_cause,
  subject,
  affected,
  count,
  opened_at,
  last_at,
  ticket,
}: IncidentView) => ({
  ...{ id, title, root_cause, subject: subject.name, affected, crashes: count, opened_at, last_at, ticket },
});

const briefTicket = ({ number, state, title, priority, count, last_seen, subject, incident }: TicketView) => ({
  ...{ number, state, title, priority, crashes: count, last_seen, subject: subject.name, incident },
});

export const status = tool({
  name: 'status',
  title: 'How components are',
  description:
    'State, health and readiness of the components, with a sentence about what is going on and when the next attempt is. With the name of one component: everything that is known about it, including its probes, limits and resource use.',
  input: z.strictObject({ name: PATTERN.optional() }),
  run: (project, { name }) => statusAnswer(project, name),
});

export async function statusAnswer(project: McpProject, name: string | undefined): Promise<Answer> {
  const { value, source } = await project.read((records) => records.status());
  const names = value.components.map((one) => one.name);
  const chosen = name === undefined ? names : resolveTargets([name], names);
  const views = value.components.filter((one) => chosen.includes(one.name));
  const { running, answers, version } = value.daemon;
  const facts = { project: value.project, ...source, daemon: { running, answers, version } };
  if (name !== undefined && views.length === 1) return answer({ ...facts, component: views[0] });
  return answer(facts, { list: { key: 'components', items: views.map(brief), more: MORE_BY_NAME } });
}

export const brief = (view: ComponentView) => ({
  name: view.name,
  kind: view.kind,
  state: view.state,
  health: view.health,
  ready: view.ready,
  condition: view.condition ?? undefined,
  note: view.note ?? undefined,
  uptime_ms: view.uptime_ms,
  restarts: view.restarts,
  next_attempt_at: view.next_attempt_at ?? undefined,
  waiting_for: view.waiting_for.length > 0 ? view.waiting_for : undefined,
  last_crash_at: view.last_exit?.crash ? view.last_exit.at : undefined,
});

export const health = tool({
  name: 'health',
  title: 'Run the checks',
  description:
    'Runs the checks of the configuration now and says whether all is well: {status: healthy|unhealthy, checks: {name: {status, message}}}. Without checks in the configuration, every component is checked.',
  input: z.strictObject({
    check: z.string().min(1).max(200).optional().describe('only this check'),
  }),
  run: async (project, { check }) => {
    const query = { checks: check === undefined ? [] : [check], withDeps: false };
    const { report, source } = await healthReport(project, query);
    const { checks, ...rest } = report;
    const items = Object.entries(checks).map(([name, result]) => ({ name, ...result }));
    return answer({ ...rest, ...source }, { list: { key: 'checks', items, more: 'Ask for one check by its name.' } });
  },
});

async function healthReport(
  { call }: McpProject,
  query: { readonly checks: readonly string[]; readonly withDeps: boolean },
): Promise<{ readonly report: HealthReport; readonly source: object }> {
  const asked = await daemonHealth(call.client, query);
  if ('report' in asked) return { report: asked.report, source: {} };
  const { localHealth } = await import('../../daemon/health-report.ts');
  const { project, world, signal } = call;
  const report = await localHealth({ project, env: world.env, query, signal, whose: 'this command', hosted: false });
  return { report, source: { source: `${asked.why ?? 'the daemon was not asked'}; asked from here` } };
}

export const graph = tool({
  name: 'graph',
  title: 'What depends on what',
  description:
    'The dependencies between components: for each one what it needs, what needs it (what a failure of it affects), and its step in the start order. With a name: that component and everything it needs.',
  input: z.strictObject({ name: PATTERN.optional() }),
  run: async (project, { name }) => {
    const { value, source } = await project.read((records) => records.status());
    const all = new Map(value.components.map((view) => [view.name, Object.keys(view.depends_on)]));
    const chosen =
      name === undefined ? new Set(all.keys()) : withDependencies(all, resolveTargets([name], [...all.keys()]));
    const steps = levels(all);
    const items = value.components
      .filter((view) => chosen.has(view.name))
      .map((view) => ({
        ...{ name: view.name, step: steps.get(view.name), state: view.state, ready: view.ready },
        needs: view.depends_on,
        needed_by: dependentsOf(all, view.name),
      }))
      .sort((one, other) => (one.step ?? 0) - (other.step ?? 0));
    return answer({ project: value.project, ...source }, { list: { key: 'components', items, more: MORE_BY_NAME } });
  },
});

const MAX_POINTS = 60;
const MAX_SAMPLES = 1_000;

export const usage = tool({
  name: 'usage',
  title: 'CPU and memory over time',
  description: `What a component used: CPU (100 is one core), memory, open files, threads and processes, oldest first, in at most ${MAX_POINTS} points.`,
  input: z.strictObject({ name: NAME, since: SINCE.default('1h') }),
  run: async (project, { name, since }) => {
    const sinceMs = parseWhen(since, 'since', Date.now());
    const query = { component: name, sinceMs, limit: MAX_SAMPLES };
    const { value, source } = await project.read((records) => records.samples(query));
    const points = thinned(value.samples.toReversed(), MAX_POINTS);
    const items = points.map(({ component: _name, run_id: _run, ...point }) => point);
    return answer({ component: name, ...source }, { list: { key: 'points', items, more: 'Ask for a shorter time.' } });
  },
});

/** So many of them, the first and the last among them. Peaks stay: of those that are left out the largest memory is kept. */
export function thinned(samples: readonly SampleView[], most: number): readonly SampleView[] {
  if (samples.length <= most) return samples;
  const groups = Array.from({ length: most }, (_, index) =>
    samples.slice(Math.floor((index * samples.length) / most), Math.floor(((index + 1) * samples.length) / most)),
  );
  return groups.map((group) => ({
    ...group.at(-1)!,
    first_at: group[0]!.first_at,
    count: group.reduce((sum, { count }) => sum + count, 0),
    memory_max_bytes: Math.max(...group.map(({ memory_max_bytes: max }) => max)),
  }));
}

export const tickets = tool({
  name: 'tickets',
  title: 'Problems that people should look at',
  description:
    'The open tickets, or with all: true also the closed ones; with a number such as "BUG-003": that one, with its description, reproduction steps and error log.',
  input: z.strictObject({
    number: z.string().min(1).max(40).optional().describe('such as BUG-003'),
    all: z.boolean().default(false),
    limit: count(50, 20),
  }),
  run: async (project, { number, all, limit }) => {
    if (number === undefined) {
      const query = { state: all ? ('all' as const) : ('open' as const), limit };
      const { value, source } = await project.read((records) => records.tickets(query));
      const items = value.tickets.map(briefTicket);
      return answer({ ...source }, { list: { key: 'tickets', items, more: 'Ask for one by its number.' } });
    }
    const { value, source } = await project.read((records) => records.ticket(number));
    const { error_logs: logs, description, ...ticket } = value.ticket;
    const more = `The whole of it: "keepwell tickets show ${ticket.number}".`;
    return answer(
      { ...source, ticket },
      {
        written: [
          { by: `description of ${ticket.number}, which quotes the program`, lines: lined(description), more },
          { by: `error log of ${ticket.number}`, lines: await project.redacted(lined(logs)), more },
        ],
      },
    );
  },
});

const lined = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'));
