/** The library's one class: the same questions and actions as the CLI has, as methods. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentView } from '../agents/rules/views.ts';
import type { Address } from '../api/client/call.ts';
import { type Client, createClient } from '../api/client/client.ts';
import { isGone } from '../api/client/event-reader.ts';
import type { DownOptions, ReloadOptions, ReloadView, RestartOptions, ValidationView } from '../api/control.ts';
import { daemonSocket, findProject } from '../base/home.ts';
import { AppError } from '../base/pure/errors.ts';
import type { CampaignSummary, CampaignView } from '../campaigns/rules/views.ts';
import type { ChecksView } from '../checks/rules/view.ts';
import type { HealthReport } from '../checks/spec.ts';
import type { OverviewView, PageView } from '../dashboard/rules/views.ts';
import type { AlertsView, ChannelTestView } from '../incidents/alerts/rules/view.ts';
import type { IncidentView } from '../incidents/rules/view.ts';
import type { LogLineView, LogsQuery } from '../logs/ports.ts';
import type { ConfigurationView } from '../supervision/rules/configuration-view.ts';
import {
  GOALS,
  gaveUp,
  judgeGoal,
  keepsCrashing,
  type WaitGoal,
  type Watch,
  waitedTooLong,
  watchFrom,
  watchOn,
} from '../supervision/rules/goal.ts';
import { type Pattern, parsePattern } from '../supervision/rules/health/pattern.ts';
import type { SimulationRequest, SimulationView } from '../supervision/rules/simulation.ts';
import type {
  ComponentView,
  CrashView,
  EventView,
  ProbeStretchView,
  RunView,
  SampleView,
  StatusView,
  WhyView,
} from '../supervision/rules/views.ts';
import type { KeepwellConfig } from './config-input.ts';
import type { InProcess } from './in-process.ts';
import { DaemonAgents, DaemonSessions, DaemonTickets } from './of-daemon.ts';
import type {
  CheckOptions,
  ConnectOptions,
  CrashOptions,
  EventOptions,
  IncidentOptions,
  LogOptions,
  OpenOptions,
  SampleOptions,
  WaitOptions,
} from './options.ts';

const POLL_MS = 100;
const WAIT_MS = 120_000;
/** A daemon that crashed is back in two seconds; this long without one means it is not coming back. */
const GAP_MS = 15_000;

/**
 * A connection to the supervision of one project.
 *
 * @example
 * await using keepwell = await Keepwell.connect();
 * await keepwell.restart(['api']);
 * await keepwell.waitFor('api', 'ready');
 */
export class Keepwell implements AsyncDisposable {
  readonly #client: Client;
  readonly #own: InProcess | null;
  readonly #over = new AbortController();
  /** Containers of users, with a lease. */
  readonly sessions: DaemonSessions;

  /** Workers that were spawned for a task. */
  readonly agents: DaemonAgents;

  /** Problems that people should look at. */
  readonly tickets: DaemonTickets;

