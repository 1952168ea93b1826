/** The daemon's answer to everything that can be asked of it; HTTP routes and the library are thin layers over this. */

import type { DaemonAgents } from '../agents/service.ts';
import type { ActionView, Control, ReloadOptions, ReloadView, UpView, ValidationView } from '../api/control.ts';
import { AppError } from '../base/pure/errors.ts';
import { didYouMean } from '../base/pure/suggest.ts';
import { checksView } from '../checks/rules/view.ts';
import type { HealthReports } from '../checks/service.ts';
import type { CurrentConfig } from '../config/applied.ts';
import type { ResolvedConfig } from '../config/load.ts';
import { ConfigError } from '../config/problem.ts';
import { changedSettings } from '../config/resolve.ts';
import type { Store } from '../history/ports.ts';
import type { Incidents } from '../incidents/ports.ts';
import type { TicketService } from '../incidents/tickets/ports.ts';
import type { Logs } from '../logs/ports.ts';
import type { AppliedView } from '../supervision/rules/plan.ts';
import type { DaemonView } from '../supervision/rules/views.ts';
import type { Supervisor } from '../supervision/supervisor.ts';

export interface ControlParts {
  readonly supervisor: Supervisor;
  readonly store: Store;
  readonly logs: Logs;
  readonly health: Pick<HealthReports, 'report' | 'checks'>;
  readonly overview: Control['overview'];
  readonly configuration: Control['configuration'];
  readonly dashboard: Control['dashboard'];
  readonly sessions: Control['sessions'];
  readonly agents: DaemonAgents;
  readonly incidents: Incidents;
  readonly alerts: Control['alerts'];
  readonly tickets: TicketService;
  simulate: Control['simulate'];
  readonly campaigns: Control['campaigns'];
  readonly config: Pick<CurrentConfig, 'current' | 'read' | 'apply'>;
  readonly subscribe: Control['subscribe'];
  /** What has to be asked before anything is done about a configuration. Rejects with an AppError. */
  check(config: ResolvedConfig): Promise<void>;
  /** What has to be known before a component is started or stopped by hand. Throws an AppError. */
  refuse(): void;
  daemon(): DaemonView;
  /** Somebody changed what is wanted. Null, or why the next daemon would not know of it. */
  wanted(): string | null;
  /** Ends the daemon: after stopping everything, or leaving everything as it is. */
  end(how: 'down' | 'down-remove' | 'handover'): void;
}

export function createControl(parts: ControlParts): Control {
  const { supervisor, store } = parts;
  const acted = (action: ActionView['action'], components: readonly string[]): ActionView => {
    return { schema_version: 1, action, components, not_remembered: parts.wanted() };
  };
  const oneAtATime = inOrder();
  return {
    status: () => ({
      schema_version: 1,
      project: parts.config.current().name,
      daemon: parts.daemon(),
      components: supervisor.views(),
    }),
    component: (name) => supervisor.view(name),
    health: (query) => parts.health.report(query),
    checks: (limit) =>
      checksView(parts.health.checks(), parts.config.current().health.everyMs, (check) =>
        store.checkResults({ check, limit }),
      ),
    overview: parts.overview,
    configuration: parts.configuration,
    dashboard: parts.dashboard,
    up: (names, files) => oneAtATime(() => up(parts, names, files)),
    reload: (options = {}) => oneAtATime(() => reload(parts, options)),
    validate: () => validate(parts),
    start: (names) => {
      parts.refuse();
      supervisor.start(names);
      return acted('start', names);
    },
    stop: (names) => {
      parts.refuse();
      supervisor.stop(names);
      return acted('stop', names);
    },
    restart: (names, { recreate = false } = {}) => {
      parts.refuse();
      supervisor.restart(names, { anew: recreate });
      return acted('restart', names);
    },
    beat: (name) => {
      if (!parts.agents.beat(name)) supervisor.beat(name);
      return { schema_version: 1, component: name };
    },
    down: ({ remove = false } = {}) => {
      const { names } = supervisor;
      supervisor.stop(names);
      const answer = acted('down', names);
      parts.end(remove ? 'down-remove' : 'down');
      return answer;
    },
    simulate: (request) => parts.simulate(request),
    handover: () => parts.end('handover'),
    sessions: parts.sessions,
    agents: parts.agents,
    incidents: parts.incidents,
    alerts: parts.alerts,
    tickets: parts.tickets,
    campaigns: parts.campaigns,
    history: store,
    samples: (query) => supervisor.samples(query),
    logs: parts.logs,
    subscribe: parts.subscribe,
  };
}

/** Reading takes a while; what was read first is applied first, or an older configuration could win over a newer one. */
function inOrder(): <T>(action: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (action) => {
    const mine = last.then(action);
    last = mine.catch(() => {});
    return mine;
  };
}

async function reload(parts: ControlParts, { dryRun = false }: ReloadOptions): Promise<ReloadView> {
  const { supervisor } = parts;
  const config = await parts.config.read();
  await parts.check(config);
  const head = {
    schema_version: 1,
    dry_run: dryRun,
    settings: changedSettings(parts.config.current(), config),
  } as const;
  if (dryRun) return { ...head, ...supervisor.plan(config.components, true) };
  const applied = apply(parts, config, true);
  if (applied.added.length > 0) supervisor.up(applied.added);
  parts.wanted();
  return { ...head, ...applied };
}

/** Whole or not at all: it has been checked. */
function apply(parts: ControlParts, config: ResolvedConfig, startAdded: boolean): AppliedView {
  const applied = parts.supervisor.apply(config.components, startAdded);
  parts.config.apply(config);
  return applied;
}

async function validate({ config }: ControlParts): Promise<ValidationView> {
  const { files } = config.current();
  try {
    const { components } = await config.read();
    const names = components.map(({ name }) => name);
    return { schema_version: 1, valid: true, files, components: names, problems: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { schema_version: 1, valid: false, files, components: [], problems: error.problems };
  }
}

async function up(parts: ControlParts, names: readonly string[], files: readonly string[]): Promise<UpView> {
  const { supervisor } = parts;
  const running = parts.config.current().files;
  if (files.length > 0 && files.join('\n') !== running.join('\n')) {
    throw new AppError('CONFIG_FILES_DIFFER', { running: running.join(', '), asked: files.join(', ') });
  }
  const config = await parts.config.read();
  const known = config.components.map(({ name }) => name as string);
  const name = names.find((each) => !known.includes(each));
  if (name !== undefined) throw new AppError('NO_SUCH_COMPONENT', { name, suggestion: didYouMean(name, known) });
  await parts.check(config);
  const applied = apply(parts, config, false);
  const wanted = names.length > 0 ? names : supervisor.names;
  const outdated = await supervisor.outdated(wanted);
  const components = supervisor.up(wanted);
  supervisor.renew(outdated);
  parts.wanted();
  return { schema_version: 1, applied, components };
}
