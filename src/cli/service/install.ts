/** Writes the unit, and hands the project over to it where systemd runs. There is never a second daemon, and never none for long. */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ifRunning } from '../../api/client/client.ts';
import type { DaemonFile } from '../../base/home.ts';
import { AppError } from '../../base/pure/errors.ts';
import type { ResolvedConfig } from '../../config/load.ts';
import { awaitDaemon, daemonIsThere } from '../await-daemon.ts';
import type { Session } from '../call.ts';
import { daemonIdentity, untilGone } from '../daemon-end.ts';
import { orInterrupted } from '../interrupt.ts';
import { environmentWarnings, pathWarnings, unitFacts } from './facts.ts';
import { accountName, installedAt, scopeFor, unitDir } from './place.ts';
import { untilServed } from './served.ts';
import { createSystemctl, type Systemctl } from './systemctl.ts';
import { type Scope, type UnitFacts, unitText } from './unit.ts';

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
  session: Session,
  config: ResolvedConfig,
  options: { readonly scope: Scope | null; readonly printOnly: boolean },
): Promise<InstallView> {
  const { world } = session;
  const scope = scopeFor(world, options.scope);
  const facts = unitFacts(session, config, scope);
  const { unit } = facts;
  const path = join(unitDir(world, scope), unit);
  const warnings = [...pathWarnings(facts), ...(await environmentWarnings(session, config))];
  const view = { schema_version: 1, action: 'install', unit, scope, path, text: unitText(facts) } as const;
  const systemctl = createSystemctl(scope, world.env);
  const commands = [systemctl.line('daemon-reload'), systemctl.line('enable', '--now', unit)];
  if (options.printOnly) return { ...view, written: false, started: false, commands, warnings };

  refuse(session, facts);
  await awaitDaemon(session);
  const isNew = installedAt(session, config.name, scope)?.text !== view.text;
  if (isNew) write(path, view.text);
  if (!(await systemctl.isRunning())) {
    const taken = daemonIsThere(session)
      ? ['A daemon runs already. Where systemd runs, "keepwell service install" hands over to the service.']
      : [];
    return { ...view, written: true, started: false, commands, warnings: [...warnings, ...taken] };
  }
  await systemctl.run('daemon-reload');
  await systemctl.run('enable', unit);
  if (isNew || !(await isServed(session, unit))) await handOver(session, facts, systemctl);
  return { ...view, written: true, started: true, commands: [], warnings: [...warnings, ...lingering(session, scope)] };
}

/** Everything that stands in the way, before anything is touched. */
function refuse(session: Session, { scope, project }: UnitFacts): void {
  if (scope === 'system' && session.world.uid !== 0) throw new AppError('SERVICE_NEEDS_ROOT');
  const there = installedAt(session, project, scope);
  if (there && !there.isOurs) throw new AppError('SERVICE_OF_ANOTHER', { file: there.path, owner: there.owner });
  const other: Scope = scope === 'user' ? 'system' : 'user';
  const elsewhere = hasPlace(session, other) ? installedAt(session, project, other) : null;
  if (elsewhere?.isOurs) throw new AppError('SERVICE_ELSEWHERE', { file: elsewhere.path, scope: other });
  const daemon = daemonIdentity(session);
  if (daemon?.hosted && daemonIsThere(session)) {
    throw new AppError('DAEMON_ALREADY_RUNNING', { holder: `pid ${daemon.pid}, a program that uses the library` });
  }
}

const hasPlace = ({ world: { env } }: Session, scope: Scope): boolean =>
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
const isServed = async (session: Session, unit: string): Promise<boolean> =>
  daemonIdentity(session)?.service === unit && (await ifRunning(session.client.version())) === session.world.version;

/** Components go on: a daemon that is there lets go of them, and the one that systemd starts adopts them. */
async function handOver(session: Session, { unit }: UnitFacts, systemctl: Systemctl): Promise<void> {
  const before = daemonIdentity(session);
  const isThere = (await ifRunning(session.client.version())) !== null;
  if (isThere) {
    session.note('handing over to the service (components go on)');
    await session.client.handover();
    await untilGone(session, before, { timeoutMs: HANDOVER_MS, pending: () => 'the old daemon is still there' });
  }
  try {
    await systemctl.run('start', unit); // nothing to do where it was the service's own daemon: systemd brings that back
    await untilServed(session, unit);
  } catch (error) {
    if (isThere && before) await comeBack(session, before);
    throw error;
  }
}

/** The service did not come up: what ran without it before must not stay without a daemon. */
async function comeBack(session: Session, before: DaemonFile): Promise<void> {
  if (before.guardian_pid === null) return;
  session.note('the service did not start; starting the daemon as it was before');
  const { project, world } = session;
  const { launchDaemon } = await import('../../daemon/launch.ts');
  await orInterrupted(launchDaemon({ project, env: world.env, entry: world.entry }), session.signal);
}

/** A user's services end with the last session, unless somebody said otherwise. */
function lingering({ world }: Session, scope: Scope): readonly string[] {
  const name = accountName(world.uid) ?? String(world.uid);
  if (scope === 'system' || existsSync(`/var/lib/systemd/linger/${name}`)) return [];
  return [`It starts when ${name} logs in and ends at the last logout. To keep it up: loginctl enable-linger ${name}`];
}
