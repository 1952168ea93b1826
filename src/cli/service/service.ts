/** The three things that `keepwell service` can do, behind one door that is loaded when it is needed. */

import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ifRunning } from '../../api/client/client.ts';
import type { DaemonFile } from '../../base/home.ts';
import { AppError } from '../../base/pure/errors.ts';
import type { ResolvedConfig } from '../../config/load.ts';
import { awaitDaemon, daemonIsThere } from '../await-daemon.ts';
import type { CliCall } from '../call.ts';
import { daemonIdentity, untilGone } from '../daemon-end.ts';
import { orInterrupted } from '../interrupt.ts';
import { sanitise } from '../print/sanitise.ts';
import { environmentWarnings, pathWarnings, unitFacts } from './facts.ts';
import { accountName, findInstalled, installedAt, scopeFor, unitDir, unitName } from './place.ts';
import { untilServed } from './served.ts';
import { createSystemctl, type Systemctl } from './systemctl.ts';
import { type Difference, differences, type Scope, type UnitFacts, unitText } from './unit.ts';

export interface ServiceRequest {
  readonly action: 'install' | 'uninstall' | 'status';
  /** Null: whichever is meant by who asks, or is installed. */
  readonly scope: Scope | null;
  readonly printOnly: boolean;
}

export async function service(call: CliCall, { action, scope, printOnly }: ServiceRequest): Promise<void> {
  const { world, project } = call;
  if (world.platform !== 'linux') throw new AppError('PLATFORM_UNSUPPORTED', { platform: world.platform });
  const { loadConfig } = await import('../../config/load.ts');
  const config = loadConfig({ ...project, env: world.env, cwd: world.cwd });
  if (action === 'install') tellInstalled(call, await install(call, config, { scope, printOnly }));
  else if (action === 'uninstall') tellUninstalled(call, await uninstall(call, config.name, scope));
  else {
    const view = await serviceStatus(call, config, scope);
    call.printJson(view);
    for (const line of serviceLines(view)) call.print(sanitise(line));
  }
}

function tellInstalled(call: CliCall, view: InstallView): void {
  call.printJson(view);
  for (const warning of view.warnings) call.note(`warning: ${warning}`);
  if (!view.written) {
    if (!call.json) call.world.out.write(view.text);
    return;
  }
  call.print(`wrote ${sanitise(view.path)}`);
  if (view.started) call.print(`${view.unit} is enabled and runs; it starts with ${STARTS[view.scope]}`);
  else tellCommands(call, view.commands);
}

const STARTS: Readonly<Record<Scope, string>> = { system: 'the machine', user: 'the login' };

function tellUninstalled(call: CliCall, view: UninstallView): void {
  call.printJson(view);
  call.print(view.path === null ? `${view.unit} is not installed` : `removed ${sanitise(view.path)}`);
  if (view.path === null) return;
  if (view.commands.length > 0) tellCommands(call, view.commands);
  else call.print('its daemon and components are stopped; "keepwell up" runs them without a service');
}

function tellCommands(call: CliCall, commands: readonly string[]): void {
  call.print('systemd is not running here, so that nothing was started or stopped. Where it runs:');
  for (const command of commands) call.print(`  ${command}`);
}

// Writes the unit, and hands the project over to it where systemd runs. There is never a second daemon, and never none for long.

export interface InstallView {
  readonly schema_version: 1;
  readonly action: 'install';
  readonly unit: string;
  readonly scope: Scope;
  readonly path: string;
  readonly text: string;
  /** False: this was only printed. */
  readonly written: boolean;
  /** It is enabled, and its daemon answers. */
  readonly started: boolean;
  /** What is left to do by hand, in this order. */
  readonly commands: readonly string[];
  readonly warnings: readonly string[];
}

const HANDOVER_MS = 30_000;
const UNIT_MODE = 0o644;

