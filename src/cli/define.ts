/** How a command is put together: global options everywhere, one handler, one example at least. */
import { type Command, Help, InvalidArgumentError, Option } from 'commander';
import { AppError } from '../base/pure/errors.ts';
import { didYouMean } from '../base/pure/suggest.ts';
import { durationHint, parseDuration } from '../config/duration.ts';
import { CliCall, type GlobalOptions, usage, type World } from './call.ts';

/** Gets the arguments as a flat list and the options of its own. Returns the exit code; nothing means 0. */
export type Handler<Options> = (
  call: CliCall,
  args: readonly string[],
  options: Options,
) => Promise<number | undefined>;

export interface Definition<Options> {
  /** Name and arguments: "status [NAME...]". */
  readonly usage: string;
  readonly aliases?: readonly string[];
  readonly group: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The words it begins with: "spawn TEMPLATE", and what each does. */
  readonly actions?: readonly (readonly [usage: string, what: string])[];
  /** More, for the command's own help. One paragraph: lines are broken to fit the terminal. */
  readonly description?: string;
  readonly options?: readonly Option[];
  readonly examples: readonly (readonly [command: string, what: string])[];
  /** `logs -f` and `events -f` follow, so there -f cannot name a file; --file still does. */
  readonly followTakesF?: boolean;
  readonly hidden?: boolean;
  /** It works on this machine only: what to do about another one, as a sentence. */
  readonly onlyHere?: string;
  /** It asks no daemon, so KEEPWELL_HOST is nothing to it. */
  readonly asksNobody?: boolean;
  /** It takes no words; its handler gets them all the same, and says what to write instead. */
  readonly answersWords?: boolean;
  /** What comes after its first argument belongs to somebody else: options there are not read. */
  readonly passesThrough?: boolean;
  /** For a command that scripts call: text only when asked for. */
  readonly jsonByDefault?: boolean;
  /** What -o takes beside text and json. */
  readonly moreForms?: readonly string[];
  readonly handler: Handler<Options>;
}

// biome-ignore lint/suspicious/noExplicitAny: the options of the same row make what its handler gets
export type AnyDefinition = Definition<any>;

/** Where nothing tells how wide the terminal is, as in a pipe. */
export const HELP_COLUMNS = 100;

export interface Host {
  readonly world: World;
  /** Told once a command is known, so that errors can be printed in its form. */
  began(call: CliCall): void;
  ended(exitCode: number): void;
}

export function addCommand(program: Command, definition: AnyDefinition, host: Host): void {
  const command = program.command(definition.usage, { hidden: definition.hidden ?? false });
  command
    .aliases(definition.aliases ?? [])
    .helpGroup(definition.group)
    .summary(definition.summary);
  command.description(describe(definition, host.world.out.columns ?? HELP_COLUMNS));
  for (const option of definition.options ?? []) command.addOption(option);
  if (definition.passesThrough) command.passThroughOptions();
  if (definition.answersWords) command.allowExcessArguments();
  addGlobalOptions(command, definition.followTakesF ?? false, definition.moreForms ?? []);
  command.addHelpText('after', examplesText(definition.examples));
  command.action(async () => {
    const call = new CliCall(host.world, globalOptions(program, command, definition, host.world.env));
    host.began(call);
    if (call.host !== null && definition.onlyHere !== undefined)
      throw onlyHere(command, call.host, definition.onlyHere);
    host.ended((await definition.handler(call, command.args, command.opts())) ?? 0);
  });
}

const onlyHere = (command: Command, host: string, instead: string): AppError =>
  new AppError('ONLY_HERE', { command: command.name(), host, instead });

/** Commander breaks the lines of plain text by itself, but leaves a text alone in which some are indented: then it is done here. */
function describe({ summary, actions = [], description }: AnyDefinition, columns: number): string {
  if (actions.length === 0) return [summary, description].filter(Boolean).join('\n\n');
  const help = new Help();
  help.helpWidth = columns;
  const width = Math.max(...actions.map(([usage]) => usage.length));
  const listed = actions.map(([usage, what]) => help.formatItem(usage, width, what, help)).join('\n');
  return [summary, listed, ...(description === undefined ? [] : [help.boxWrap(description, columns)])].join('\n\n');
}

