import type { Agents } from '../agents/ports.ts';
import type { WholeNumber } from '../base/pure/json.ts';
import type { CampaignArchive } from '../campaigns/ports.ts';
import type { HealthQuery } from '../checks/rules/plan.ts';
import type { ChecksView } from '../checks/rules/view.ts';
import type { HealthReport } from '../checks/spec.ts';
import type { OverviewView, PageView } from '../dashboard/rules/views.ts';
import type { History } from '../history/ports.ts';
import type { AlertService } from '../incidents/alerts/ports.ts';
import type { Incidents } from '../incidents/ports.ts';
import type { TicketService } from '../incidents/tickets/ports.ts';
import type { Logs } from '../logs/ports.ts';
import type { Sessions } from '../sessions/ports.ts';
import type { SampleQuery } from '../supervision/ports/store.ts';
import type { ConfigurationView } from '../supervision/rules/configuration-view.ts';
import type { AppliedView } from '../supervision/rules/plan.ts';
import type { SimulationRequest, SimulationView } from '../supervision/rules/simulation.ts';
import type { SampleStretch } from '../supervision/rules/usage/stretch.ts';
import type { ComponentView, EventView, StatusView, WhyView } from '../supervision/rules/views.ts';

/** What applying the configuration did, or would do, by component. */
export interface ReloadView extends AppliedView {
  readonly schema_version: 1;
  /** True: this is what would be done; nothing was. */
  readonly dry_run: boolean;
  /** What changed for the project as a whole; it takes hold without a restart. */
  readonly settings: readonly string[];
}

export interface ReloadOptions {
  /** Only say what would be done. */
  readonly dryRun?: boolean;
}

/** What was applied, and which components are wanted now, in start order. */
export interface UpView {
  readonly schema_version: 1;
  readonly applied: AppliedView;
  readonly components: readonly string[];
}

export interface RestartOptions {
  /** Makes the containers of those that have one anew, also when nothing about them changed. Default: false. */
  readonly recreate?: boolean;
}

export interface DownOptions {
  /** Removes the stopped containers and the networks that were made for the project. Volumes stay. Default: false. */
  readonly remove?: boolean;
}

/** What was asked of whom. The outcome is in the status and in the events. */
export interface ActionView {
  readonly schema_version: 1;
  readonly action: 'start' | 'stop' | 'restart' | 'down';
  readonly components: readonly string[];
  /** Why a daemon that begins anew would not know of it, such as a full disk. Null: it would. */
  readonly not_remembered: string | null;
}

/** The heartbeat was heard. */
export interface BeatView {
  readonly schema_version: 1;
  readonly component: string;
}

/** Whether the configuration files could be applied as they are now. */
export interface ValidationView {
  readonly schema_version: 1;
  readonly valid: boolean;
  /** The configuration files, absolute. */
  readonly files: readonly string[];
  /** Their names; empty when it is not valid. */
  readonly components: readonly string[];
  readonly problems: readonly {
    readonly file: string;
    readonly line: WholeNumber;
    readonly column: WholeNumber;
    /** Dotted; empty for the file as a whole. */
    readonly path: string;
    readonly message: string;
    readonly hint: string | null;
  }[];
}

/** What questions about a project are answered from: by a running daemon, or from its records on disk when there is none. */
export interface Records {
  status(): StatusView;
  /** One of the components of `status`, without looking at the others; null: there is none of this name. */
  component(name: string): ComponentView | null;
  /** Containers of users. */
  readonly sessions: Pick<Sessions, 'get' | 'list'>;
  /** Workers that are spawned for a task. */
  readonly agents: Pick<Agents, 'list'>;
  /** Open problems, each with one cause. */
  readonly incidents: Pick<Incidents, 'incidents'>;
  /** Problems that people should look at. */
  readonly tickets: Pick<TicketService, 'list' | 'show'>;
  readonly history: History;
  /** What a component used, newest first; also what the history does not have yet. */
  samples(query: SampleQuery): readonly SampleStretch[];
  /** A death that only its run directory knows of; null: there is none. Absent: a daemon records each of them. */
  unrecordedDeath?(component: string): WhyView | null;
}

/**
 * All that can be asked of a running daemon; the HTTP routes and the library are thin layers over it.
 * Actions record what is wanted and return at once; progress is read from `status` and the events.
 * Unknown names reject with NO_SUCH_COMPONENT and change nothing; while the daemon is closing, actions reject with DAEMON_CLOSING.
 */
export interface Control extends Records {
  /** Asks the checks of the configuration in force, anew for every call. Rejects with NO_SUCH_CHECK. */
  health(query: HealthQuery): Promise<HealthReport>;
  /** What the checks came to on schedule, with so many results each. */
  checks(limit: number): ChecksView;
  /** The configuration of a component as it was applied, without values of variables; null: there is none of this name. */
  configuration(name: string): ConfigurationView | null;
  /** All that one screen shows: what needs attention, and every component with its last 24 hours. */
  overview(): Promise<OverviewView>;
  /** Where the page is; opens it where the configuration does not. Rejects with DASHBOARD_CLOSED. */
  dashboard(role: PageView['role']): Promise<PageView>;
  /**
   * Reads the configuration files again, applies them, and wants the named components (default: all) and their dependencies running.
   * `files` must be the ones it runs with; empty: whichever these are.
   */
  up(names: readonly string[], files: readonly string[]): Promise<UpView>;
  /**
   * Reads the configuration files again and applies them; what is new is wanted running. Any problem leaves everything as it was.
   * With `dryRun` it only says what it would do.
   */
  reload(options?: ReloadOptions): Promise<ReloadView>;
  /** Reads the configuration files and says what is wrong with them. Changes nothing. */
  validate(): Promise<ValidationView>;
  start(names: readonly string[]): ActionView;
  stop(names: readonly string[]): ActionView;
  /** `recreate`: their containers are made anew. */
  restart(names: readonly string[], options?: RestartOptions): ActionView;
  /** A component or an agent goes on: its heartbeat by ping. Throws HEARTBEAT_NOT_BY_PING, COMPONENT_NOT_RUNNING and AGENT_NOT_RUNNING. */
  beat(name: string): BeatView;
  /** A crash that somebody asks for. Throws NOT_SIMULATED, COMPONENT_NOT_RUNNING, NO_SUCH_AGENT_TYPE. */
  simulate(request: SimulationRequest): Promise<SimulationView>;
  /**
   * Stops everything in reverse order, remembers that it was stopped by hand, then ends the daemon. `remove`: when all is stopped, its
   * containers go.
   */
  down(options?: DownOptions): ActionView;
  /** Ends the daemon and touches no component: the next daemon adopts them. */
  handover(): void;
  readonly sessions: Pick<Sessions, 'spawn' | 'stop' | 'extend' | 'get' | 'list'>;
  readonly agents: Agents;
  readonly incidents: Pick<Incidents, 'incidents' | 'acknowledge' | 'silence'>;
  readonly alerts: Pick<AlertService, 'view' | 'test'>;
  readonly tickets: Pick<TicketService, 'list' | 'show' | 'close' | 'reopen'>;
  readonly campaigns: CampaignArchive;
  readonly logs: Logs;
  /** Every event from now on. The listener must not throw. Returns the function that ends the subscription. */
  subscribe(listener: (event: EventView) => void): () => void;
}
