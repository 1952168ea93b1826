/** One call of the CLI, from arguments to exit code. */
import { type Command, CommanderError } from 'commander';
import { AppError } from '../base/pure/errors.ts';
import { didYouMean } from '../base/pure/suggest.ts';
import type { CliCall, World } from './call.ts';
import type { Host } from './define.ts';
import { failureText, toAppError } from './failure.ts';
import { foreignCommand, foreignOption } from './foreign-words.ts';
import { Interrupted } from './interrupt.ts';
import { paintFor } from './print/colour.ts';
import { quickProgram } from './quick.ts';

export const EXIT_INTERRUPTED = 130;
const EXIT_USAGE = 2;

/** Never rejects. */
export async function runCli(args: readonly string[], world: World): Promise<number> {
  let call: CliCall | null = null;
  let exitCode = 0;
  const host: Host = {
    world,
    began: (one) => {
      call = one;
    },
    ended: (code) => {
      exitCode = code;
    },
  };
  let words: readonly string[] = [];
  try {
    const program = quickProgram(args, host) ?? (await import('./program.ts')).buildProgram(host);
    words = commandWords(program);
    refuseHelpOfNothing(args, words);
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    return fail(error, args, words, world, call);
  }
}

function fail(
  error: unknown,
  args: readonly string[],
  words: readonly string[],
  world: World,
  call: CliCall | null,
): number {
  if (error instanceof Interrupted) return EXIT_INTERRUPTED;
  if (error instanceof CommanderError && isHelp(error)) return error.exitCode === 0 ? 0 : EXIT_USAGE;
  const known = withHelp(error instanceof CommanderError ? usageError(error, args, words) : error, args, words);
  world.err.write(
    failureText(known, {
      json: call?.json ?? asksForJson(args),
      paint: call?.errPaint ?? paintFor(world.err, world.env, !args.includes('--no-color')),
      debug: world.env['KEEPWELL_DEBUG'] === '1',
    }),
  );
  return toAppError(known).exitCode;
}

/** Help and version have been printed by then; without a command the help is printed too, as a usage error. */
const isHelp = ({ code }: CommanderError): boolean => /^commander\.(help|helpDisplayed|version)$/.test(code);

/** "error: unknown command 'statsu'\n(Did you mean status?)", as a sentence of ours. */
function usageError({ code, message }: CommanderError, args: readonly string[], words: readonly string[]): AppError {
  const word = /'([^']*)'/.exec(message)?.[1] ?? '';
  const [command = ''] = args.filter((arg) => !arg.startsWith('-'));
  if (code === 'commander.unknownCommand') return noCommand(word, words);
  const foreign = code === 'commander.unknownOption' ? foreignOption(word, command) : null;
  if (foreign !== null) return new AppError('USAGE', { problem: foreign });
  const text = message.replace(/^error: /, '').replaceAll('\n', ' ');
  return new AppError('USAGE', { problem: `${text.charAt(0).toUpperCase()}${text.slice(1)}` });
}

/** All names of commands that people type, and other names for them. */
const commandWords = ({ commands }: Command): readonly string[] =>
  commands.flatMap((command) => [command.name(), ...command.aliases()]).filter((word) => !word.startsWith('__'));

/** `help stat` would print the help of everything. */
function refuseHelpOfNothing([help, word]: readonly string[], known: readonly string[]): void {
  if (help !== 'help' || word === undefined || word.startsWith('-') || word === 'help' || known.includes(word)) return;
  throw noCommand(word, known);
}

function noCommand(word: string, known: readonly string[]): AppError {
  const longer = known.filter((name) => word !== '' && name.startsWith(word)); // whoever abbreviates means one of these
  const problem = foreignCommand(word) ?? `There is no command "${word}".${didYouMean(longer[0] ?? word, known)}`;
  return new AppError('USAGE', { problem });
}

/** The hint of a mistyped call names the help that is about it. */
function withHelp(error: unknown, args: readonly string[], words: readonly string[]): unknown {
  const known = toAppError(error);
  if (known.code !== 'USAGE') return error;
  const command = args.find((arg) => words.includes(arg));
  const hint = command === undefined ? 'Run "keepwell --help".' : `Run "keepwell ${command} --help".`;
  return new AppError('USAGE', known.details, { cause: error, hint });
}

/** The arguments could not be read, but whether the caller is a program can still be seen. */
const asksForJson = (args: readonly string[]): boolean =>
  args.some(
    (arg, at) => /^(-o=?|--output=)json$/.test(arg) || (arg === 'json' && /^(-o|--output)$/.test(args[at - 1] ?? '')),
  );
