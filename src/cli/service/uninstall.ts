/** Stops the service, disables it, and removes its unit. What is wanted of the components is not changed. */
import { rmSync } from 'node:fs';
import { AppError } from '../../base/pure/errors.ts';
import type { Session } from '../call.ts';
import { findInstalled, installedAt, scopeFor, unitName } from './place.ts';
import { createSystemctl } from './systemctl.ts';
import type { Scope } from './unit.ts';

export interface UninstallView {
  readonly schema_version: 1;
  readonly action: 'uninstall';
  readonly unit: string;
  /** Null: there was none. */
  readonly path: string | null;
  readonly scope: Scope | null;
  /** What is left to do by hand, in this order. */
  readonly commands: readonly string[];
}

export async function uninstall(session: Session, project: string, given: Scope | null): Promise<UninstallView> {
  const unit = unitName(project);
  const installed = findInstalled(session, project, given);
  const view = { schema_version: 1, action: 'uninstall', unit } as const;
  if (installed === null) {
    const there = installedAt(session, project, scopeFor(session.world, given));
    if (there) throw new AppError('SERVICE_OF_ANOTHER', { file: there.path, owner: there.owner });
    return { ...view, path: null, scope: null, commands: [] };
  }
  const { scope, path } = installed;
  if (scope === 'system' && session.world.uid !== 0) throw new AppError('SERVICE_NEEDS_ROOT');
  const systemctl = createSystemctl(scope, session.world.env);
  const isRunning = await systemctl.isRunning();
  if (isRunning) await systemctl.run('disable', '--now', unit);
  remove(path);
  if (isRunning) await systemctl.run('daemon-reload');
  return { ...view, path, scope, commands: isRunning ? [] : [systemctl.line('daemon-reload')] };
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (error) {
    throw new AppError('FILE_NOT_WRITTEN', { file: path, problem: (error as Error).message }, { cause: error });
  }
}
