/** Puts together everything that happens after a crash: incidents, tickets and alerts. */
import { randomBytes } from 'node:crypto';
import { everyAligned } from '../base/aligned.ts';
import { systemClock } from '../base/clock.ts';
import type { CommandRunner } from '../base/command.ts';
import { secretValues } from '../base/pure/redact.ts';
import type { Runtime } from '../base/runtime.ts';
import type { ResolvedConfig } from '../config/load.ts';
import { secretsOf } from '../crashes/evidence.ts';
import type { Recorder, Store } from '../history/ports.ts';
import type { ComponentSnapshot } from '../supervision/component-snapshot.ts';
import type { ComponentSpec } from '../supervision/spec.ts';
import type { AlertService } from './alerts/ports.ts';
import { createAlertService, sendersFor } from './alerts/service.ts';
import { createFiling } from './filing.ts';
import { IncidentMonitor } from './monitor.ts';
import type { Incidents, SharedTelling } from './ports.ts';
import { handlingOf } from './rules/incident.ts';
import { createIncidentService, type IncidentServiceParts } from './service.ts';
import type { TicketService } from './tickets/ports.ts';
import { type Circumstances, type Evidence, NO_CIRCUMSTANCES } from './tickets/rules/evidence.ts';
import { createTicketService, ticketBook } from './tickets/service.ts';
import { createAsk } from './web.ts';

export interface IncidentsOptions extends Pick<Runtime, 'log' | 'failpoints'> {
  readonly store: Store;
  readonly commands: CommandRunner;
  /** What commands of channels and trackers inherit. */
  readonly base: Readonly<Record<string, string>>;
  config(): ResolvedConfig;
  onConfig(listener: (config: ResolvedConfig) => void): void;
  /** Other hosts that tell people, too. */
  readonly shared: SharedTelling;
  /** Writes what has no crash in it, and tells whoever listens. */
  readonly write: Recorder;
  readonly tell: (type: string, data: Readonly<Record<string, unknown>>) => void;
  readonly simulated: IncidentServiceParts['simulated'];
  /** What a ticket has to know about an agent that crashed. */
  readonly aboutAgent: AboutAgent;
}

export interface OpenIncidents {
  readonly incidentService: Incidents;
  readonly tickets: TicketService;
  readonly alerts: AlertService;
  readonly record: Recorder;
  /** The components are there: looks at how they stand, from now on. */
  begin(supervisor: { snapshots(): readonly ComponentSnapshot[] }): void;
  close(): Promise<void>;
}

const LOOK_MS = 2_000;
/** How soon it is thought about again who alerts people; whoever finds it out says so earlier. */
const HELD_MS = { us: 0, unknown: 1_000, others: 30_000 } as const;
const ID_BYTES = 8;
const BOOK = 'alerts';
const MAX_IN_DIGEST = 10_000;

export function openIncidents(options: IncidentsOptions): OpenIncidents {
  const { store, log, failpoints, commands, base: env, config, write: commit, shared } = options;
  const clock = systemClock;
  const ask = createAsk(clock);
  const secrets = () => [...secretValues(env), ...config().secrets];
  const tickets = createTicketService({
    ...{ clock, log, failpoints, commands, env, ask, secrets, shared },
    book: ticketBook(store, clock, commit),
    spec: config().tickets,
  });
  const alerts = createAlertService(
    {
      ...{ clock, log, failpoints },
      memory: { read: () => store.meta(BOOK), write: (text) => store.setMeta(BOOK, text) },
      project: () => shared.name() ?? config().name,
      newId: () => randomBytes(ID_BYTES).toString('hex'),
      handling: ({ incident: id }) => {
        const incident = id === null ? null : store.incident(id);
        const wanted = handlingOf(incident, clock.wallNow());
        const heldMs = incident === null ? 0 : HELD_MS[shared.alerter(incident.fingerprint)];
        return { ...wanted, silentMs: Math.max(wanted.silentMs, heldMs) };
      },
      senders: (spec) => sendersFor(spec, { ask, commands, env, secrets, cwd: config().baseDir }),
      tell: options.tell,
      digest: (since) => ({
        crashes: store.crashes({ since, limit: MAX_IN_DIGEST }),
        incidents: store.incidents({ limit: MAX_IN_DIGEST }),
        gaveUp: store.components().flatMap(({ name, component }) => (component.state.kind === 'gave-up' ? [name] : [])),
      }),
    },
    config().alerts,
  );
  const incidentService = createIncidentService({
    ...{ store, clock, log, commit, shared, simulated: options.simulated },
    filing: createFiling({
      ...{ store, clock },
      ticketService: tickets,
      settings: () => config().tickets,
      about: (evidence) => circumstances(evidence, config(), env, options.aboutAgent),
    }),
    graph: () => graphOf(config().components),
    crashSeen: (crash, incident) => monitor.crashSeen(crash, incident),
    resolved: (incident) => monitor.resolved(incident),
    handled: () => alerts.handled(),
  });
  let snapshots = (): readonly ComponentSnapshot[] => [];
  const monitor = new IncidentMonitor({ incidentService, alerts, clock, store, snapshots: () => snapshots() });
  let looking: Disposable | undefined;
  const lookNow = () => {
    try {
      monitor.now();
    } catch (error) {
      log.error('incidents could not be looked through', { error: String(error) });
    }
  };
  options.onConfig((fresh) => {
    tickets.use(fresh.tickets);
    alerts.use(fresh.alerts);
  });
  return {
    incidentService,
    tickets,
    alerts,
    record: (...commits) => commit(...commits.map(incidentService.noted)),
    begin: (supervisor) => {
      snapshots = () => supervisor.snapshots();
      looking = everyAligned(LOOK_MS, lookNow);
    },
    close: async () => {
      looking?.[Symbol.dispose]();
      await Promise.all([tickets.dispose(), alerts.close()]);
    },
  };
}

const graphOf = (components: readonly ComponentSpec[]) =>
  new Map(components.map(({ name, dependsOn }) => [name as string, Object.keys(dependsOn)]));

// What a ticket has to know about what crashed: how it was started, whose work it is, and which values must never appear.

/** For an agent's tickets: how it was started, and whose work it is. */
export type AboutAgent = (
  agent: { readonly agentType?: string; readonly taskId?: string },
  agents: ResolvedConfig['agents'],
  base: Readonly<Record<string, string>>,
  secrets: readonly string[],
) => Circumstances;

/** `base`: the environment that all of them inherit. */
export function circumstances(
  evidence: Evidence,
  { components, agents, secrets }: Pick<ResolvedConfig, 'components' | 'agents' | 'secrets'>,
  base: Readonly<Record<string, string>>,
  aboutAgent: AboutAgent,
): Circumstances {
  const { kind, name } = evidence.kind === 'crash' ? evidence.crash.subject : evidence.problem.subject;
  if (kind === 'agent') {
    const about = evidence.kind === 'crash' ? evidence.crash : {};
    return aboutAgent({ agentType: name, ...about }, agents, base, secrets);
  }
  const spec = kind === 'component' ? components.find((each) => each.name === name) : undefined;
  if (spec === undefined) return { ...NO_CIRCUMSTANCES, secrets };
  const { driver } = spec;
  const started = driver.kind === 'process' ? { command: driver.command, cwd: driver.cwd } : {};
  return { ...NO_CIRCUMSTANCES, ...started, secrets: secretsOf(spec, base, secrets) };
}