export async function install(
  call: CliCall,
  config: ResolvedConfig,
  options: { readonly scope: Scope | null; readonly printOnly: boolean },
): Promise<InstallView> {
  const { world } = call;
  const scope = scopeFor(world, options.scope);
  const facts = unitFacts(call, config, scope);
  const { unit } = facts;
  const path = join(unitDir(world, scope), unit);
  const warnings = [...pathWarnings(facts), ...(await environmentWarnings(call, config))];
  const view = { schema_version: 1, action: 'install', unit, scope, path, text: unitText(facts) } as const;
  const systemctl = createSystemctl(scope, world.env);
  const commands = [systemctl.line('daemon-reload'), systemctl.line('enable', '--now', unit)];
  if (options.printOnly) return { ...view, written: false, started: false, commands, warnings };

  refuse(call, facts);
  await awaitDaemon(call);
  const isNew = installedAt(call, config.name, scope)?.text !== view.text;
  if (isNew) write(path, view.text);
  if (!(await systemctl.isRunning())) {
    const taken = daemonIsThere(call)
      ? ['A daemon runs already. Where systemd runs, "keepwell service install" hands over to the service.']
      : [];
    return { ...view, written: true, started: false, commands, warnings: [...warnings, ...taken] };
  }
  await systemctl.run('daemon-reload');
  await systemctl.run('enable', unit);
  if (isNew || !(await isServed(call, unit))) await handOver(call, facts, systemctl);
  return { ...view, written: true, started: true, commands: [], warnings: [...warnings, ...lingering(call, scope)] };
}

/** Everything that stands in the way, before anything is touched. */
function refuse(call: CliCall, { scope, project }: UnitFacts): void {
  if (scope === 'system' && call.world.uid !== 0) throw new AppError('SERVICE_NEEDS_ROOT');
  const there = installedAt(call, project, scope);
  if (there && !there.isOurs) throw new AppError('SERVICE_OF_ANOTHER', { file: there.path, owner: there.owner });
  const other: Scope = scope === 'user' ? 'system' : 'user';
  const elsewhere = hasPlace(call, other) ? installedAt(call, project, other) : null;
  if (elsewhere?.isOurs) throw new AppError('SERVICE_ELSEWHERE', { file: elsewhere.path, scope: other });
  const daemon = daemonIdentity(call);
  if (daemon?.hosted && daemonIsThere(call)) {
    throw new AppError('DAEMON_ALREADY_RUNNING', { holder: `pid ${daemon.pid}, a program that uses the library` });
  }
}

const hasPlace = ({ world: { env } }: CliCall, scope: Scope): boolean =>
  scope === 'system' || Boolean(env['XDG_CONFIG_HOME'] || env['HOME']);

/** The old text or the new one, never half of it. */
function write(path: string, text: string): void {
  const temporary = join(dirname(path), `.keepwell-${process.pid}.tmp`);
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(temporary, text, { mode: UNIT_MODE, flush: true });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new AppError('FILE_NOT_WRITTEN', { file: path, problem: (error as Error).message }, { cause: error });
  }
}

/** The daemon is the service's own already, and of this version. */
const isServed = async (call: CliCall, unit: string): Promise<boolean> =>
  daemonIdentity(call)?.service === unit && (await ifRunning(call.client.version())) === call.world.version;

/** Components go on: a daemon that is there lets go of them, and the one that systemd starts adopts them. */
async function handOver(call: CliCall, { unit }: UnitFacts, systemctl: Systemctl): Promise<void> {
  const before = daemonIdentity(call);
  const isThere = (await ifRunning(call.client.version())) !== null;
  if (isThere) {
    call.note('handing over to the service (components go on)');
    await call.client.handover();
    await untilGone(call, before, { timeoutMs: HANDOVER_MS, pending: () => 'the old daemon is still there' });
  }
  try {
    await systemctl.run('start', unit); // nothing to do where it was the service's own daemon: systemd brings that back
    await untilServed(call, unit);
  } catch (error) {
    if (isThere && before) await comeBack(call, before);
    throw error;
  }
}

/** The service did not come up: what ran without it before must not stay without a daemon. */
async function comeBack(call: CliCall, before: DaemonFile): Promise<void> {
  if (before.guardian_pid === null) return;
  call.note('the service did not start; starting the daemon as it was before');
  const { project, world } = call;
  const { launchDaemon } = await import('../../daemon/launch.ts');
  await orInterrupted(launchDaemon({ project, env: world.env, entry: world.entry }), call.signal);
}

/** A user's services end with the last session, unless somebody said otherwise. */
function lingering({ world }: CliCall, scope: Scope): readonly string[] {
  const name = accountName(world.uid) ?? String(world.uid);
  if (scope === 'system' || existsSync(`/var/lib/systemd/linger/${name}`)) return [];
  return [`It starts when ${name} logs in and ends at the last logout. To keep it up: loginctl enable-linger ${name}`];
}

