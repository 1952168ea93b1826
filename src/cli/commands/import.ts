/** keepwell import: the file of another process manager as a keepwell.yaml. */
import { relative } from 'node:path';
import { Option } from 'commander';
import type { Imported, ImportFormat } from '../../config/import/import.ts';
import { type CliCall, usage } from '../call.ts';
import { chooseAction, type Definition } from '../define.ts';
import { sanitise } from '../print/sanitise.ts';
import { findTarget, inTheWay, refusal, type Target, write } from './init.ts';

interface Options {
  readonly force?: true;
  readonly stdout?: true;
  readonly run?: true;
}

/** As in src/config/import, which is loaded only when something is imported. */
const FORMATS: readonly ImportFormat[] = ['pm2', 'supervisord', 'systemd', 'process-compose', 'procfile', 'compose'];
/** One unit is a file by itself. */
const TAKES_SEVERAL: readonly ImportFormat[] = ['systemd'];

export const importFrom: Definition<Options> = {
  usage: 'import <FORMAT> [FILE...]',
  onlyHere: 'Log in there (ssh) and run it in the folder of the project: it reads and writes files.',
  asksNobody: true,
  group: 'Configure:',
  summary: 'write a keepwell.yaml from the file of PM2, supervisord, systemd, process-compose, a Procfile or Compose',
  description:
    `FORMAT is ${FORMATS.join(', ')}. Without FILE the usual one in this folder is read; - is standard input. ` +
    'What could not be carried over is listed with its line, on stderr and at the end of the new file. Nothing is started and nothing of the other tool is touched. ' +
    'A JavaScript file of PM2 is a program: it is run only with --run, in a process of its own with ten seconds; dump.pm2 and the output of "pm2 jlist" are read without running anything. ' +
    'An existing file is not overwritten without --force. Use -f FILE to write another file.',
  options: [
    new Option('--force', 'replace an existing file'),
    new Option('--stdout', 'print the file instead of writing it'),
    new Option('--run', 'pm2: run a JavaScript file to know what it says'),
  ],
  examples: [
    ['keepwell import pm2 ecosystem.config.js --run', 'an ecosystem file'],
    ['pm2 jlist | keepwell import pm2 -', 'what PM2 runs now'],
    ['keepwell import supervisord /etc/supervisor/supervisord.conf', 'with the files that it includes'],
    ['keepwell import systemd /etc/systemd/system/shop-*.service', 'several units together'],
    ['keepwell import process-compose --stdout', 'only print what it would write'],
    ['keepwell import procfile -o json | jq .lost', 'what is lost, for a script'],
  ],
  handler: async (call, [word = '', ...files], { force = false, stdout = false, run = false }) => {
    const format = chooseAction('import', FORMATS, word);
    if (files.length > 1 && !TAKES_SEVERAL.includes(format)) throw usage(`"import ${format}" takes one FILE.`);
    if (run && format !== 'pm2') throw usage('--run is for PM2 only: the files of the others are not programs.');
    if (files.includes('-') && call.world.inIsTty)
      throw usage('"-" reads standard input, and nothing is piped into it.');
    const target = findTarget(call.world.cwd, call.files);
    const blocked = inTheWay(target);
    if (!stdout && blocked !== null && (!force || blocked !== target.path)) throw refusal(blocked, target);
    const imported = await read(call, format, files, target, run);
    if (!stdout) write(target, imported.text, force);
    tell(call, imported, target, stdout ? 'printed' : blocked === null ? 'written' : 'replaced');
    return 0;
  },
};

async function read(
  { world }: CliCall,
  format: ImportFormat,
  files: readonly string[],
  { folder }: Target,
  run: boolean,
): Promise<Imported> {
  const { importFiles } = await import('../../config/import/files.ts');
  const { cwd, env } = world;
  const onRun = (file: string) => world.err.write(`running ${sanitise(file)} to know what it says\n`);
  return await importFiles({ format, files, cwd, target: folder, env, run, onRun });
}

function tell(
  call: CliCall,
  { text, components, lost }: Imported,
  { path, above }: Target,
  outcome: 'printed' | 'written' | 'replaced',
): void {
  call.printJson({ schema_version: 1, file: path, outcome, components, lost, text });
  const say = outcome === 'printed' ? (line: string) => call.note(line) : (line: string) => call.print(sanitise(line));
  if (outcome === 'printed' && !call.json) call.world.out.write(text);
  for (const { file, line, component, what, message } of lost)
    call.note(`lost: ${[`${file}:${line}`, ...(component === null ? [] : [component]), what, message].join(': ')}`);
  if (outcome !== 'printed') {
    const count = components.length === 1 ? '1 component' : `${components.length} components`;
    say(
      `${outcome === 'replaced' ? 'replaced' : 'wrote'} ${relative(call.world.cwd, path)}: ${count} (${components.join(', ')})`,
    );
    say('next: look at it, stop what the other tool runs, then "keepwell up"');
  }
  if (above !== null) call.note(`note: ${above} is another project; from this folder on, commands mean the new one`);
}
