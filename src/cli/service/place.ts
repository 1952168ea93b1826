/** Where the unit of a project belongs, whose it would be, and what is there now. */
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '../../base/pure/errors.ts';
import { type CliCall, usage } from '../call.ts';
import { filesOf, type Scope } from './unit.ts';

export const unitName = (project: string): string => `keepwell-${project}.service`;

/** For root the whole machine, for others their own account. */
export const scopeFor = ({ uid }: CliCall['world'], given: Scope | null): Scope =>
  given ?? (uid === 0 ? 'system' : 'user');

export function unitDir({ env }: CliCall['world'], scope: Scope): string {
  if (scope === 'system') return '/etc/systemd/system';
  const config = env['XDG_CONFIG_HOME'] || (env['HOME'] && join(env['HOME'], '.config'));
  if (!config) throw usage('Set HOME or XDG_CONFIG_HOME: without them there is no place for a service of your own.');
  return join(config, 'systemd', 'user');
}

export interface Installed {
  readonly path: string;
  readonly scope: Scope;
  readonly text: string;
  /** Of this project. */
  readonly isOurs: boolean;
  /** "somebody wrote it by hand", "it is for /srv/other/keepwell.yaml" */
  readonly owner: string;
}

/** What stands at the place of the unit; null: nothing. */
export function installedAt(call: CliCall, project: string, scope: Scope): Installed | null {
  const path = join(unitDir(call.world, scope), unitName(project));
  try {
    const text = readFileSync(path, 'utf8');
    const files = filesOf(text);
    const isOurs = files !== null && dirname(files[0] ?? '') === dirname(call.project.files[0]!);
    const owner = files === null ? '"keepwell service install" did not write it' : `it is for ${files.join(', ')}`;
    return { path, scope, text, isOurs, owner };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new AppError('FILE_NOT_READ', { file: path, problem: (error as Error).message }, { cause: error });
  }
}

/** The unit of this project, in whichever scope; what is not ours is left out. */
export function findInstalled(call: CliCall, project: string, given: Scope | null): Installed | null {
  const scopes: readonly Scope[] = given === null ? ['user', 'system'] : [given];
  for (const scope of scopes) {
    if (scope === 'user' && !call.world.env['HOME'] && !call.world.env['XDG_CONFIG_HOME']) continue;
    try {
      const found = installedAt(call, project, scope);
      if (found?.isOurs) return found;
    } catch (error) {
      // Somebody else's folder (HOME after `su`): a service of theirs is none of ours.
      if (given !== null || !isForbidden(error)) throw error;
    }
  }
  return null;
}

const isForbidden = (error: unknown): boolean =>
  error instanceof AppError && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'EACCES';

/** Whose project it is: the state directory must be theirs, and what their files say must not run as root. Null: root's. */
export function ownerOf(call: CliCall): string | null {
  const { home, files } = call.project;
  const { uid } = statSync(home, { throwIfNoEntry: false }) ?? statSync(dirname(files[0]!));
  return uid === 0 ? null : (accountName(uid) ?? String(uid));
}

export function accountName(uid: number): string | null {
  try {
    const rows = readFileSync('/etc/passwd', 'utf8').split('\n');
    return rows.map((row) => row.split(':')).find((cells) => cells[2] === String(uid))?.[0] ?? null;
  } catch {
    return null;
  }
}
