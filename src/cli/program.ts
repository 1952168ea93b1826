/** All commands, in the order in which the help shows them. */
import { Command } from 'commander';
import { restart, start, stop } from './commands/act.ts';
import { agents, spawn } from './commands/agents.ts';
import { backoff } from './commands/backoff.ts';
import { beat } from './commands/beat.ts';
import { campaign } from './commands/campaign.ts';
import { completeFor, completion } from './commands/completion.ts';
import { crashes } from './commands/crashes.ts';
import { daemon } from './commands/daemon.ts';
import { demo } from './commands/demo.ts';
import { down } from './commands/down.ts';
import { events } from './commands/events.ts';
import { graph } from './commands/graph.ts';
import { health } from './commands/health.ts';
import { incidents } from './commands/incidents.ts';
import { init } from './commands/init.ts';
import { logs } from './commands/logs.ts';
import { reload } from './commands/reload.ts';
import { service } from './commands/service.ts';
import { sessions } from './commands/sessions.ts';
import { simulateCrash } from './commands/simulate-crash.ts';
import { status } from './commands/status.ts';
import { tickets } from './commands/tickets.ts';
import { up } from './commands/up.ts';
import { schema, validate } from './commands/validate.ts';
import { version } from './commands/version.ts';
import { wait } from './commands/wait.ts';
import { why } from './commands/why.ts';
import { type AnyDefinition, addCommand, addGlobalOptions, HELP_COLUMNS, type Host } from './define.ts';

/** Tests and the reference enumerate these. */
export const COMMANDS: readonly AnyDefinition[] = [
  up,
  down,
  start,
  stop,
  restart,
  reload,
  beat,
  sessions,
  spawn,
  agents,
  status,
  health,
  why,
  crashes,
  incidents,
  tickets,
  logs,
  events,
  wait,
  graph,
  init,
  validate,
  schema,
  backoff,
  campaign,
  demo,
  simulateCrash,
  service,
  daemon,
  completion,
  version,
];

const WHICH = `
Which command answers what:
  Is everything up?              keepwell status
  Is it healthy, yes or no?      keepwell health
  How are the agents doing?      keepwell agents report
  Why did it die?                keepwell why NAME
  What died lately?              keepwell crashes --last 24h
  What is wrong now?             keepwell incidents
  What needs to be fixed?        keepwell tickets
  What does it print?            keepwell logs NAME -f
  What happened, in order?       keepwell events
  How can my script wait?        keepwell wait NAME --for ready
  What needs what?               keepwell graph
  When would it be restarted?    keepwell backoff NAME
  What would my edit change?     keepwell reload --dry-run

Exit codes:
  0 ok               1 unhealthy or failed      2 usage or configuration
  3 not running      4 no such component        5 timeout
  6 critical (agents report)   70 internal error   130 interrupted

Example:
  keepwell up && keepwell status`;

/** "status|ps|ls [NAME...]": that a command has options is clear, and every other name of it is worth knowing. */
const subcommandTerm = (command: Command): string =>
  [
    [command.name(), ...command.aliases()].join('|'),
    ...command.registeredArguments.map((argument) => {
      const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
      return argument.required ? `<${name}>` : `[${name}]`;
    }),
  ].join(' ');

/** Throws CommanderError instead of ending the process, and leaves the printing of errors to the caller. */
export function buildProgram(host: Host): Command {
  const { world } = host;
  const program = new Command('keepwell')
    .description('Keeps the things an orchestrator runs alive and well, and explains every death.')
    .version(world.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .addHelpCommand(
      new Command('help').argument('[COMMAND]').helpGroup('More:').description('print the help of a command'),
    )
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => world.out.write(text),
      writeErr: (text) => world.err.write(text),
      outputError: () => {},
      getOutHelpWidth: () => world.out.columns ?? HELP_COLUMNS,
      getErrHelpWidth: () => world.err.columns ?? HELP_COLUMNS,
    })
    .configureHelp({ subcommandTerm })
    .addHelpText('after', WHICH);
  addGlobalOptions(program);
  for (const definition of [...COMMANDS, completeFor(program)]) addCommand(program, definition, host);
  return program;
}