  private constructor(address: Address, own: InProcess | null) {
    this.#client = createClient(address);
    this.sessions = new DaemonSessions(this.#client);
    this.agents = new DaemonAgents(this.#client);
    this.tickets = new DaemonTickets(this.#client);
    this.#own = own;
  }

  /**
   * Connects to the daemon of a project, here or with `host` on another machine. Rejects with DAEMON_NOT_RUNNING when there is none, on
   * another machine with HOST_NO_DAEMON, and with what else is in the way there: HOST_UNREACHABLE, HOST_LOGIN_REFUSED and others.
   */
  static async connect(options: ConnectOptions = {}): Promise<Keepwell> {
    const keepwell = new Keepwell(options.socket ?? (await findAddress(options)), null);
    await keepwell.#client.version();
    return keepwell;
  }

  /**
   * Supervises a project in this process: takes its lock, adopts what is running, starts what is wanted, and listens on its socket,
   * so that the CLI works beside it. `config` is a file, a list of files, or a configuration object with the keys of the file.
   * Disposal stops the components. Rejects with DAEMON_ALREADY_RUNNING when the project is held by somebody else.
   */
  static async open(config: string | readonly string[] | KeepwellConfig, options: OpenOptions = {}): Promise<Keepwell> {
    const { openInProcess } = await import('./in-process.ts');
    const own = await openInProcess(config, options);
    return new Keepwell(own.socket, own);
  }

  /** How everything is. */
  async status(): Promise<StatusView> {
    return await this.#client.status();
  }

  /** Asks the checks: is it healthy? Rejects with NO_SUCH_CHECK. */
  async health({ checks = [], withDeps = false, timeoutMs }: CheckOptions = {}): Promise<HealthReport> {
    return await this.#client.health({ checks, withDeps, timeoutMs });
  }

  /** How one component is. Rejects with NO_SUCH_COMPONENT. */
  async component(name: string): Promise<ComponentView> {
    return await this.#client.component(name);
  }

  /** Applies the configuration as it is now and wants these components (default: all) and what they depend on running. */
  async up(names: readonly string[] = []): Promise<readonly string[]> {
    return (await this.#client.up(names, [])).components;
  }

  async start(names: readonly string[]): Promise<void> {
    await this.#client.act('start', names);
  }

  /** Stops these by hand: they stay stopped, also after a reboot. */
  async stop(names: readonly string[]): Promise<void> {
    await this.#client.act('stop', names);
  }

  /** `recreate`: the containers of those that have one are made anew, also when nothing about them changed. */
  async restart(names: readonly string[], options: RestartOptions = {}): Promise<void> {
    await this.#client.act('restart', names, options);
  }

  /**
   * Says that a component goes on, for one with `heartbeat: { ping: true }`. Rejects with COMPONENT_NOT_RUNNING when it does not run.
   *
   * @example
   * for (const job of jobs) {
   *   await work(job);
   *   await keepwell.beat('worker');
   * }
   */
  async beat(name: string): Promise<void> {
    await this.#client.beat(name);
  }

  /** Makes a component or an agent crash, to see what follows. The crash is marked as simulated. Rejects with NOT_SIMULATED. */
  async simulateCrash(request: SimulationRequest): Promise<SimulationView> {
    return await this.#client.simulateCrash(request);
  }

  /**
   * Reads the configuration again and applies it. With any problem in it, everything stays as it was and this rejects.
   * `reload({ dryRun: true })` only says what it would do.
   */
  async reload(options: ReloadOptions = {}): Promise<ReloadView> {
    return await this.#client.reload(options);
  }

  /** What is wrong with the configuration files as they are now, if anything. Changes nothing. */
  async validate(): Promise<ValidationView> {
    return await this.#client.validate();
  }

  /**
   * Stops everything by hand, and the daemon with it. `down({ remove: true })` then removes the stopped containers and the networks that
   * were made for the project; volumes stay. After `open`, resolves when all is stopped, and rejects with SESSIONS_STILL_ENDING when the
   * containers of some sessions could not be removed.
   */
  async down(options: DownOptions = {}): Promise<void> {
    await this.#client.down(options);
    const left = (await this.#own?.end(options.remove ? 'down-remove' : 'down')) ?? [];
    if (left.length > 0) throw new AppError('SESSIONS_STILL_ENDING', { sessions: left.join(', ') });
  }

  /**
   * Spawns an agent of a type of the configuration for a task. Resolves when that is written down; its process follows. Rejects with
   * AGENT_ALREADY_RUNNING when an agent of this type has the task.
   *
   * @example
   * await keepwell.spawn('architect', 'SPEC-111');
   */
  async spawn(type: string, task: string): Promise<AgentView> {
    return (await this.#client.spawnAgent({ type, task })).agent;
  }

  /** Newest first. */
  async crashes({ since, ...rest }: CrashOptions = {}): Promise<readonly CrashView[]> {
    return (await this.#client.crashes({ ...rest, sinceMs: since?.getTime() })).crashes;
  }

  /** Runs of one component or of all, newest first: when each began, how long it lived, how it ended and what that led to. */
  async runs({
    component,
    limit,
  }: {
    readonly component?: string;
    readonly limit?: number;
  } = {}): Promise<readonly RunView[]> {
    return (await this.#client.runs({ component, limit })).runs;
  }

  /** The checks of the configuration, with what they came to on schedule. Asks nothing; `health` does. */
  async checks(limit = 10): Promise<ChecksView> {
    return await this.#client.checks(limit);
  }

  /** The configuration of a component as it was applied: all defaults, the schedule of its restarts, of variables only the names. */
  async configuration(component: string): Promise<ConfigurationView> {
    return await this.#client.configuration(component);
  }

  /** Everything that one screen shows: what needs attention, and every component with its last 24 hours. */
  async overview(): Promise<OverviewView> {
    return await this.#client.overview();
  }

  /**
   * Where the page is. Whoever has the URL has its token. Where the configuration has no `dashboard`, it is opened on a free port of
   * 127.0.0.1 for as long as the daemon runs. Rejects with DASHBOARD_CLOSED.
   *
   * @example
   * const { url } = await keepwell.dashboard({ role: 'read' });
   */
  async dashboard({ role = 'control' }: { readonly role?: PageView['role'] } = {}): Promise<PageView> {
    return await this.#client.dashboard(role);
  }

  /** Problems with one cause each, newest first; those that are open unless something else is asked for. */
  async incidents(options: IncidentOptions = {}): Promise<readonly IncidentView[]> {
    return (await this.#client.incidents(options)).incidents;
  }

  /** Somebody is working on an open incident: no more reminders about it. Rejects with NO_SUCH_INCIDENT and INCIDENT_RESOLVED. */
  async acknowledgeIncident(id: number): Promise<IncidentView> {
    return (await this.#client.acknowledgeIncident(id)).incident;
  }

  /** No alerts about an open incident for so long; 0: alerts again. Rejects with NO_SUCH_INCIDENT and INCIDENT_RESOLVED. */
  async silenceIncident(id: number, forMs: number): Promise<IncidentView> {
    return (await this.#client.silenceIncident(id, forMs)).incident;
  }

  /** By which ways people are told, whether it arrives, and what they are told of now. */
  async alerts(): Promise<AlertsView> {
    return await this.#client.alerts();
  }

  /** Sends a test message to every alert channel, and says what came of it. Rejects with NO_ALERT_CHANNELS. */
  async testAlerts(): Promise<readonly ChannelTestView[]> {
    return (await this.#client.testAlerts()).results;
  }

  /** All that is known about the newest crash of a component (or agent type, session, experiment), or about the crash with this number. */
  async why(which: string | number): Promise<WhyView> {
    return await this.#client.why(typeof which === 'number' ? { id: which } : { component: which });
  }

  /** What the probes of a component answered, newest first; equal answers in a row are one entry. */
  async probes(name: string, limit = 100): Promise<readonly ProbeStretchView[]> {
    return (await this.#client.probes(name, limit)).probes;
  }

  /** What a component used, newest first: a minute an entry, or up to an hour in which its use hardly changed. */
  async samples(name: string, { since, limit }: SampleOptions = {}): Promise<readonly SampleView[]> {
    return (await this.#client.samples({ component: name, sinceMs: since?.getTime(), limit })).samples;
  }

  /**
   * The last lines that these components (default: all) wrote, component by component.
   *
   * @example
   * await keepwell.logs(['api'], { since: new Date(Date.now() - 600_000), grep: /time(d )?out/i });
   */
  async logs(components: readonly string[] = [], options: LogOptions = {}): Promise<readonly LogLineView[]> {
    return (await this.#client.logs(logsQuery(components, options))).lines;
  }

  /** What campaigns were run here, newest first; also the one that runs. */
  async campaigns(): Promise<readonly CampaignSummary[]> {
    return (await this.#client.campaigns()).campaigns;
  }

  /** What each experiment of a campaign came to so far. Rejects with NO_SUCH_CAMPAIGN. */
  async campaign(name: string): Promise<CampaignView> {
    return await this.#client.campaign(name);
  }

  /**
   * What happens, one event after the other, over crashes and upgrades of the daemon: none is lost and none comes twice.
   * Ends when `signal` aborts or this object is disposed.
   */
  events({ after, component, signal }: EventOptions = {}): AsyncGenerator<EventView, void, undefined> {
    const until = signal ? AbortSignal.any([signal, this.#over.signal]) : this.#over.signal;
    // "From now on" means from this call on, not from the first time somebody asks for the next one.
    const from = after === undefined ? this.#lastSeq() : Promise.resolve(after);
    from.catch(() => {}); // told to whoever iterates
    return this.#follow(from, component, until);
  }

  async #lastSeq(): Promise<number> {
    return (await this.#client.listEvents({ limit: 1 })).last_seq;
  }

  async *#follow(
    from: Promise<number>,
    component: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<EventView, void, undefined> {
    try {
      yield* this.#client.events({ after: await from, component, signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /**
   * Waits until a component is ready, running, stopped, completed or healthy, and returns it as it is then. What has no probe counts as
   * ready once it has lived for `min_uptime`, at most 2 s. Rejects with WAIT_TIMEOUT when the time is up, with COMPONENT_GAVE_UP as soon
   * as it gave up, with COMPONENT_CRASHED when it has no probe and crashes twice meanwhile, and with the signal's reason.
   */
  async waitFor(name: string, goal: WaitGoal = 'ready', options: WaitOptions = {}): Promise<ComponentView> {
    if (!GOALS.includes(goal))
      throw new AppError('USAGE', {
        problem: `waitFor: "${goal}" is nothing to wait for. It is one of ${GOALS.join(', ')}.`,
      });
    const { timeoutMs = WAIT_MS, signal } = options;
    const began = performance.now();
    let seenAt = began;
    let watch: Watch | null = null;
    for (;;) {
      signal?.throwIfAborted();
      const view = await this.#look(name, performance.now() - seenAt);
      if (view) {
        seenAt = performance.now();
        watch = watch ? watchOn(watch, view) : watchFrom(view);
        const verdict = judgeGoal(view, goal, watch);
        if (verdict === 'reached') return view;
        if (verdict === 'given-up') throw gaveUp(view);
        if (verdict === 'crashing')
          throw keepsCrashing(view, watch, (await this.crashes({ component: name, limit: 1 }))[0]);
      }
      if (performance.now() - began >= timeoutMs) throw waitedTooLong(name, view, timeoutMs);
      await sleep(POLL_MS, undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted());
    }
  }

  /** Ends this connection. After `open`, stops the components first, and lets go of the project. */
  async close(): Promise<void> {
    this.#over.abort();
    await this.#own?.end('stop');
  }

  /** For `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Null while the daemon is away for a moment: its guardian brings it back. */
  async #look(name: string, goneMs: number): Promise<ComponentView | null> {
    try {
      return await this.#client.component(name);
    } catch (error) {
      if (isGone(error) && goneMs < GAP_MS) return null;
      throw error;
    }
  }
}

// The options of `logs`, as the daemon is asked.

const DEFAULT_LINES = 100;
const MAX_LINES = 10_000;

export function logsQuery(components: readonly string[], options: LogOptions): LogsQuery {
  const { since, until, grep, previous = false } = options;
  const isSpan = since !== undefined || previous;
  return {
    components,
    tail: options.tail ?? (isSpan ? MAX_LINES : DEFAULT_LINES),
    after: {},
    sinceMs: since?.getTime(),
    untilMs: until?.getTime(),
    grep: grep === undefined ? undefined : patternOf(grep),
    previous,
  };
}

/** A text is a text here, also one with slashes around it. */
function patternOf(grep: string | RegExp): Pattern {
  const source = typeof grep === 'string' ? asText(grep) : `/${grep.source}/${grep.flags}`;
  const pattern = parsePattern(source);
  if ('problem' in pattern) throw new AppError('USAGE', { problem: `${pattern.problem}. ${pattern.hint}` });
  return pattern;
}

const asText = (text: string): string =>
  /^\/.*\/[A-Za-z]*$/s.test(text) ? `/${text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}/` : text;

async function findAddress({ cwd = process.cwd(), files = [], home, host }: ConnectOptions): Promise<Address> {
  if (host !== undefined) {
    const { openWay } = await import('../fleet/open.ts');
    const way = openWay(host, { env: process.env, uid: process.getuid?.() ?? 0 });
    return () => Promise.resolve(way);
  }
  const at = home ?? findProject({ cwd, files, env: process.env }).home;
  return daemonSocket(at, process.env, process.getuid?.() ?? 0);
}
