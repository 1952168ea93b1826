/**
 * What the API answers, by the name that each shape has in the OpenAPI document. `npm run reference` writes the schemas from these types
 * and their comments; handlers are checked against the same types by the compiler.
 */
import type * as agents from '../agents/rules/views.ts';
import type { ErrorView } from '../base/pure/errors.ts';
import type { ExitView } from '../base/pure/exit.ts';
import type { WholeNumber } from '../base/pure/json.ts';
import type * as campaigns from '../campaigns/rules/views.ts';
import type * as checkViews from '../checks/rules/view.ts';
import type * as checks from '../checks/spec.ts';
import type * as dashboard from '../dashboard/rules/views.ts';
import type * as alerts from '../incidents/alerts/rules/view.ts';
import type * as incidents from '../incidents/rules/view.ts';
import type * as tickets from '../incidents/tickets/rules/view.ts';
import type * as logs from '../logs/ports.ts';
import type * as sessions from '../sessions/rules/view.ts';
import type * as configuration from '../supervision/rules/configuration-view.ts';
import type * as plan from '../supervision/rules/plan.ts';
import type { SimulationView } from '../supervision/rules/simulation.ts';
import type * as supervision from '../supervision/rules/views.ts';
import type * as control from './control.ts';

/** In the order of the document. */
export interface Views {
  Version: VersionView;
  Alive: AliveView;
  Ready: ReadyView;
  Error: ErrorView;
  PlanStep: plan.PlanStep;
  Applied: plan.AppliedView;
  Up: control.UpView;
  Reloaded: control.ReloadView;
  Action: control.ActionView;
  Handover: HandoverView;
  Validation: control.ValidationView;
  Subject: supervision.Subject;
  Exit: ExitView;
  Probe: supervision.ProbeView;
  Heartbeat: supervision.HeartbeatView;
  Resources: supervision.ResourcesView;
  Limit: supervision.LimitView;
  Container: supervision.ContainerDetailsView;
  RestartLimit: supervision.RestartLimitView;
  Component: supervision.ComponentView;
  ComponentAnswer: ComponentAnswer;
  Daemon: supervision.DaemonView;
  Status: supervision.StatusView;
  Agent: agents.AgentView;
  Agents: agents.AgentsView;
  OneAgent: agents.OneAgentView;
  AgentIssue: agents.AgentIssue;
  AgentsReport: agents.AgentsReportView;
  AgentsCheck: agents.AgentsCheckView;
  Beat: control.BeatView;
  CampaignSummary: campaigns.CampaignSummary;
  Experiment: campaigns.ExperimentView;
  Campaigns: campaigns.CampaignsView;
  Campaign: campaigns.CampaignView;
  Crash: supervision.CrashView;
  Crashes: supervision.CrashesView;
  Run: supervision.RunView;
  Runs: supervision.RunsView;
  Range: configuration.RangeView;
  PlannedRestart: configuration.PlannedRestartView;
  Configuration: configuration.ConfigurationView;
  ProbeStretch: supervision.ProbeStretchView;
  Probes: supervision.ProbesView;
  Sample: supervision.SampleView;
  Samples: supervision.SamplesView;
  Freeze: supervision.FreezeView;
  EarlierError: supervision.EarlierError;
  Why: supervision.WhyView;
  Event: supervision.EventView;
  Events: supervision.EventsView;
  LogLine: logs.LogLineView;
  Logs: logs.LogsView;
  CheckResult: checks.CheckResult;
  Health: checks.HealthReport;
  Check: checkViews.CheckView;
  Checks: checkViews.ChecksView;
  Attention: dashboard.AttentionView;
  OverviewRow: dashboard.OverviewRow;
  Overview: dashboard.OverviewView;
  Access: dashboard.AccessView;
  Page: dashboard.PageView;
  Incident: incidents.IncidentView;
  Incidents: incidents.IncidentsView;
  OneIncident: incidents.OneIncidentView;
  Alerts: alerts.AlertsView;
  AlertTest: alerts.AlertTestView;
  Session: sessions.SessionView;
  Sessions: sessions.SessionsView;
  OneSession: sessions.OneSessionView;
  Simulation: SimulationView;
  Delivery: tickets.DeliveryView;
  Ticket: tickets.TicketView;
  Tickets: tickets.TicketsView;
  OneTicket: tickets.OneTicketView;
  Metrics: string;
  Document: Document;
}

/** The version of the running daemon. */
interface VersionView {
  readonly schema_version: 1;
  readonly version: string;
}

/** It answers. */
interface AliveView {
  readonly schema_version: 1;
  readonly status: 'ok';
}

/** Whether it supervises. */
interface ReadyView {
  readonly schema_version: 1;
  readonly status: 'ok' | 'not-ready';
  /** Why it is not ready; empty when it is. */
  readonly reasons: readonly string[];
  /** "ok", or what is wrong with the history. That does not make it unready. */
  readonly store: string | null;
  /** How many it looks after. */
  readonly components: WholeNumber;
}

/** The daemon ends; components go on. */
interface HandoverView {
  readonly schema_version: 1;
  readonly action: 'handover';
}

/** One component as it is now. */
interface ComponentAnswer extends supervision.ComponentView {
  readonly schema_version: 1;
}

/** This document. */
type Document = Readonly<Record<string, unknown>>;
