/** The three things that `keepwell service` can do, behind one door that is loaded when it is needed. */
import { AppError } from '../../base/pure/errors.ts';
import type { Session } from '../call.ts';
import { sanitise } from '../print/sanitise.ts';
import { type InstallView, install } from './install.ts';
import { serviceLines, serviceStatus } from './status.ts';
import { type UninstallView, uninstall } from './uninstall.ts';
import type { Scope } from './unit.ts';

export interface ServiceRequest {
  readonly action: 'install' | 'uninstall' | 'status';
  /** Null: whichever is meant by who asks, or is installed. */
  readonly scope: Scope | null;
  readonly printOnly: boolean;
}

export async function service(session: Session, { action, scope, printOnly }: ServiceRequest): Promise<void> {
  const { world, project } = session;
  if (world.platform !== 'linux') throw new AppError('PLATFORM_UNSUPPORTED', { platform: world.platform });
  const { loadConfig } = await import('../../config/load.ts');
  const config = loadConfig({ files: project.files, env: world.env, cwd: world.cwd });
  if (action === 'install') tellInstalled(session, await install(session, config, { scope, printOnly }));
  else if (action === 'uninstall') tellUninstalled(session, await uninstall(session, config.name, scope));
  else {
    const view = await serviceStatus(session, config, scope);
    session.printJson(view);
    for (const line of serviceLines(view)) session.print(sanitise(line));
  }
}

function tellInstalled(session: Session, view: InstallView): void {
  session.printJson(view);
  for (const warning of view.warnings) session.note(`warning: ${warning}`);
  if (!view.written) {
    if (!session.json) session.world.out.write(view.text);
    return;
  }
  session.print(`wrote ${sanitise(view.path)}`);
  if (view.started) session.print(`${view.unit} is enabled and runs; it starts with ${STARTS[view.scope]}`);
  else tellCommands(session, view.commands);
}

const STARTS: Readonly<Record<Scope, string>> = { system: 'the machine', user: 'the login' };

function tellUninstalled(session: Session, view: UninstallView): void {
  session.printJson(view);
  session.print(view.path === null ? `${view.unit} is not installed` : `removed ${sanitise(view.path)}`);
  if (view.path === null) return;
  if (view.commands.length > 0) tellCommands(session, view.commands);
  else session.print('its daemon and components are stopped; "keepwell up" runs them without a service');
}

function tellCommands(session: Session, commands: readonly string[]): void {
  session.print('systemd is not running here, so that nothing was started or stopped. Where it runs:');
  for (const command of commands) session.print(`  ${command}`);
}
