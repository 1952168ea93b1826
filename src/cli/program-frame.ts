/** The program as commander sees it: what every call has, and the commands it is given. */
import { Command } from 'commander';
import { type AnyDefinition, addCommand, addGlobalOptions, HELP_COLUMNS, type Host } from './define.ts';

/** What stands below the list of commands, and in the manual page. */
export const WHICH = `
Which command answers what:
  Is everything up?              keepwell status
  What is going on, live?        keepwell top
  Is it healthy, yes or no?      keepwell health
  How are the agents doing?      keepwell agents report
  Why did it die?                keepwell why NAME
  What died lately?              keepwell crashes --last 24h
  What is wrong now?             keepwell incidents
  What needs to be fixed?        keepwell tickets
  What does it print?            keepwell logs NAME -f
  What happened, in order?       keepwell events
  How can my script wait?        keepwell wait NAME --for ready
  How are my other machines?     keepwell status --fleet
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
export function programWith(definitions: readonly AnyDefinition[], host: Host): Command {
  const { world } = host;
  const program = new Command('keepwell')
    .description('Keeps processes, containers and agents running, and explains every crash.')
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
  for (const definition of definitions) addCommand(program, definition, host);
  return program;
}
