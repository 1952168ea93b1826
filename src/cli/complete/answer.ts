/** The lines that the completion scripts read: `value`, a tab, a few words about it. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { findProject } from '../../base/home.ts';
import { sanitise } from '../print/sanitise.ts';
import type { World } from '../call.ts';
import { type Candidate, type Wanted, wanted } from './wanted.ts';

/** Instead of candidates: the shell knows better how files are completed. */
export const FILES_LINE = ':files';

/** `words`: everything after the name of the program; the last one is being written and may be empty. */
export async function answer(program: Command, words: readonly string[], world: World): Promise<readonly string[]> {
  const asked = wanted(program, words);
  if (asked.from === 'files') return [FILES_LINE];
  const all = typeof asked.from === 'string' ? await named(asked.from, asked, world) : asked.from;
  return all
    .filter(({ value }) => value.startsWith(asked.partial))
    .map(({ value, what }) => `${asked.prefix}${value}\t${sanitise(what.replaceAll('\n', ' '))}`);
}

/** From the configuration as it is written; nobody is asked and nothing is started. */
async function named(
  from: 'components' | 'checks',
  { files, taken }: Wanted,
  { cwd, env }: World,
): Promise<readonly Candidate[]> {
  const project = findProject({ cwd, env, files });
  const texts = project.files.map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  const { checkNames, componentNames } = await import('../../config/names.ts');
  const [names, what] = from === 'checks' ? [checkNames(texts), 'check'] : [componentNames(texts), 'component'];
  return names.filter((name) => !taken.includes(name)).map((value) => ({ value, what }));
}
