/** keepwell run: keeps one command without a configuration. It is written down here, by whoever asks: no daemon takes commands. */
import { basename } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { newProject } from '../../base/home.ts';
import { AppError } from '../../base/pure/errors.ts';
import { NAME_PATTERN } from '../../base/pure/ids.ts';
import type { KeptCommand } from '../../config/kept.ts';
import { type CliCall, usage } from '../call.ts';
import { type Definition, durationOption } from '../define.ts';
import { bringUp } from './up.ts';

interface Options {
  readonly name?: string;
  readonly restart?: string;
  readonly env?: readonly string[];
  readonly wait: boolean;
  readonly timeout: number;
  readonly attach?: true;
}

export const run: Definition<Options> = {
  usage: 'run <CMD...>',
  onlyHere: 'Log in there (ssh) and run it in the folder of the project.',
  group: 'Start, stop, run:',
  summary: 'keep one command running, without a configuration',
  description:
    'The command becomes a component like any other: it runs in this folder, is restarted, survives a kill -9 of the daemon, and "status", "why" and "logs" know it. ' +
    'It has the environment of the daemon and what --env adds. It is kept in the state directory, also after "down" and a reboot, until "keepwell rm NAME". ' +
    'It joins the project of this folder or above it, and works without a keepwell.yaml.',
  passesThrough: true,
  options: [
    new Option('--name <TEXT>', 'what it is called (default: the name of the program)').argParser(readName),
    new Option('--restart <POLICY>', 'when to start it again (default: always)').choices([
      'always',
      'on-failure',
      'never',
    ]),
    new Option(
      '-e, --env <VAR>',
      'VAR=value, or VAR with the value it has here; it is written down; repeatable',
    ).argParser((value: string, before: readonly string[] | undefined) => [...(before ?? []), value]),
    new Option('--no-wait', 'do not wait until it is up'),
    durationOption('--timeout <TIME>', 'how long to wait (then exit 5)', '2m'),
    new Option('--attach', 'then print its log until Ctrl-C'),
  ],
  examples: [
    ['keepwell run -- node server.js', 'from now on it runs'],
    ['keepwell run --name web -e PORT=8080 -- npm start', 'with a name and a variable'],
    ['keepwell run --restart never -- ./import.sh', 'once; "keepwell why" explains it if it fails'],
    ['keepwell rm web', 'ends it and forgets it'],
  ],
  handler: async (call, words, options) => {
    const command = words[0] === '--' ? words.slice(1) : words;
    if (command.length === 0) throw usage('Say what to run: "keepwell run -- COMMAND".');
    const name = await keep(call, command, options);
    try {
      const code = await bringUp(call, [name], options);
      call.print(`${name} is kept; "keepwell rm ${name}" ends it and forgets it`);
      return code;
    } catch (error) {
      // The daemon has another configuration, or one of its own: it will never run this.
      const isRefused = error instanceof AppError && ['NO_SUCH_COMPONENT', 'CONFIG_FILES_DIFFER'].includes(error.code);
      if (isRefused) (await import('../../config/kept.ts')).forgetCommand(call.project.home, name);
      throw error;
    }
  },
};

function readName(text: string): string {
  if (NAME_PATTERN.test(text) && !text.includes('..')) return text;
  throw new InvalidArgumentError('Use a-z, 0-9, dot, dash and underscore, at most 63 characters.');
}

/** Written down once nothing is wrong with it. Returns its name. */
async function keep(call: CliCall, command: readonly string[], { name: asked, restart, env = [] }: Options) {
  const { beginAlone, keepCommand, keptText } = await import('../../config/kept.ts');
  const { loadConfig, loadConfigFromTexts } = await import('../../config/load.ts');
  const { startWarnings } = await import('../../drivers/launch-run.ts');
  const { world } = call;
  const isNew = !hasProject(call);
  const project = isNew ? newProject(world.cwd, world.env) : call.project;
  const empty = { sources: [{ path: project.files[0]!, text: 'components: {}' }], kept: [], dotenv: null };
  const before = isNew ? { ...empty, components: [] } : loadConfig({ ...project, env: world.env, cwd: world.cwd });
  const taken = before.components.map((one) => one.name as string);
  if (asked !== undefined && taken.includes(asked)) throw nameTaken(asked);
  const variables = Object.fromEntries(env.map((one) => variable(one, world.env)));
  const kept = (name: string): KeptCommand => {
    return { name, command, cwd: world.cwd, env: variables, ...(restart === undefined ? {} : { restart }) };
  };
  for (let count = 1; ; count++) {
    const name = asked ?? (await freeName(command[0]!, taken, count));
    const text = keptText(kept(name));
    const { components } = loadConfigFromTexts({
      files: before.sources,
      kept: [...before.kept, { path: `${name}.json`, text }],
      dotenv: before.dotenv,
      env: world.env,
      cwd: world.cwd,
    });
    const own = components.filter((one) => one.name === name);
    const [problem] = startWarnings(own, world.env);
    if (problem) throw usage(`Nothing is kept: ${problem.problem}.`);
    if (isNew) {
      (await import('../../base/home-dir.ts')).prepareHome(project);
      beginAlone(project.home);
    }
    if (keepCommand(project.home, name, text)) return name;
    if (asked !== undefined) throw nameTaken(asked);
  }
}

const nameTaken = (name: string): AppError =>
  usage(
    `There is a component "${name}" already. Choose another --name, or remove what "keepwell run" keeps: keepwell rm ${name}`,
  );

function hasProject(call: CliCall): boolean {
  try {
    return call.project.files.length > 0;
  } catch (error) {
    if (error instanceof AppError && error.code === 'CONFIG_NOT_FOUND') return false;
    throw error;
  }
}

function variable(text: string, env: CliCall['world']['env']): readonly [name: string, value: string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  const value = env[text];
  if (value === undefined)
    throw usage(`${text} is not set here, so --env ${text} has no value. Write --env ${text}=value.`);
  return [text, value];
}

/** "node", then "node-2". `count`: how often somebody else was quicker. */
async function freeName(program: string, taken: readonly string[], count: number): Promise<string> {
  const { nameFrom } = await import('../../config/readers.ts');
  const plain = nameFrom(basename(program)) || 'command';
  const names = [plain, ...Array.from({ length: taken.length + count }, (_, index) => `${plain}-${index + 2}`)];
  return names.filter((name) => !taken.includes(name))[count - 1]!;
}
