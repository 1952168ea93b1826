/** All commands, in the order in which the help shows them. */
import type { Command } from 'commander';
import { restart, start, stop } from './commands/act.ts';
import { agents, spawn } from './commands/agents.ts';
import { alerts } from './commands/alerts.ts';
import { backoff } from './commands/backoff.ts';
import { beat } from './commands/beat.ts';
import { campaign } from './commands/campaign.ts';
import { completeFor, completion } from './commands/completion.ts';
import { crashes } from './commands/crashes.ts';
import { daemon } from './commands/daemon.ts';
import { dashboard } from './commands/dashboard.ts';
import { demo } from './commands/demo.ts';
import { down } from './commands/down.ts';
import { events } from './commands/events.ts';
import { exec } from './commands/exec.ts';
import { graph } from './commands/graph.ts';
import { health } from './commands/health.ts';
import { importFrom } from './commands/import.ts';
import { incidents } from './commands/incidents.ts';
import { init } from './commands/init.ts';
import { logs } from './commands/logs.ts';
import { mcp } from './commands/mcp.ts';
import { reload } from './commands/reload.ts';
import { render } from './commands/render.ts';
import { rm } from './commands/rm.ts';
import { run } from './commands/run.ts';
import { runs } from './commands/runs.ts';
import { service } from './commands/service.ts';
import { sessions } from './commands/sessions.ts';
import { simulateCrash } from './commands/simulate-crash.ts';
import { status } from './commands/status.ts';
import { tickets } from './commands/tickets.ts';
import { top } from './commands/top.ts';
import { up } from './commands/up.ts';
import { schema, validate } from './commands/validate.ts';
import { version } from './commands/version.ts';
import { wait } from './commands/wait.ts';
import { why } from './commands/why.ts';
import { type AnyDefinition, addCommand, type Host } from './define.ts';
import { programWith } from './program-frame.ts';

/** Tests and the reference enumerate these. */
export const COMMANDS: readonly AnyDefinition[] = [
  up,
  status,
  why,
  logs,
  down,
  start,
  stop,
  restart,
  reload,
  run,
  rm,
  exec,
  wait,
  beat,
  top,
  dashboard,
  health,
  crashes,
  runs,
  incidents,
  tickets,
  alerts,
  events,
  graph,
  init,
  importFrom,
  validate,
  schema,
  backoff,
  render,
  agents,
  spawn,
  sessions,
  campaign,
  demo,
  simulateCrash,
  mcp,
  service,
  daemon,
  completion,
  version,
];

/** Every command, and the hidden one that completion scripts ask. */
export function buildProgram(host: Host): Command {
  const program = programWith(COMMANDS, host);
  addCommand(program, completeFor(program), host);
  return program;
}