/** One thing that a command does, chosen by its first word. */
export interface Action<Options> {
  /** What comes behind the word: "NUMBER...". */
  readonly words?: string;
  readonly what: string;
  /** The options that mean something to it; the others are refused. */
  readonly takes?: readonly (keyof Options & string)[];
  act(call: CliCall, words: readonly string[], options: Options): Promise<number | undefined>;
}

/** For commands whose first word says what to do; without one they list. `meant`: what somebody wanted who wrote another word. */
export function byAction<Options extends object>(
  command: string,
  actions: Readonly<Record<string, Action<Options>>>,
  meant = didYouMean,
): Pick<Definition<Options>, 'actions' | 'handler'> {
  const known = new Set(Object.values(actions).flatMap(({ takes = [] }) => takes));
  return {
    actions: Object.entries(actions).map(([name, { words, what }]) => [words ? `${name} ${words}` : name, what]),
    handler: async (call, [word = 'list', ...words], options) => {
      const { act, takes = [] } = actions[chooseAction(command, Object.keys(actions), word, meant)]!;
      const strange = [...known].find((name) => options[name] !== undefined && !takes.includes(name));
      const only = takes.length === 0 ? '' : `, only ${takes.map((name) => `--${name}`).join(', ')}`;
      if (strange !== undefined) throw usage(`"${command} ${word}" has no option --${strange}${only}.`);
      return await act(call, words, options);
    },
  };
}

const MAX_SHOWN = 50;

export function chooseAction<Name extends string>(
  command: string,
  names: readonly Name[],
  word: string,
  meant = didYouMean,
): Name {
  const found = names.find((name) => name === word);
  if (found !== undefined) return found;
  const shown = word.slice(0, MAX_SHOWN);
  throw usage(`There is no "${command} ${shown}", only ${names.join(', ')}.${meant(shown, names)}`);
}

const collect = (value: string, before: readonly string[] | undefined): string[] => [...(before ?? []), value];

/** They may stand before or after the name of the command. */
export function addGlobalOptions(command: Command, followTakesF = false, moreForms: readonly string[] = []): void {
  const flags = followTakesF ? '--file <FILE>' : '-f, --file <FILE>';
  command
    .addOption(new Option(flags, 'configuration file; repeatable, later files win').argParser(collect))
    .addOption(new Option('-H, --host <HOST>', 'a project on another machine, by ssh://user@host/path or by its name'))
    .addOption(new Option('-o, --output <FORM>', 'print text or JSON').choices(['text', 'json', ...moreForms]))
    .addOption(new Option('--no-color', 'no colours (NO_COLOR does the same)'));
}

function globalOptions(
  program: Command,
  command: Command,
  { jsonByDefault = false, asksNobody = false }: AnyDefinition,
  env: World['env'],
): GlobalOptions {
  const [outer, inner] = [program.opts(), command.opts()];
  return {
    host: inner['host'] ?? outer['host'] ?? ((asksNobody ? '' : env['KEEPWELL_HOST']) || null),
    files: [...(outer['file'] ?? []), ...(inner['file'] ?? [])],
    json: (inner['output'] ?? outer['output'] ?? (jsonByDefault ? 'json' : 'text')) === 'json',
    colour: outer['color'] !== false && inner['color'] !== false,
  };
}

function examplesText(examples: AnyDefinition['examples']): string {
  const width = Math.max(...examples.map(([command]) => command.length));
  const lines = examples.map(([command, what]) => `  ${command.padEnd(width)}  ${what}`);
  return `\nExamples:\n${lines.join('\n')}`;
}

/** --timeout 2m: milliseconds inside. */
export function durationOption(flags: string, what: string, fallback?: string): Option {
  const option = new Option(flags, what).argParser((text: string) => {
    const ms = parseDuration(text);
    if (ms === null) throw new InvalidArgumentError(durationHint(text));
    return ms;
  });
  return fallback === undefined ? option : option.default(parseDuration(fallback), fallback);
}

export function countOption(flags: string, what: string, { min, max }: { min: number; max: number }): Option {
  return new Option(flags, what).argParser((text: string) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  });
}
