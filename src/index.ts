/** The public library: what is not exported here is not public. */

export type { AgentIssue, AgentsReportView as AgentsReport, AgentView as Agent } from './agents/rules/views.ts';
export type {
  DownOptions,
  ReloadOptions,
  ReloadView as Reload,
  RestartOptions as ComponentRestartOptions,
  ValidationView as Validation,
} from './api/control.ts';
export type { Log } from './base/log.ts';
export { AppError, type ErrorCode } from './base/pure/errors.ts';
export type { ExitView as Exit } from './base/pure/exit.ts';
export type { Amount, Count, IsoTime, WholeNumber } from './base/pure/json.ts';
export type {
  CampaignSummary,
  CampaignView as Campaign,
  ExperimentView as Experiment,
} from './campaigns/rules/views.ts';
export type {
  CheckStretchView as CheckStretch,
  ChecksView as Checks,
  CheckView as Check,
} from './checks/rules/view.ts';
export type { CheckQuestion, CheckResult, CheckSpec, CheckStatus, HealthReport } from './checks/spec.ts';
export { loadConfig, type ResolvedConfig } from './config/load.ts';
export type {
  AttentionView as Attention,
  OverviewRow,
  OverviewView as Overview,
  PageView as Page,
} from './dashboard/rules/views.ts';
export type { IncidentView as Incident } from './incidents/rules/view.ts';
export type { DeliveryView as TicketDelivery, TicketView as Ticket } from './incidents/tickets/rules/view.ts';
export type { KubernetesObject } from './kubernetes/rules/object.ts';
export {
  type CampaignOptions,
  type CampaignOutcome,
  type ResumeCampaignOptions,
  type RunCampaignOptions,
  resumeCampaign,
  runCampaign,
} from './library/campaigns.ts';
export {
  ChallengeOrchestrator,
  type ChallengeOrchestratorOptions,
  type SpawnOptions,
} from './library/challenge-orchestrator.ts';
export type {
  CheckConfig,
  ComponentConfig,
  ComposeConfig,
  ContainerConfig,
  ExternalConfig,
  HealthcheckConfig,
  HeartbeatConfig,
  ProbeConfig,
  ProcessConfig,
  RestartConfig,
} from './library/config-components.ts';
export type {
  AgentsConfig,
  AgentTypeConfig,
  AlertChannelConfig,
  AlertsConfig,
  SessionsConfig,
  SessionTemplateConfig,
  StoreConfig,
  TicketPriority,
  TicketsConfig,
  TrackerConfig,
} from './library/config-features.ts';
export type { KeepwellConfig } from './library/config-input.ts';
export {
  ContainerManager,
  type ContainerManagerOptions,
  type ExperimentOptions,
  type ExperimentResult,
  type RecoverOptions,
  type ServiceCheckOptions,
  type StartServicesOptions,
} from './library/container-manager.ts';
export type { ContainerHealthStatus, DockerOptions, RestartOptions } from './library/container-options.ts';
export { checkDependencies, checkOrder, getHealth } from './library/health.ts';
export { HealthMonitor, type HealthMonitorOptions, type MonitoredStatus } from './library/health-monitor.ts';
export {
  type ImportConfigOptions,
  type ImportedConfig,
  type ImportLoss,
  importConfig,
} from './library/import.ts';
export { Keepwell } from './library/keepwell.ts';
export type { DaemonAgents, DaemonSessions, DaemonTickets, SpawnSessionOptions } from './library/of-daemon.ts';
export type {
  CheckOptions,
  ConnectOptions,
  CrashOptions,
  EventOptions,
  HealthOptions,
  IncidentOptions,
  LogOptions,
  OpenOptions,
  SampleOptions,
  WaitOptions,
} from './library/options.ts';
export type {
  MonitorIssue,
  OrchestratorHealth,
  OrchestratorHealthMonitorOptions,
} from './library/orchestrator-health-monitor.ts';
export { OrchestratorHealthMonitor } from './library/orchestrator-health-monitor.ts';
export { type Rendering, type RenderLoss, type RenderOptions, type RenderStage, render } from './library/render.ts';
export type { SessionEnd } from './library/session-manager.ts';
export { type SessionInfo, SessionManager } from './library/session-manager.ts';
export type { LogLineView as LogLine } from './logs/ports.ts';
export type { SessionView as Session } from './sessions/rules/view.ts';
export type { WaitGoal } from './supervision/rules/goal.ts';
export type { ProbeQuestion, ProbeSpec as HealthProbe } from './supervision/rules/health/probe.ts';
export type { StateKind as ComponentState } from './supervision/rules/lifecycle/state.ts';
export type { AppliedView as Applied, PlanStep } from './supervision/rules/plan.ts';
export type { CrashKind, SimulationRequest, SimulationView as Simulation } from './supervision/rules/simulation.ts';
export type {
  ComponentView as Component,
  ContainerDetailsView as ContainerDetails,
  CrashView as Crash,
  DaemonView as Daemon,
  EventView as KeepwellEvent,
  FreezeView as Freeze,
  Health,
  HeartbeatView as Heartbeat,
  ProbeStretchView as ProbeStretch,
  ProbeView as Probe,
  ResourcesView as Resources,
  RunView as Run,
  SampleView as Sample,
  StatusView as Status,
  WhyView as Dossier,
} from './supervision/rules/views.ts';
export type {
  ComponentSpec,
  DependencyCondition,
  DriverSpec,
  ExternalSpec,
  ProcessSpec,
  RestartSpec as RestartPolicy,
} from './supervision/spec.ts';
export { VERSION } from './version.ts';
