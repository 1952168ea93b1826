/** keepwell init: a first configuration, from what lies in the folder. */
import { basename, relative } from 'node:path';
import { Option } from 'commander';
import { AppError } from '../../base/pure/errors.ts';
import type { Suggested } from '../../config/starter/starter.ts';
import type { Session } from '../call.ts';
import type { Definition } from '../define.ts';
import { findTarget, inTheWay, openFolder, type Target, write } from '../init/target.ts';
import { sanitise } from '../print/sanitise.ts';

interface Options {
  readonly force?: true;
  readonly stdout?: true;
}

export const init: Definition<Options> = {
  usage: 'init',
  group: 'Configure:',
  summary: 'write a first keepwell.yaml from what is in this folder',
  description:
    'Looks for a Procfile, scripts in package.json, a Python project and a Compose file, and says what it made of them. An existing file is not overwritten without --force. Use -f FILE to write another file.',
  options: [
    new Option('--force', 'replace an existing file'),
    new Option('--stdout', 'print the file instead of writing it'),
  ],
  examples: [
    ['keepwell init', 'write keepwell.yaml here'],
    ['keepwell init --stdout', 'only print what it would write'],
    ['keepwell init && keepwell up', 'write it and start everything'],
  ],
  handler: async (session, _args, { force = false, stdout = false }) => {
    const target = findTarget(session.world.cwd, session.files);
    const blocked = inTheWay(target);
    if (!stdout && blocked !== null && (!force || blocked !== target.path)) throw refusal(blocked, target);
    const { suggest } = await import('../../config/starter/starter.ts');
    const suggested = suggest(openFolder(target.folder));
    await prove(suggested, target);
    if (!stdout) write(target, suggested.text, force);
    tell(session, suggested, target, stdout ? 'printed' : blocked === null ? 'written' : 'replaced');
    return 0;
  },
};

/** With --force only the file itself is replaced; one of another name is somebody's decision. */
function refusal(file: string, { path }: Target): AppError {
  if (file === path) return new AppError('CONFIG_EXISTS', { file });
  const problem = `${file} is there already, and ${basename(path)} would be read instead of it. Remove it first, or use it.`;
  return new AppError('USAGE', { problem });
}

/** A file that we write ourselves and then refuse would be a bad beginning: better to say that we made a mistake. */
async function prove({ text }: Suggested, { path }: Target): Promise<void> {
  const { loadConfigFromTexts } = await import('../../config/load.ts');
  try {
    loadConfigFromTexts({ files: [{ path, text }], dotenv: null, env: {} });
  } catch (error) {
    const problem = `the configuration made by init is not valid: ${(error as Error).message}`;
    throw new AppError('INTERNAL', { problem }, { cause: error });
  }
}

function tell(
  session: Session,
  { text, components, found }: Suggested,
  { path, above }: Target,
  outcome: 'printed' | 'written' | 'replaced',
): void {
  session.printJson({ schema_version: 1, file: path, outcome, components, found, text });
  const say =
    outcome === 'printed' ? (line: string) => session.note(line) : (line: string) => session.print(sanitise(line));
  if (outcome === 'printed' && !session.json) session.world.out.write(text);
  for (const { file, what } of found) say(`${file}: ${what}`);
  if (found.length === 0) say('nothing was found here that says what to run, so there is an example in it');
  if (outcome !== 'printed') {
    const shown = relative(session.world.cwd, path);
    say(`${outcome === 'replaced' ? 'replaced' : 'wrote'} ${shown}: ${counted(components)}`);
    say('next: look at it, then "keepwell up"');
  }
  if (above !== null) session.note(`note: ${above} is another project; from this folder on, commands mean the new one`);
}

const counted = (names: readonly string[]): string =>
  `${names.length === 1 ? '1 component' : `${names.length} components`} (${names.join(', ')})`;
