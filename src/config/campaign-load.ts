/** A campaign file in, a complete campaign out. The only file of this folder that touches the disk. */
import { dirname, join, resolve } from 'node:path';
import type { CampaignSpec } from '../campaigns/spec.ts';
import { readDocument } from './document.ts';
import { interpolate } from './interpolate.ts';
import { DIRECTORY, MISSING, readText, type Source, type Variables, variablesFrom, workingDirectory } from './load.ts';
import { ConfigError, type ConfigKind, Problems } from './problem.ts';
import { resolveCampaign } from './campaign-resolve.ts';

const CAMPAIGN: ConfigKind = { what: 'campaign', check: 'keepwell campaign run FILE --dry-run' };

export interface LoadedCampaign {
  readonly spec: CampaignSpec;
  readonly source: Source;
}

interface Surroundings {
  readonly env: Variables;
  /** Only to shorten file names in messages. */
  readonly cwd?: string | null;
}

/** `file`: absolute. Throws a ConfigError with every problem at once. */
export function loadCampaign(file: string, around: Surroundings): LoadedCampaign {
  const read = readText(file);
  if ('text' in read) return loadCampaignFromText({ path: file, text: read.text }, around);
  const problems = new Problems();
  problems.add({ file, line: 1, column: 1 }, [], read.problem);
  throw new ConfigError(problems.sorted([file]), around.cwd ?? workingDirectory(), CAMPAIGN);
}

/** The same from a text that was kept. `.env` beside the file, and variables, are those of now. */
export function loadCampaignFromText(source: Source, { env, cwd = workingDirectory() }: Surroundings): LoadedCampaign {
  const baseDir = dirname(source.path);
  const problems = new Problems();
  const failed = () => new ConfigError(problems.sorted([source.path]), cwd, CAMPAIGN);
  const root = readDocument(source.path, source.text, problems);
  if (!root) throw failed();
  const dotenv = readText(join(baseDir, '.env'));
  const isUnreadable = 'problem' in dotenv && ![MISSING, DIRECTORY].includes(dotenv.problem);
  if (isUnreadable) problems.add({ file: join(baseDir, '.env'), line: 1, column: 1 }, [], dotenv.problem);
  const variables = variablesFrom(env, 'text' in dotenv ? dotenv.text : '');
  const tree = interpolate(root, variables.lookup, problems);
  for (const { line, column, message, hint } of variables.problems())
    problems.add({ file: join(baseDir, '.env'), line, column }, [], message, hint);
  if (variables.problems().length > 0 || isUnreadable) throw failed();
  const spec = resolveCampaign(tree, { absolute: (path) => resolve(baseDir, path), folderOf: dirname }, problems);
  if (!spec) throw failed();
  return { spec, source };
}
