/** keepwell rm: ends and forgets what `keepwell run` keeps. */
import { basename } from 'node:path';
import { ifRunning } from '../../api/client/client.ts';
import { awaitDaemon } from '../await-daemon.ts';
import { type CliCall, usage } from '../call.ts';
import { type Definition, durationOption } from '../define.ts';
import { matches, resolveTargets } from '../targets.ts';
import { untilDone } from './reload.ts';

interface Options {
  readonly timeout: number;
}

export const rm: Definition<Options> = {
  usage: 'rm <NAME...>',
  onlyHere: 'Log in there (ssh) and run it in the folder of the project.',
  group: 'Start, stop, run:',
  summary: 'end and forget what "keepwell run" keeps',
  description:
    'A component of the configuration is removed by taking it out there, then "keepwell reload". The history and the log of what was removed stay.',
  options: [durationOption('--timeout <TIME>', 'how long to wait for its end (then exit 5)', '2m')],
  examples: [
    ['keepwell rm web', 'one of them'],
    ['keepwell rm "worker-*"', 'by pattern'],
  ],
  handler: async (call, patterns, { timeout }) => {
    const { home } = call.project;
    const { forgetCommand, keptFiles } = await import('../../config/kept.ts');
    const kept = keptFiles(home).map((file) => basename(file, '.json'));
    await refuseConfigured(call, patterns, kept);
    const names = resolveTargets(patterns, kept);
    for (const name of names) forgetCommand(home, name);
    await awaitDaemon(call);
    const before = await ifRunning(call.client.status());
    if (before === null) call.note('the daemon is not running; the next one ends what is left of it');
    else {
      const reloaded = await call.client.reload({ dryRun: false });
      await untilDone(call, reloaded, before.components, timeout);
    }
    call.printJson({ schema_version: 1, removed: names });
    call.print(`removed: ${names.join(', ')}`);
    return 0;
  },
};

/** What stands in a file is not taken out of it by us. */
async function refuseConfigured(call: CliCall, patterns: readonly string[], kept: readonly string[]): Promise<void> {
  const asked = patterns.find((pattern) => !kept.some((name) => matches(pattern, name)));
  if (asked === undefined) return;
  const { files } = call.project;
  const { componentNames } = await import('../../config/names.ts');
  const { readText } = await import('../../config/load.ts');
  const texts = files.flatMap((path) => {
    const read = readText(path);
    return 'text' in read ? [{ path, text: read.text }] : [];
  });
  if (componentNames(texts).includes(asked))
    throw usage(`"${asked}" is in ${files.join(', ')}: take it out there, then run "keepwell reload".`);
}
