/** Where campaigns are kept: with the project's state, or, where there is no configuration, beside the campaign file. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { AppError } from '../base/pure/errors.ts';
import { findProject, homePaths, type Project, type Where } from '../base/home.ts';

/** `file`: the campaign file, absolute; null: whatever is kept near the working directory. */
export function campaignProject(where: Where, file: string | null): Project {
  try {
    return findProject(where);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'CONFIG_NOT_FOUND') throw error;
    const { cwd, env } = where;
    const home = env['KEEPWELL_HOME'] ? resolve(cwd, env['KEEPWELL_HOME']) : homeNear(file, cwd);
    if (home === null) throw new AppError('NO_SUCH_CAMPAIGN', { name: 'here', meant: '' }, { cause: error });
    return { home, files: [file ?? join(dirname(home), 'campaign.yaml')] };
  }
}

function homeNear(file: string | null, cwd: string): string | null {
  if (file !== null) return join(dirname(file), '.keepwell');
  for (let dir = resolve(cwd); ; dir = dirname(dir)) {
    const home = join(dir, '.keepwell');
    if (existsSync(homePaths(home).db)) return home;
    if (dir === dirname(dir)) return null;
  }
}