// Whether the project is a service, how that is, and whether its unit still fits.

export interface ServiceView {
  readonly schema_version: 1;
  readonly unit: string;
  readonly installed: boolean;
  readonly scope: Scope | null;
  readonly path: string | null;
  /** systemd's words: "enabled", "active"; null: not installed, or systemd is not running here. */
  readonly enabled: string | null;
  readonly active: string | null;
  /** A unit written now would say the same. */
  readonly fits: boolean | null;
  readonly differences: readonly {
    readonly key: string;
    readonly is: string | null;
    readonly should_be: string | null;
  }[];
  /** Who runs the daemon that is there now. */
  readonly daemon: 'service' | 'guardian' | 'program' | 'foreground' | null;
}

export async function serviceStatus(call: CliCall, config: ResolvedConfig, given: Scope | null): Promise<ServiceView> {
  const unit = unitName(config.name);
  const daemon = daemonKind(call, unit);
  const installed = findInstalled(call, config.name, given);
  const none = {
    schema_version: 1,
    unit,
    installed: false,
    scope: null,
    path: null,
    enabled: null,
    active: null,
  } as const;
  if (installed === null) return { ...none, fits: null, differences: [], daemon };
  const { scope, path, text } = installed;
  const systemctl = createSystemctl(scope, call.world.env);
  const isRunning = await systemctl.isRunning();
  const different = differences(text, unitText(unitFacts(call, config, scope)));
  return {
    ...{ schema_version: 1, unit, installed: true, scope, path },
    enabled: isRunning ? await systemctl.ask('is-enabled', unit) : null,
    active: isRunning ? await systemctl.ask('is-active', unit) : null,
    fits: different.length === 0,
    differences: different.map(({ key, is, shouldBe }: Difference) => ({ key, is, should_be: shouldBe })),
    daemon,
  };
}

function daemonKind(call: CliCall, unit: string): ServiceView['daemon'] {
  const daemon = daemonIdentity(call);
  if (daemon === null || !daemonIsThere(call)) return null;
  if (daemon.hosted) return 'program';
  if (daemon.guardian_pid !== null) return 'guardian';
  return daemon.service === unit ? 'service' : 'foreground';
}

const DAEMONS: Readonly<Record<NonNullable<ServiceView['daemon']>, string>> = {
  service: 'run by this service',
  guardian: 'run by a guardian, without systemd ("keepwell service install" hands over)',
  program: 'part of a program that uses the library',
  foreground: 'run in the foreground by somebody else',
};

/** For people. */
export function serviceLines(view: ServiceView): readonly string[] {
  const daemon = `daemon:    ${view.daemon === null ? 'not running' : DAEMONS[view.daemon]}`;
  if (!view.installed) return [`${view.unit} is not installed`, daemon];
  const unknown = 'unknown (systemd is not running here)';
  return [
    `unit:      ${view.path} (${view.scope})`,
    `enabled:   ${view.enabled ?? unknown}`,
    `active:    ${view.active ?? unknown}`,
    daemon,
    `fits:      ${view.fits ? 'yes' : 'no; "keepwell service install" would write:'}`,
    ...view.differences.flatMap(({ key, is, should_be }) => [
      `  ${key}`,
      `    is      ${is ?? '(not there)'}`,
      `    becomes ${should_be ?? '(not there)'}`,
    ]),
  ];
}

// Stops the service, disables it, and removes its unit. What is wanted of the components is not changed.

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

export async function uninstall(call: CliCall, project: string, given: Scope | null): Promise<UninstallView> {
  const unit = unitName(project);
  const installed = findInstalled(call, project, given);
  const view = { schema_version: 1, action: 'uninstall', unit } as const;
  if (installed === null) {
    const there = installedAt(call, project, scopeFor(call.world, given));
    if (there) throw new AppError('SERVICE_OF_ANOTHER', { file: there.path, owner: there.owner });
    return { ...view, path: null, scope: null, commands: [] };
  }
  const { scope, path } = installed;
  if (scope === 'system' && call.world.uid !== 0) throw new AppError('SERVICE_NEEDS_ROOT');
  const systemctl = createSystemctl(scope, call.world.env);
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
